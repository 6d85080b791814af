"""The polar form against the ball, in arbitrary precision, and far beyond where the ball ends."""

import mpmath
import numpy as np
import pytest
import torch
from torch import Tensor

from wlhn.hyperbolic.poincare import gap, log_at
from wlhn.hyperbolic.polar import (
    NEAREST,
    arsinh_exp,
    log_sinh,
    polar_distance,
    step,
    tangent_step,
    to_ball,
    to_tangent,
)

DIGITS = 60


def directions(n: int, d: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    x = torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (x / x.norm(dim=-1, keepdim=True)).to(dtype)


def exact_ball(r: Tensor, e: Tensor) -> list[mpmath.mpf]:
    """The ball point in arbitrary precision, the direction made exactly unit."""
    unit = [mpmath.mpf(x) for x in e.tolist()]
    norm = mpmath.sqrt(mpmath.fdot(unit, unit))
    return [mpmath.tanh(mpmath.mpf(float(r)) / 2) * x / norm for x in unit]


def exact_distance(x: list[mpmath.mpf], y: list[mpmath.mpf]) -> mpmath.mpf:
    gap = [a - b for a, b in zip(x, y, strict=True)]
    inside = (1 - mpmath.fdot(x, x)) * (1 - mpmath.fdot(y, y))
    return mpmath.acosh(1 + 2 * mpmath.fdot(gap, gap) / inside)


def exact_inversion(center: list[mpmath.mpf], x: list[mpmath.mpf]) -> list[mpmath.mpf]:
    """The inversion that swaps the center and the origin."""
    square = mpmath.fdot(center, center)
    a = [c / square for c in center]
    gap = [p - q for p, q in zip(x, a, strict=True)]
    factor = (mpmath.fdot(a, a) - 1) / mpmath.fdot(gap, gap)
    return [q + factor * g for q, g in zip(a, gap, strict=True)]


@pytest.mark.parametrize("tau", [1e-3, 0.5, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("r", [1e-3, 0.3, 2.0, 20.0])
def test_a_step_is_what_two_inversions_make_of_it(r: float, tau: float) -> None:
    e, y = directions(8, 5, 1), directions(8, 5, 2)
    radius, ahead, back = step(torch.full((8,), r, dtype=torch.float64), e, y, tau)
    with mpmath.workdps(DIGITS):
        for i in range(8):
            start = exact_ball(torch.tensor(r, dtype=torch.float64), e[i])
            end = exact_inversion(start, exact_ball(torch.tensor(tau, dtype=torch.float64), y[i]))
            distance = 2 * mpmath.atanh(mpmath.sqrt(mpmath.fdot(end, end)))
            assert float(distance) == pytest.approx(float(radius[i]), rel=1e-12)
            seen = exact_inversion(end, start)
            for vector, direction in ((end, ahead[i]), (seen, back[i])):
                norm = mpmath.sqrt(mpmath.fdot(vector, vector))
                assert np.allclose([float(x / norm) for x in vector], direction, rtol=0, atol=1e-11)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("r", [1e-5, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("tau", [0.1, 5.0, 200.0])
def test_directions_stay_unit_and_gradients_finite(r: float, tau: float, dtype: torch.dtype) -> None:
    start = torch.full((64,), r, dtype=dtype, requires_grad=True)
    e, y = directions(64, 8, 3, dtype).requires_grad_(), directions(64, 8, 4, dtype).requires_grad_()
    length = torch.tensor(tau, dtype=dtype, requires_grad=True)
    radius, ahead, back = step(start, e, y, length)
    tolerance = 1e-4 if dtype == torch.float32 else 1e-9
    for direction in (ahead, back):
        assert (direction.norm(dim=-1) - 1).abs().max() < tolerance
    assert ((radius - r).abs() <= tau * (1 + 1e-5) + 1e-5 * r).all()  # the triangle inequality
    for gradient in torch.autograd.grad((radius + ahead.sum(-1) + back[:, 0]).sum(), [start, e, y, length]):
        assert gradient.isfinite().all()


def test_straight_lines() -> None:
    r, e = torch.tensor([3.0], dtype=torch.float64), directions(1, 4, 5)
    for sign, tau, expected in ((-1, 2.0, 5.0), (1, 2.0, 1.0), (1, 4.0, 1.0)):
        radius, ahead, back = step(r, e, sign * e, tau)
        assert torch.allclose(radius, torch.tensor(expected, dtype=torch.float64))
        through = -1 if sign * tau > 3 else 1  # past the origin
        assert torch.allclose(ahead, through * e)
        assert torch.allclose(back, e if sign < 0 else -e)


def test_a_step_back_returns() -> None:
    r, e, y = torch.full((9,), 2.5, dtype=torch.float64), directions(9, 6, 6), directions(9, 6, 7)
    radius, ahead, back = step(r, e, y, 1.7)
    there, direction, again = step(radius, ahead, back, 1.7)
    assert torch.allclose(there, r)
    assert torch.allclose(direction, e)
    assert torch.allclose(again, y)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_landing_on_the_origin_is_defined(dtype: torch.dtype) -> None:
    r = torch.tensor([1.5], dtype=dtype, requires_grad=True)
    e = torch.tensor([[0.6, 0.8]], dtype=dtype, requires_grad=True)
    radius, ahead, back = step(r, e, e, 1.5)
    assert radius.item() == pytest.approx(NEAREST, rel=1e-4)
    assert torch.equal(ahead, e)
    assert torch.equal(back, e)
    for gradient in torch.autograd.grad((radius + ahead.sum() + back.sum()).sum(), [r, e]):
        assert gradient.isfinite().all()
    onwards, _, _ = step(radius, ahead, -back, 2.0)  # and the walk goes on from there
    assert onwards.item() == pytest.approx(2.0, abs=1e-5)


def test_log_sinh_and_its_inverse() -> None:
    r = torch.logspace(-8, 4, 100, dtype=torch.float64)
    with mpmath.workdps(DIGITS):
        exact = torch.tensor([float(mpmath.log(mpmath.sinh(mpmath.mpf(x)))) for x in r.tolist()], dtype=torch.float64)
    assert torch.allclose(log_sinh(r), exact, rtol=1e-12, atol=1e-12)
    assert torch.allclose(arsinh_exp(log_sinh(r)), r, rtol=1e-11, atol=0)


@pytest.mark.parametrize("r1", [1e-4, 1.0, 12.0])
@pytest.mark.parametrize("angle", [1e-6, 0.1, 3.0])
def test_distance_is_that_of_the_ball(r1: float, angle: float) -> None:
    e1, other = directions(1, 3, 8)[0], directions(1, 3, 9)[0]
    side = other - (other @ e1) * e1
    e2 = np.cos(angle) * e1 + np.sin(angle) * side / side.norm()
    for r2 in (1e-3, 1.0, 15.0):
        radii = torch.tensor([r1, r2], dtype=torch.float64)
        ours = polar_distance(radii[0], e1, radii[1], e2)
        with mpmath.workdps(DIGITS):
            exact = exact_distance(exact_ball(radii[0], e1), exact_ball(radii[1], e2))
        assert float(ours) == pytest.approx(float(exact), rel=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_distance_to_oneself_and_from_the_origin(dtype: torch.dtype) -> None:
    r, e = torch.tensor([0.0, 1.0, 200.0, 5000.0], dtype=dtype, requires_grad=True), directions(4, 4, 10, dtype)
    itself = polar_distance(r, e, r, e)
    assert itself.abs().max() < 1e-12
    assert torch.autograd.grad(itself.sum(), r)[0].isfinite().all()
    assert torch.allclose(polar_distance(torch.zeros_like(r), e.roll(1, 0), r, e), r)
    assert torch.allclose(polar_distance(r + 3, e, r, e), torch.full_like(r, 3))


@pytest.mark.parametrize("r", [0.3, 2.0, 15.0])
def test_a_step_in_the_tangent_space_is_the_logarithm_at_its_start(r: float) -> None:
    start, e, y = torch.full((8,), r, dtype=torch.float64), directions(8, 5, 12), directions(8, 5, 13)
    tau = torch.linspace(0.2, 3.0, 8, dtype=torch.float64)
    end, ahead, back = step(start, e, y, tau)
    ours = tangent_step(e, y, tau)
    x = to_ball(start, e)
    theirs = log_at(x, to_ball(end, ahead)) / gap(x)  # λ/2 is what transport to the origin multiplies lengths by
    assert torch.allclose(ours, theirs, rtol=0, atol=3e-16 * np.exp(2 * r) + 1e-12)
    assert torch.allclose(tangent_step(e, step(end, ahead, back, tau)[2], tau), ours)  # y again, from the child alone
    assert torch.allclose(ours.norm(dim=-1), tau / 2)


def test_a_late_turn_counts_as_much_as_an_early_one() -> None:
    """What a small turn of the last step does to log_0 of the point fades with depth; in its parent's frame, not."""
    angle = torch.zeros((), dtype=torch.float64, requires_grad=True)
    e = torch.tensor([1.0, 0.0], dtype=torch.float64)
    y = torch.stack([-angle.cos(), angle.sin()])
    for r in (1.0, 30.0):
        end, ahead, _ = step(torch.tensor(r, dtype=torch.float64), e, y, 1.5)
        turned = {
            "point": torch.autograd.grad(to_tangent(end, ahead)[1], angle, retain_graph=True)[0],
            "step": torch.autograd.grad(tangent_step(e, y, 1.5)[1], angle, retain_graph=True)[0],
        }
        assert turned["step"] == pytest.approx(0.75)
        share = np.sinh(1.5) / np.sinh(r + 1.5)
        assert turned["point"] == pytest.approx((r + 1.5) / 2 * share)


def test_ball_and_tangent() -> None:
    r, e = torch.tensor([0.5, 3.0], dtype=torch.float64), directions(2, 4, 11)
    assert torch.allclose(2 * torch.atanh(to_ball(r, e).norm(dim=-1)), r)
    assert torch.allclose(to_tangent(r, e), torch.atanh(to_ball(r, e).norm(dim=-1, keepdim=True)) * e)
