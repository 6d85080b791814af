"""Distances in the frame of the common ancestor are the distances of the points, in as many digits as there are."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import torch
from exact import algorithm_1, distance
from strategies import random_tree

from wlhn import Tree, TreeEmbedding, diffhypcon, sala, sarkar, sarkar_points
from wlhn.hyperbolic.lengths import edge_lengths
from wlhn.hyperbolic.polar import polar_distance
from wlhn.ops.level import norms


def rows(n: int) -> torch.Tensor:
    return torch.randn(n, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def learned(tree: Tree) -> TreeEmbedding:
    return diffhypcon(tree, rows(len(tree)), 1.1)


def with_lengths(tree: Tree) -> TreeEmbedding:
    return diffhypcon(tree, rows(len(tree)), edge_lengths(norms(rows(len(tree))), 0.7, "log"))


CONSTRUCTIONS = pytest.mark.parametrize(
    "construct", [lambda tree: sarkar(tree, 0.8), lambda tree: sala(tree, 6, 1.3), learned, with_lengths]
)


@CONSTRUCTIONS
@pytest.mark.parametrize("bushy", [0.3, 1.0, 3.0])
def test_all_pairs_are_single_pairs_are_polar_distances(
    construct: Callable[[Tree], TreeEmbedding], bushy: float
) -> None:
    tree = random_tree(40, np.random.default_rng(1), bushy)
    embedding = construct(tree)
    every = np.arange(40)
    at_once, pairs = embedding.all_distances(), embedding.distance(every[:, None], every)
    assert torch.allclose(at_once, pairs, rtol=1e-9, atol=1e-9)
    from_root = polar_distance(embedding.r[:, None], embedding.e[:, None], embedding.r, embedding.e)
    assert torch.allclose(at_once, from_root, rtol=1e-6, atol=1e-5)
    child = np.arange(1, 40)
    assert torch.allclose(embedding.distance(child, tree.parent[child]), embedding.lengths[child], rtol=1e-6)


def test_deep_distances_are_those_of_arbitrary_precision() -> None:
    tree = random_tree(60, np.random.default_rng(2), bushy=0.15)
    ours = sarkar(tree, 2.5).all_distances()
    points = sarkar_points(tree, 2.5, digits=200)
    assert tree.depth[-1] > 15
    with mpmath.workdps(200):
        for a in range(0, 60, 3):
            for b in range(1, 60, 5):
                if a != b:
                    inside = (1 - abs(points[a]) ** 2) * (1 - abs(points[b]) ** 2)
                    exact = mpmath.acosh(1 + 2 * abs(points[a] - points[b]) ** 2 / inside)
                    assert float(ours[a, b]) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("construct", [learned, with_lengths])
def test_learned_distances_are_those_of_arbitrary_precision(construct: Callable[[Tree], TreeEmbedding]) -> None:
    tree = random_tree(40, np.random.default_rng(3), bushy=0.3)
    embedding = construct(tree)
    every = np.arange(40)
    ours = embedding.distance(every[:, None], every)
    with mpmath.workdps(120):
        points = algorithm_1(tree, rows(40), embedding.tau)
        for a in range(0, 40, 2):
            for b in range(1, 40, 3):
                if a != b:
                    assert float(ours[a, b]) == pytest.approx(float(distance(points[a], points[b])), rel=1e-10)


def test_points_lie_at_their_radius() -> None:
    embedding = learned(random_tree(20, np.random.default_rng(5)))
    assert torch.allclose(2 * torch.atanh(embedding.points.norm(dim=-1)), embedding.r)
    assert torch.allclose(2 * embedding.tangent.norm(dim=-1), embedding.r)
