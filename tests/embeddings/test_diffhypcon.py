"""DiffHypCon is the paper's Algorithm 1, at any depth, and from τ = 2 arsinh 1 on depth never loses distance."""

import math

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

STAR = 2 * math.asinh(1)


def features(n: int, d: int, seed: int, relu: bool = True) -> torch.Tensor:
    h = torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return h.abs() * (h > -1) if relu else h


def path(n: int) -> Tree:
    return Tree(np.arange(-1, n - 1))


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("tau", [0.1, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_algorithm_1(seed: int, tau: float, relu: bool) -> None:
    tree = random_tree(40, np.random.default_rng(seed), bushy=0.7)
    tree = Tree(tree.parent[tree.depth <= 6])  # the paper's depths 0 to 5, below a root
    assert tree.depth[-1] >= 4
    h = features(len(tree), 4, seed, relu)
    ours = diffhypcon(tree, h, tau)
    with mpmath.workdps(50):
        exact = algorithm_1(tree, h, tau)
        radius = [2 * mpmath.atanh(mpmath.sqrt(mpmath.fdot(z, z))) for z in exact]
    assert (ours.points - as_tensor(exact)).abs().max() < 1e-12
    assert np.allclose(ours.r, [float(r) for r in radius], rtol=1e-12, atol=0)


def test_gradients_are_those_of_finite_differences() -> None:
    tree = random_tree(12, np.random.default_rng(5), bushy=0.5)
    h = features(12, 3, 5).requires_grad_()
    tau = torch.tensor(1.2, dtype=torch.float64, requires_grad=True)

    def chain(h: torch.Tensor, tau: torch.Tensor) -> tuple[torch.Tensor, ...]:
        embedding = diffhypcon(tree, h, tau)
        return embedding.r, embedding.e, embedding.u, embedding.points

    assert torch.autograd.gradcheck(chain, (h, tau))


def test_float32_is_accurate_at_depth_1000() -> None:
    tree, h = path(1001), features(1001, 16, 1).float()
    single, exact = diffhypcon(tree, h, STAR), diffhypcon(tree, h.double(), STAR)
    assert exact.r[-1] > 1000
    assert ((single.r - exact.r).abs() / exact.r.clamp_min(1)).max() < 1e-5
    assert (single.e - exact.e).abs().max() < 1e-5


@given(arrays(float, (12, 5), elements=st.floats(0, 10)), st.floats(STAR, 20))
def test_depth_never_loses_distance_from_tau_star_on(h: np.ndarray, tau: float) -> None:
    r = diffhypcon(path(12), torch.from_numpy(h), tau).r
    assert (r.diff() > 0).all()


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
        (torch.full((3, 2), torch.nan), 1.0, "features: expected finite numbers"),
        (torch.ones(3, 2), -1.0, "tau: expected a positive length, found -1"),
        (torch.ones(3, 2), 0.0, "tau: expected a positive length, found 0"),
        (torch.ones(3, 2), math.nan, "tau: expected a positive length, found nan"),
        (torch.ones(3, 2), math.inf, "tau: expected a positive length, found inf"),
    ],
)
def test_bad_input_is_named(h: torch.Tensor, tau: float, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        diffhypcon(Tree.from_networkx(nx.path_graph(3)), h, tau)


def test_a_root_alone_has_nothing_to_embed() -> None:
    with pytest.raises(InputError, match="more than a root"):
        diffhypcon(Tree(np.array([-1])), torch.ones(1, 2))
