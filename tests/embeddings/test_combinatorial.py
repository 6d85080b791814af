"""Sarkar and Sala et al.: children as far apart as can be, and therefore little distortion."""

import math
from itertools import pairwise

import mpmath
import networkx as nx
import numpy as np
import pytest
import torch
from strategies import random_tree

from wlhn import InputError, Tree, quality, refine, sala, sarkar, sarkar_points
from wlhn.data import load
from wlhn.embeddings import spherical_code


@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_sarkar_is_the_construction_in_arbitrary_precision(seed: int, tau: float) -> None:
    tree = random_tree(30, np.random.default_rng(seed))
    ours, exact = sarkar(tree, tau), sarkar_points(tree, tau)
    assert np.allclose(ours.points, [[float(z.real), float(z.imag)] for z in exact], rtol=0, atol=1e-12)


def test_deep_points_are_right_where_the_disc_has_no_room_left() -> None:
    tree = random_tree(80, np.random.default_rng(4), bushy=0.1)
    ours, exact = sarkar(tree, 3.0), sarkar_points(tree, 3.0)
    assert ours.r.max() > 60  # 1 − tanh(r/2) is far below what float64 can tell from 0
    with mpmath.workdps(200):
        radius = [float(2 * mpmath.atanh(abs(z))) for z in exact]
        direction = [[float(x / abs(z)) for x in (z.real, z.imag)] for z in exact[1:]]
    assert np.allclose(ours.r, radius, rtol=1e-12)
    assert np.allclose(ours.e[1:], direction, rtol=0, atol=1e-11)


def test_sarkar_spaces_siblings_and_parent_equally() -> None:
    tree = Tree.from_networkx(nx.balanced_tree(4, 2))
    embedding = sarkar(tree, 1.0)
    for node in range(1, 5):
        around = [embedding.u[node], *embedding.y[tree.parent == node]]
        angles = np.sort([math.atan2(*direction.flip(0)) for direction in around])
        assert np.allclose(np.diff(angles), 2 * math.pi / 5)


def test_sarkar_distortion_goes_to_1() -> None:
    tree = random_tree(60, np.random.default_rng(6))
    worst = [quality(sarkar(tree, tau)).worst_distortion for tau in (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)]
    assert all(a > b for a, b in pairwise(worst))
    assert worst[-1] < 1.005


def test_a_long_path_is_exact() -> None:
    path = sarkar(Tree(np.arange(-1, 1999)), 1.0)
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2000, (2, 200))
    assert np.allclose(path.distance(a, b), np.abs(a - b), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dimension", [2, 3, 8, 128])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 9, 16, 17, 129, 256, 300])
def test_codes_are_unit_vectors(size: int, dimension: int) -> None:
    code = spherical_code(size, dimension)
    assert code.shape == (size, dimension)
    assert torch.allclose(code.norm(dim=1), torch.ones(size, dtype=torch.float64))


def closest(code: torch.Tensor) -> float:
    """The largest cosine between two points of a code."""
    return float((code @ code.T - 3 * torch.eye(len(code))).max())


@pytest.mark.parametrize("dimension", [3, 8, 128])
def test_codes_are_as_far_apart_as_can_be(dimension: int) -> None:
    for size in (2, 3, dimension, dimension + 1):  # the simplex
        code = spherical_code(size, dimension)
        cosines = (code @ code.T)[~torch.eye(size, dtype=torch.bool)]
        assert torch.allclose(cosines, torch.full_like(cosines, -1 / (size - 1)))
    for size in (dimension + 2, 2 * dimension):  # the cross-polytope
        assert closest(spherical_code(size, dimension)) <= 1e-12
    for size in (2 * dimension + 1, 4 * dimension):  # beyond, at least better than chance
        code = spherical_code(size, dimension)
        draws = torch.randn(20, size, dimension, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        chance = min(closest(draw / draw.norm(dim=1, keepdim=True)) for draw in draws)
        assert closest(code) < 0.8 * chance


def test_in_the_plane_sala_is_sarkar() -> None:
    tree = random_tree(40, np.random.default_rng(8))
    assert torch.allclose(sala(tree, 2).points, sarkar(tree).points, atol=1e-12)


def test_dimensions_help_bushy_trees() -> None:
    tree = Tree.from_networkx(nx.star_graph(40))
    worst = [quality(sala(tree, dimension)).worst_distortion for dimension in (2, 3, 8, 64)]
    assert worst == sorted(worst, reverse=True)


def test_sala_places_the_parent_at_a_point_of_the_code() -> None:
    tree = random_tree(50, np.random.default_rng(9))
    embedding = sala(tree, 16)
    for node in range(1, 50):
        children = np.flatnonzero(tree.parent == node)
        around = torch.stack([embedding.u[node], *embedding.y[children]])
        expected = spherical_code(len(around), 16)
        assert torch.allclose(around @ around.T, expected @ expected.T, atol=1e-9)


@pytest.mark.dataset("IMDB-BINARY")
def test_sala_keeps_the_distances_of_imdb() -> None:
    """The paper reports 0.93."""
    tree = refine(load("IMDB-BINARY").graphs, 2, "uniform").tree
    embedding = sala(tree, 128)
    assert quality(embedding).correlation >= 0.93


@pytest.mark.parametrize("tau", [-1.0, 0.0, math.nan, math.inf])
def test_edges_have_a_length(tau: float) -> None:
    tree = Tree(np.array([-1, 0]))
    for construct in (sarkar, sarkar_points, lambda tree, tau: sala(tree, 3, tau)):
        with pytest.raises(InputError, match="tau: expected a positive length"):
            construct(tree, tau)


def test_a_line_is_no_space_for_a_tree() -> None:
    with pytest.raises(InputError, match="dimension: must be 2 or more, found 1"):
        sala(Tree(np.array([-1, 0])), 1)
