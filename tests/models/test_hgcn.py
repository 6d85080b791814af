"""HGCN's layers by geoopt, its translation of tangent vectors by points and finite differences, and its extremes."""

import geoopt
import numpy as np
import pytest
import torch
from baseline_graphs import rows, sample
from torch import Tensor, nn
from torch_geometric.utils import to_dense_adj

from wlhn.batching.matrices import mean_matrix
from wlhn.hyperbolic import exp0, log0, mobius_add
from wlhn.models.hgcn import HyperbolicConvolution
from wlhn.nn.spaces import FARTHEST, HYPERBOLOID, POINCARE, Space

EDGES = sample().inputs()["edge_index"]


@pytest.mark.parametrize("curvature", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("name", ["poincare", "hyperboloid"])
def test_hgcn_layer_by_geoopt(name: str, curvature: float, local: bool) -> None:
    torch.manual_seed(0)
    space = {"poincare": POINCARE, "hyperboloid": HYPERBOLOID}[name]
    layer = HyperbolicConvolution(space, 8, curvature, local_aggregation=local).double()
    t = 0.2 * rows(8).double()
    loops = torch.arange(len(t)).repeat(2, 1)
    edges = torch.cat([EDGES, loops], dim=1)
    adjacency = to_dense_adj(edges)[0].mT.double()
    weight = adjacency / adjacency.sum(1, keepdim=True)
    ours = layer(t, edges, mean_matrix(edges, t))
    W, b = layer.linear.weight, layer.linear.bias
    if name == "poincare":
        ball = geoopt.PoincareBall(c=layer.curvature.detach())
        x = ball.mobius_add(ball.expmap0(t @ W.T), ball.expmap0(b))
        if local:
            y = ball.expmap(x, (weight[..., None] * ball.logmap(x[:, None], x[None])).sum(1))
        else:
            y = ball.expmap0(weight @ ball.logmap0(x))
        expected = ball.logmap0(y)
    else:
        sheet = geoopt.Lorentz(k=1 / layer.curvature.detach())
        pad = nn.functional.pad
        x = sheet.expmap0(pad(t @ W.T, (1, 0)))
        x = sheet.expmap(x, sheet.transp0(x, pad(b, (1, 0)).expand_as(x)))
        if local:
            toward = sheet.logmap(x[:, None].expand(-1, len(x), -1), x[None].expand(len(x), -1, -1))
            toward[torch.arange(len(x)), torch.arange(len(x))] = 0  # of a point to itself geoopt gives noise
            y = sheet.expmap(x, (weight[..., None] * toward).sum(1))
        else:
            y = sheet.expmap0(pad(weight @ sheet.logmap0(x)[:, 1:], (1, 0)))
        expected = sheet.logmap0(y)[:, 1:]
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)


def one_by_one(space: Space, v: Tensor, b: Tensor) -> Tensor:
    """Each row by a vector of its own, as a layer translates all rows by one."""
    return torch.cat([space.translate(v[k : k + 1], b[k]) for k in range(len(v))])


@pytest.mark.parametrize("space", [POINCARE, HYPERBOLOID], ids=["poincare", "hyperboloid"])
def test_translation_of_tangent_vectors_is_that_of_points(space: Space) -> None:
    """Near, far, and back to where it came from, in float64; float32 follows as far as its directions do."""
    torch_random = torch.Generator().manual_seed(1)
    directions = torch.randn(64, 2, 5, generator=torch_random, dtype=torch.float64)
    v, b = nn.functional.normalize(directions, dim=-1).unbind(1)
    b[::4] = -v[::4]
    r, s = torch.rand(2, 64, 1, generator=torch_random, dtype=torch.float64) * FARTHEST / space.unit
    r[::8], s[3] = s[::8], 0
    expected = log0(mobius_add(*(exp0(space.unit / 2 * x) for x in (r * v, s * b)))) * 2 / space.unit
    torch.testing.assert_close(space.translate(r * v, s * b), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(one_by_one(space, r * v, s * b), expected, rtol=1e-4, atol=1e-5)
    single = one_by_one(space, (r * v).float(), (s * b).float())
    torch.testing.assert_close(single.double(), expected, rtol=1e-4, atol=0.02)
    torch.testing.assert_close(space.translate(100 * v, b), space.translate(90 * v, b))  # beyond the farthest


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_translation_of_tangent_vectors_by_finite_differences(scale: float) -> None:
    torch_random = torch.Generator().manual_seed(2)
    v, b = torch.randn(2, 6, 3, generator=torch_random, dtype=torch.float64)
    v[0] = 0
    inputs = v.requires_grad_(), b[0].clone().requires_grad_(), torch.tensor(scale).double().requires_grad_()
    assert torch.autograd.gradcheck(POINCARE.translate, inputs)
    assert torch.autograd.gradcheck(
        lambda b: POINCARE.translate(v.detach(), b), torch.zeros_like(b[0]).requires_grad_()
    )


@pytest.mark.dataset("Cornell")
@pytest.mark.parametrize("name", ["hgcn-poincare", "hgcn-hyperboloid"])
@pytest.mark.parametrize("curvature", [0.1, 10.0])
def test_hgcn_stays_finite_on_cornell(name: str, curvature: float) -> None:
    """150 epochs in float32, with all that can go wrong: the larger step, attention, maps at the nodes themselves."""
    from wlhn.data import load
    from wlhn.training.fit import fit
    from wlhn.training.problem import Problem
    from wlhn.training.settings import Settings

    cornell = load("Cornell")
    settings = Settings.of(
        model=name,
        curvature=curvature,
        local_aggregation=True,
        attention=True,
        hidden_channels=16,
        num_layers=2,
        learning_rate=0.01,
        epochs=150,
        patience=150,
    )
    fitted = fit(Problem(cornell, cornell.splits[0], settings), seed=0)
    assert fitted.numerics.first_nan is None
    assert len(fitted.history) == 150
    late = [epoch.train_loss for epoch in fitted.history[-10:]]  # at this step size single epochs may jump
    assert np.median(late) < fitted.history[0].train_loss / 2
    assert all(torch.isfinite(p).all() for p in fitted.model.parameters())
