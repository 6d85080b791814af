"""Distortion, correlation and mean average precision, against their definitions in a few lines."""

import sys

import networkx as nx
import numpy as np
import pytest
import torch
from strategies import random_tree

from wlhn import Tree, diffhypcon, quality, sarkar
from wlhn.embeddings.quality import mean_average_precision


def by_definition(distance: np.ndarray, steps: np.ndarray) -> float:
    """Sala et al.: for node a with neighbours b, the share of neighbours in the smallest ball around a that holds b."""
    shares = []
    for a in range(len(steps)):
        neighbours = [b for b in range(len(steps)) if steps[a, b] == 1]
        balls = [[x for x in range(len(steps)) if x != a and distance[a, x] <= distance[a, b]] for b in neighbours]
        shares.append(np.mean([len(set(ball) & set(neighbours)) / len(ball) for ball in balls]))
    return float(np.mean(shares))


@pytest.mark.parametrize("seed", range(4))
def test_figures_are_their_definitions(seed: int) -> None:
    tree = random_tree(30, np.random.default_rng(seed))
    h = torch.rand(30, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    embedding = diffhypcon(tree, h, 0.7)
    distance, steps = embedding.all_distances().numpy(), tree.all_distances()
    ratio = np.array([distance[a, b] / steps[a, b] for a in range(30) for b in range(30) if a != b])
    result = quality(embedding)
    assert result.average_distortion == pytest.approx(np.mean(np.abs(ratio / 0.7 - 1)))
    assert result.worst_distortion == pytest.approx(ratio.max() / ratio.min())
    assert result.correlation == pytest.approx(np.corrcoef(distance.ravel(), steps.ravel())[0, 1])
    assert result.mean_average_precision == pytest.approx(by_definition(distance, steps))
    assert result.pairs == 900


def test_precision_of_an_order_turned_upside_down() -> None:
    steps = Tree.from_networkx(nx.path_graph(4)).all_distances()
    assert mean_average_precision(steps.astype(float), steps) == 1
    upside_down = np.where(steps > 0, 4.0 - steps, 0.0)
    assert mean_average_precision(upside_down, steps) == pytest.approx(by_definition(upside_down, steps))


def test_large_trees_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = random_tree(200, np.random.default_rng(0))
    full = quality(sarkar(tree))
    module = sys.modules["wlhn.embeddings.quality"]
    monkeypatch.setattr(module, "ALL_PAIRS", 100)
    monkeypatch.setattr(module, "SAMPLE", 20_000)
    sampled = quality(sarkar(tree), seed=3)
    assert sampled.mean_average_precision is None
    assert sampled.pairs == 20_000
    assert sampled == quality(sarkar(tree), seed=3)
    assert sampled.correlation == pytest.approx(full.correlation, abs=0.03)
    assert sampled.average_distortion == pytest.approx(full.average_distortion, rel=0.05)


def test_tau_may_carry_a_gradient() -> None:
    tau = torch.tensor(1.5, requires_grad=True)
    embedding = diffhypcon(Tree(np.array([-1, 0, 0, 1])), torch.rand(4, 3), tau)
    assert quality(embedding).worst_distortion >= 1
    assert torch.autograd.grad(embedding.r.sum(), tau)[0] > 0


def test_nodes_that_fall_together_have_no_worst_distortion() -> None:
    star = Tree.from_networkx(nx.star_graph(3))
    result = quality(diffhypcon(star, torch.ones(4, 2)))
    assert result.worst_distortion is None
    assert np.isfinite(result.average_distortion)
