"""Laws of the Lorentz model, and its isometry with the ball."""

import math

import geoopt
import mpmath
import pytest
import torch
from sampling import DTYPES, assert_finite_gradients, ball, dot, eps, exact, extremes, normal, pairs, sphere
from torch import Tensor

from wlhn.hyperbolic import (
    exp0,
    exp_at,
    from_poincare,
    log_at,
    lorentz_distance,
    lorentz_exp0,
    lorentz_exp_at,
    lorentz_log0,
    lorentz_log_at,
    minkowski_inner,
    poincare_distance,
    project_to_hyperboloid,
    to_poincare,
)

law = pytest.mark.parametrize(("seed", "dtype"), [(s, t) for s in range(3) for t in DTYPES])


def hyperboloid(seed: int, n: int, d: int, dtype: torch.dtype = torch.float64, r: float = 4.0) -> Tensor:
    """n points in random directions, at distances 0 to r from the origin."""
    radius = torch.linspace(0, r, n, dtype=torch.float64)[:, None]
    return torch.cat([radius.cosh(), radius.sinh() * sphere(seed, n, d)], dim=-1).to(dtype)


def tangent(seed: int, x: Tensor) -> Tensor:
    """A random tangent vector at each x: the derivative of a curve on the sheet."""
    v = normal(seed, *x[..., 1:].shape, dtype=x.dtype)
    return torch.cat([(v * x[..., 1:]).sum(-1, keepdim=True) / x[..., :1], v], dim=-1)


@law
def test_points_lie_on_the_sheet(seed: int, dtype: torch.dtype) -> None:
    x, y = hyperboloid(seed, 30, 3, dtype), hyperboloid(seed + 10, 30, 3, dtype)
    v = torch.nn.functional.pad(normal(seed, 30, 3, dtype=dtype), (1, 0))
    points = [
        lorentz_exp0(v),
        lorentz_exp_at(x, tangent(seed, x)),
        from_poincare(ball(seed, 30, 3, dtype)),
        project_to_hyperboloid(x + y),
    ]
    for p in points:
        assert (p[:, 0] >= 1).all()
        assert ((minkowski_inner(p, p) + 1).abs() <= 4 * eps(dtype) * p[:, 0] ** 2).all()
    for x_, y_ in [(x, y), (lorentz_exp0(v), x)]:
        log = lorentz_log_at(x_, y_)
        assert (minkowski_inner(x_, log).abs() <= 20 * eps(dtype) * x_[:, 0] * log.norm(dim=-1)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("r", [1e-8, 0.5, 3.0, 12.0])
@pytest.mark.parametrize("step", [1e-6, 1e-2, 1.0, 8.0])
def test_distance_is_that_of_the_product(step: float, r: float, dtype: torch.dtype) -> None:
    """arcosh(−⟨x, y⟩) in 80 digits, for points at distance about r from the origin and `step` from each other."""
    e, f = sphere(0, 1, 3)[0], sphere(1, 1, 3)[0]
    chord = math.sinh(step / 2) / math.sinh(r) if step < r else 2.0
    for g, s in [(e, r + step), (e + chord * f, r), (-e, r)]:
        x = math.sinh(r) * e
        y = math.sinh(s) * g / g.norm()
        x, y = (project_to_hyperboloid(torch.nn.functional.pad(t, (1, 0)).to(dtype)) for t in (x, y))
        a, b = exact(x)[1:], exact(y)[1:]
        cosh = mpmath.sqrt((1 + dot(a, a)) * (1 + dot(b, b))) - dot(a, b)
        d = mpmath.acosh(cosh)
        # A rounding error of the coordinates moves a point by eps x_0; across a long way both ends count relatively.
        moved = eps(dtype) * (1 + mpmath.sqrt(mpf_time(a) * mpf_time(b)) / mpmath.cosh(d / 2))
        assert abs(float(lorentz_distance(x, y)) - d) <= 4 * moved * min(1, d) + 4 * eps(dtype) * d


def mpf_time(space: list[mpmath.mpf]) -> mpmath.mpf:
    return mpmath.sqrt(1 + dot(space, space))


@law
def test_distance_is_a_metric(seed: int, dtype: torch.dtype) -> None:
    x = hyperboloid(seed, 25, 4, dtype)
    d = lorentz_distance(x[:, None], x)
    torch.testing.assert_close(d, d.T, rtol=10 * eps(dtype), atol=0)
    assert ((d == 0) == torch.eye(len(x), dtype=torch.bool)).all()
    assert (d[:, None, :] <= (d[:, :, None] + d[None]) * (1 + 100 * eps(dtype))).all()


@law
def test_isometric_to_the_ball(seed: int, dtype: torch.dtype) -> None:
    x, y = ball(seed, 40, 3, dtype), ball(seed + 10, 40, 3, dtype)
    X, Y = from_poincare(x), from_poincare(y)
    torch.testing.assert_close(to_poincare(X), x, rtol=0, atol=4 * eps(dtype))
    torch.testing.assert_close(lorentz_distance(X, Y), poincare_distance(x, y), rtol=0, atol=200 * eps(dtype))
    v = normal(seed, 40, 3, dtype=dtype) / 2
    V = torch.nn.functional.pad(2 * v, (1, 0))  # λ_0 = 2
    torch.testing.assert_close(to_poincare(lorentz_exp0(V)), exp0(v), rtol=0, atol=4 * eps(dtype))


@pytest.mark.parametrize("seed", range(3))
def test_maps_commute_with_the_change_of_model(seed: int) -> None:
    """exp and log at a point, carried over by the derivative of the change of model."""
    x, y, v = ball(seed, 20, 3), ball(seed + 10, 20, 3), normal(seed, 20, 3) / 10
    X, V = torch.func.jvp(from_poincare, (x,), (v,))
    torch.testing.assert_close(to_poincare(lorentz_exp_at(X, V)), exp_at(x, v), rtol=0, atol=1e-13)
    _, log = torch.func.jvp(from_poincare, (x,), (log_at(x, y),))
    torch.testing.assert_close(lorentz_log_at(X, from_poincare(y)), log, rtol=0, atol=1e-11)


@law
def test_exp_and_log_are_inverse_and_measure_distance(seed: int, dtype: torch.dtype) -> None:
    x, y = hyperboloid(seed, 30, 3, dtype, r=2), hyperboloid(seed + 10, 30, 3, dtype, r=2)
    v, w = tangent(seed, x), torch.nn.functional.pad(normal(seed, 30, 3, dtype=dtype), (1, 0))
    close = {"rtol": 0, "atol": 2000 * eps(dtype)}
    torch.testing.assert_close(lorentz_exp0(lorentz_log0(y)), y, rtol=10 * eps(dtype), atol=0)
    torch.testing.assert_close(lorentz_log0(lorentz_exp0(w)), w, rtol=10 * eps(dtype), atol=0)
    torch.testing.assert_close(lorentz_exp_at(x, lorentz_log_at(x, y)), y, **close)
    torch.testing.assert_close(lorentz_log_at(x, lorentz_exp_at(x, v)), v, **close)
    log = lorentz_log_at(x, y)
    torch.testing.assert_close(minkowski_inner(log, log).sqrt(), lorentz_distance(x, y), **close)
    torch.testing.assert_close(lorentz_distance(x, lorentz_exp_at(x, v)), minkowski_inner(v, v).sqrt(), **close)
    origin = hyperboloid(0, 1, 3, dtype)[0]
    torch.testing.assert_close(lorentz_exp_at(origin, w), lorentz_exp0(w), rtol=10 * eps(dtype), atol=0)
    torch.testing.assert_close(lorentz_log_at(origin, y), lorentz_log0(y), **close)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_geoopt(seed: int) -> None:
    manifold = geoopt.Lorentz()
    x, y = hyperboloid(seed, 30, 3)[1:], hyperboloid(seed + 10, 30, 3)[1:]
    v = tangent(seed, x)
    ours_and_theirs = [
        (minkowski_inner(x, y), manifold.inner(x, x, y)),
        (lorentz_distance(x, y), manifold.dist(x, y)),
        (lorentz_exp_at(x, v), manifold.expmap(x, v)),
        (lorentz_log_at(x, y), manifold.logmap(x, y)),
        (lorentz_log0(y), manifold.logmap0(y)),
        (project_to_hyperboloid(x), manifold.projx(x)),
    ]
    for ours, theirs in ours_and_theirs:
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)  # geoopt pads its roots and arcosh by 1e-8


