"""Busemann functions: the ball's formula, one down for each step towards infinity, at any distance."""

import math

import pytest
import torch
from torch import Tensor

from wlhn.hyperbolic.busemann import busemann
from wlhn.hyperbolic.polar import polar_distance, step, to_ball
from wlhn.hyperbolic.reflection import unit

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def directions(n: int, d: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return unit(torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)).to(dtype)


def test_it_is_that_of_the_ball() -> None:
    r, e, ideal = torch.linspace(0, 8, 20, dtype=torch.float64), directions(20, 4, 1), directions(5, 4, 2)
    x = to_ball(r, e)
    ball = torch.log((x[:, None] - ideal).square().sum(-1) / (1 - x.square().sum(-1))[:, None])
    assert torch.allclose(busemann(r, e, ideal), ball, rtol=1e-9, atol=1e-9)
    cosines = torch.log(r.cosh()[:, None] - r.sinh()[:, None] * (e @ ideal.mT))
    assert torch.allclose(busemann(r, e, ideal), cosines, rtol=1e-9, atol=1e-9)


def test_it_is_a_limit_of_distances() -> None:
    r, e, ideal = torch.linspace(0, 30, 9, dtype=torch.float64), directions(9, 3, 3), directions(1, 3, 4)
    far = torch.tensor(500.0, dtype=torch.float64)
    assert torch.allclose(busemann(r, e, ideal)[:, 0], polar_distance(r, e, far.expand(9), ideal.expand(9, 3)) - far)


@DTYPES
def test_it_falls_by_one_for_each_step_along_a_radius(dtype: torch.dtype) -> None:
    ideal = directions(6, 5, 5, dtype)
    for t in (0.0, 1e-3, 1.0, 19.9, 20.1, 100.0, 1000.0):
        away = busemann(torch.full((6,), t, dtype=dtype), ideal, torch.cat([ideal, -ideal]))
        expected = torch.full((6,), t, dtype=dtype)
        assert torch.allclose(away.diagonal(), -expected, rtol=1e-6)
        assert torch.allclose(away.diagonal(6), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("t", [0.1, 1.0, 4.0])
def test_it_falls_by_one_for_each_step_along_any_geodesic_to_the_ideal_point(t: float) -> None:
    r, e, ideal = torch.linspace(0.2, 4, 10, dtype=torch.float64), directions(10, 4, 6), directions(1, 4, 7)
    center = e / torch.tanh(r / 2)[:, None]  # of the inversion that swaps the point and the origin
    gap = ideal - center
    seen = center + (center.square().sum(-1, keepdim=True) - 1) / gap.square().sum(-1, keepdim=True) * gap
    end, ahead, _ = step(r, e, seen, t)
    assert torch.allclose(busemann(end, ahead, ideal), busemann(r, e, ideal) - t, rtol=0, atol=1e-9)


def test_it_differs_by_no_more_than_the_distance() -> None:
    r, e, ideal = torch.linspace(0, 100, 40, dtype=torch.float64), directions(40, 3, 8), directions(4, 3, 9)
    value = busemann(r, e, ideal)
    distance = polar_distance(r[:, None], e[:, None], r, e)
    assert ((value[:, None] - value).abs() <= distance[..., None] + 1e-9).all()


@pytest.mark.parametrize("r", [0.01, 1.0, 15.0, 25.0])
def test_gradients_are_those_of_finite_differences(r: float) -> None:
    radius = torch.full((3,), r, dtype=torch.float64, requires_grad=True)
    e, ideal = directions(3, 4, 10).requires_grad_(), directions(2, 4, 11).requires_grad_()
    assert torch.autograd.gradcheck(busemann, (radius, e, ideal))


@DTYPES
def test_values_and_gradients_are_finite_everywhere(dtype: torch.dtype) -> None:
    ideal = directions(4, 5, 12, dtype).requires_grad_()
    e = torch.cat([ideal.detach(), -ideal.detach(), directions(4, 5, 13, dtype)]).requires_grad_()
    for t in (0.0, 1e-30, 1.0, 20.0, 50.0, 1000.0, 1e30):
        r = torch.full((12,), t, dtype=dtype, requires_grad=True)
        value = busemann(r, e, ideal)
        assert value.isfinite().all()
        assert (value.abs() <= r[:, None] * (1 + 1e-6) + 1e-6).all()
        gradients = torch.autograd.grad(value.sum(), [r, e, ideal])
        assert all(gradient.isfinite().all() for gradient in gradients)
    at_zero = torch.zeros(12, dtype=dtype, requires_grad=True)
    slope = torch.autograd.grad(busemann(at_zero, e, ideal)[:, 0].sum(), at_zero)[0]
    assert torch.allclose(slope, -(e @ ideal[0]), atol=1e-6)
    assert math.isclose(slope[0].item(), -1, rel_tol=1e-6)
