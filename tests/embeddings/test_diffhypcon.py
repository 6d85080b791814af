"""DiffHypCon is the paper's Algorithm 1, at any depth, and from τ = 2 arsinh 1 on depth never loses distance."""

import math
from typing import Any

import mpmath
import networkx as nx
import numpy as np
import pytest
import torch
from exact import algorithm_1, as_tensor
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from strategies import random_tree

from wlhn import InputError, Tree, diffhypcon
from wlhn.hyperbolic.lengths import STAR, beside_parent, edge_lengths
from wlhn.ops.level import norms


def features(n: int, d: int, seed: int, relu: bool = True) -> torch.Tensor:
    h = torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return h.abs() * (h > -1) if relu else h


def path(n: int) -> Tree:
    return Tree(np.arange(-1, n - 1))


def shallow_tree(seed: int) -> Tree:
    """The paper's depths 0 to 5, below a root."""
    tree = random_tree(40, np.random.default_rng(seed), bushy=0.7)
    tree = Tree(tree.parent[tree.depth <= 6])
    assert tree.depth[-1] >= 4
    return tree


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("tau", [0.1, 1.0, 2.0, "tanh", "log", "clipped"])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_algorithm_1(seed: int, tau: Any, relu: bool) -> None:
    tree = shallow_tree(seed)
    h = features(len(tree), 4, seed, relu)
    if isinstance(tau, str):
        tau = edge_lengths(norms(h), 1.1, tau)
    ours = diffhypcon(tree, h, tau)
    with mpmath.workdps(50):
        exact = algorithm_1(tree, h, tau)
        radius = [2 * mpmath.atanh(mpmath.sqrt(mpmath.fdot(z, z))) for z in exact]
    assert (ours.points - as_tensor(exact)).abs().max() < 1e-12
    assert np.allclose(ours.r, [float(r) for r in radius], rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", range(3))
def test_features_beside_the_parent_give_the_first_release_mirrored(seed: int) -> None:
    """The parent on the last axis, that coordinate zero, children at tanh(τ/2)·clip(h): in arbitrary precision."""
    tree = shallow_tree(seed)
    h = features(len(tree), 4, seed)
    h[:, -1] = 0
    moved = beside_parent(h + torch.tensor([0.0, 0.0, 0.0, 5.0]))
    ours = diffhypcon(tree, moved, edge_lengths(norms(moved), 1.3, "clipped")).points
    # Their radius is tanh(τ/2)·‖clip(h)‖, and its logarithm a length.
    lengths = 2 * torch.atanh(math.tanh(0.65) * h.norm(dim=1).clamp_max(0.996))
    mirror = torch.eye(4, dtype=torch.float64)[-1] + 0.5
    for sign in (1, -1):
        with mpmath.workdps(50):
            axis = [mpmath.mpf(x) for x in (0, 0, 0, sign)]
            theirs = as_tensor(algorithm_1(tree, h, lengths, axis)) * torch.tensor([1, 1, 1, sign])
        assert (ours - (theirs - 2 * (theirs @ mirror)[:, None] * mirror / (mirror @ mirror))).abs().max() < 1e-12


@pytest.mark.parametrize("lengths", [False, True])
def test_gradients_are_those_of_finite_differences(lengths: bool) -> None:
    tree = random_tree(12, np.random.default_rng(5), bushy=0.5)
    h = features(12, 3, 5).requires_grad_()
    tau = (torch.linspace(0.2, 2.0, 12) if lengths else torch.tensor(1.2)).double().requires_grad_()

    def chain(h: torch.Tensor, tau: torch.Tensor) -> tuple[torch.Tensor, ...]:
        embedding = diffhypcon(tree, h, tau)
        return embedding.r, embedding.e, embedding.u, embedding.points

    assert torch.autograd.gradcheck(chain, (h, tau))


@pytest.mark.parametrize("law", ["fixed", "log"])
def test_float32_is_accurate_at_depth_1000(law: Any) -> None:
    tree, h = path(1001), features(1001, 16, 1).float()
    tau = edge_lengths(norms(h), STAR, law)
    single, exact = diffhypcon(tree, h, tau), diffhypcon(tree, h.double(), tau.double())
    assert exact.r[-1] > 1000
    assert ((single.r - exact.r).abs() / exact.r.clamp_min(1)).max() < 1e-5
    assert (single.e - exact.e).abs().max() < 1e-5


@given(
    arrays(float, (12, 5), elements=st.floats(0, 10)),
    st.floats(STAR, 20) | arrays(float, 12, elements=st.floats(STAR, 20)).map(torch.from_numpy),
)
def test_depth_never_loses_distance_from_tau_star_on(h: np.ndarray, tau: float | torch.Tensor) -> None:
    r = diffhypcon(path(12), torch.from_numpy(h), tau).r
    assert (r.diff() > 0).all()


@given(arrays(float, (12, 5), elements=st.floats(0, 10)), st.sampled_from(["tanh", "log", "clipped"]))
def test_a_floor_of_tau_star_keeps_that_law_for_lengths(h: np.ndarray, law: Any) -> None:
    features = torch.from_numpy(h)
    assert (diffhypcon(path(12), features, edge_lengths(norms(features), 1.0, law, floor=STAR)).r.diff() > 0).all()


def test_one_short_edge_between_long_ones_is_enough_to_turn_back() -> None:
    lengths = torch.tensor([0.0, 3.0, 0.2, 3.0], dtype=torch.float64)
    r = diffhypcon(path(4), torch.eye(4096, dtype=torch.float64)[[0] * 4], lengths).r
    assert r[3] < r[1] - 0.5
    lengths[2] = 2 * math.asinh(1 / math.sinh(1.5))  # sinh(ℓ/2) sinh(ℓ′/2) = 1: the two bisectors no longer meet
    assert (diffhypcon(path(4), torch.eye(4096, dtype=torch.float64)[[0] * 4], lengths).r.diff() > 0).all()


def test_at_tau_star_the_sharpest_turns_still_lead_away() -> None:
    h = torch.eye(4096, dtype=torch.float64)[[0] * 40]  # cos = −1/64 to the parent, always to the same side
    assert (diffhypcon(path(40), h, STAR).r.diff() > 0).all()


def test_at_tau_1_the_same_feature_at_every_depth_walks_in_a_circle() -> None:
    h = torch.eye(16, dtype=torch.float64)[[0] * 8]
    r = diffhypcon(path(8), h, 1.0).r
    assert (r.diff()[:3] > 0).all()
    assert (r.diff()[3:6] < 0).all()
    assert r[6] < 0.71 * r[1]


def test_children_leave_at_more_than_a_right_angle_from_their_grandparent() -> None:
    tree = random_tree(60, np.random.default_rng(2))
    embedding = diffhypcon(tree, features(60, 6, 2), 1.5)
    deep = np.flatnonzero(tree.depth >= 2)
    cosine = (embedding.y[deep] * embedding.u[tree.parent[deep]]).sum(-1)
    assert (cosine <= -1 / math.sqrt(6) + 1e-12).all()


@pytest.mark.parametrize(
    ("h", "tau", "sentence"),
    [
        (torch.ones(2, 3), 1.0, "features: expected 3 rows"),
        (torch.ones(3), 1.0, "features: expected 3 rows"),
        (torch.full((3, 2), torch.nan), 1.0, "features: must be finite numbers"),
        (torch.ones(3, 2), -1.0, "tau: expected a positive length, found -1"),
        (torch.ones(3, 2), 0.0, "tau: expected a positive length, found 0"),
        (torch.ones(3, 2), math.nan, "tau: expected a positive length, found nan"),
        (torch.ones(3, 2), math.inf, "tau: expected a positive length, found inf"),
        (
            torch.ones(3, 2),
            torch.ones(2),
            r"tau: expected one length, or 3, one for each tree node, found shape \(2,\)",
        ),
        (torch.ones(3, 2), torch.tensor([0.0, 1.0, -1.0]), "tau, node 2: expected a length of 0 or more, found -1"),
        (torch.ones(3, 2), torch.tensor([0.0, torch.nan, 1.0]), "tau, node 1: expected a length of 0 or more"),
    ],
)
def test_bad_input_is_named(h: torch.Tensor, tau: float, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        diffhypcon(Tree.from_networkx(nx.path_graph(3)), h, tau)


def test_a_root_alone_has_nothing_to_embed() -> None:
    with pytest.raises(InputError, match="a root alone"):
        diffhypcon(Tree(np.array([-1])), torch.ones(1, 2))