def test_gradcheck() -> None:
    x, y = hyperboloid(0, 6, 3, r=2) + 0.0, hyperboloid(1, 6, 3, r=2.5)[1:].repeat(2, 1)[:6]
    x[0, 1] = 0.1
    v = tangent(2, x)
    args = [t.requires_grad_() for t in (x, y, v)]
    x, y, v = args
    for f, inputs in [
        (minkowski_inner, (x, y)),
        (lorentz_distance, (x, y)),
        (lorentz_exp0, (v,)),
        (lorentz_log0, (x,)),
        (lorentz_exp_at, (x, v)),
        (lorentz_log_at, (x, y)),
        (project_to_hyperboloid, (x,)),
        (to_poincare, (x,)),
        (from_poincare, (ball(3, 5, 3).requires_grad_(),)),
    ]:
        assert torch.autograd.gradcheck(f, inputs), f


def test_gradients_at_zero_are_those_of_the_limit() -> None:
    jacobian = torch.autograd.functional.jacobian
    origin = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
    x, zero, eye = hyperboloid(0, 3, 2)[1], 0 * origin, torch.eye(3, dtype=torch.float64)
    torch.testing.assert_close(jacobian(lorentz_exp0, zero)[1:, 1:], eye[1:, 1:])
    torch.testing.assert_close(jacobian(lorentz_log0, origin)[1:, 1:], eye[1:, 1:])
    torch.testing.assert_close(jacobian(lambda v: lorentz_exp_at(x, v), zero)[1:, 1:], eye[1:, 1:])
    torch.testing.assert_close(jacobian(lambda y: lorentz_log_at(x, y), x), eye)


@pytest.mark.parametrize("dtype", DTYPES)
def test_finite_at_the_extremes(dtype: torch.dtype) -> None:
    far = hyperboloid(0, 3, 3, dtype, r=40.0)
    points = torch.cat([project_to_hyperboloid(from_poincare(extremes(dtype))), far])
    x, y = pairs(points, points)
    assert_finite_gradients(lorentz_distance, x, y)
    assert_finite_gradients(lorentz_log_at, x, y)
    assert_finite_gradients(lorentz_log0, points)
    assert_finite_gradients(to_poincare, points)
    assert_finite_gradients(from_poincare, extremes(dtype))
    v = torch.nn.functional.pad(torch.tensor([0.0, 1e-30, 1e-3, 1.0, 1e3, 1e30], dtype=dtype)[:, None], (1, 1))
    assert_finite_gradients(lorentz_exp0, v)
    at, v = pairs(points[:, :3], v)
    assert_finite_gradients(lorentz_exp_at, project_to_hyperboloid(at), v)
    assert (lorentz_distance(x, x) == 0).all()
    assert lorentz_exp0(v * float("nan")).isnan().any()
