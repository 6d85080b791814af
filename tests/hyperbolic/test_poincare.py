"""Laws of the Poincaré ball."""

import math

import geoopt
import geoopt.manifolds.stereographic.math as gmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import (
    DTYPES,
    assert_finite_gradients,
    ball,
    combine,
    dot,
    eps,
    exact,
    extremes,
    mp_add,
    mp_distance,
    normal,
    pairs,
    sphere,
)
from torch import Tensor

from wlhn.hyperbolic import (
    conformal_factor,
    exp0,
    exp_at,
    log0,
    log_at,
    mobius_add,
    mobius_linear,
    mobius_matvec,
    poincare_distance,
)

SEEDS = range(3)
law = pytest.mark.parametrize(("seed", "dtype"), [(s, t) for s in SEEDS for t in DTYPES])


def assert_near(x: Tensor, y: Tensor, error: float | Tensor) -> None:
    """Points a Euclidean distance of at most `error` apart."""
    assert ((x - y).norm(dim=-1) <= error).all(), (x - y).norm(dim=-1).max()


# Distance


def distance_cases(dtype: torch.dtype) -> list[tuple[Tensor, Tensor]]:
    e, f = sphere(0, 2, 4)
    small = 1e-3 * eps(dtype)
    cases = [(a, b) for a, b in zip(ball(1, 20, 4), ball(2, 20, 4), strict=True)]
    cases += [(0.3 * e, 0.3 * e + h * f) for h in (1e-2, 1e-5, 10 * eps(dtype))]  # near each other
    cases += [(small * e, small * f), (0 * e, small * f)]  # near the origin
    cases += [((1 - h) * e, (1 - h) * s) for h in (1e-2, 1e-4, 30 * eps(dtype)) for s in (f, -e)]  # at the boundary
    cases += [((1 - h) * e, (1 - h) * e + 0.1 * h * f) for h in (1e-2, 1e-4)]  # near each other, at the boundary
    return [(a.to(dtype), b.to(dtype)) for a, b in cases]


@pytest.mark.parametrize("dtype", DTYPES)
def test_distance_is_that_of_the_paper(dtype: torch.dtype) -> None:
    for x, y in distance_cases(dtype):
        d = float(mp_distance(exact(x), exact(y)))
        rounding = eps(dtype) * float(conformal_factor(x) + conformal_factor(y))  # of the coordinates
        assert abs(float(poincare_distance(x, y)) - d) <= 2 * rounding * min(d, 2) + 4 * eps(dtype) * d


@law
def test_distance_is_a_metric(seed: int, dtype: torch.dtype) -> None:
    x = ball(seed, 25, 4, dtype)
    d = poincare_distance(x[:, None], x)
    assert (d == d.T).all()
    assert ((d == 0) == torch.eye(len(x), dtype=torch.bool)).all()
    assert (d[:, None, :] <= (d[:, :, None] + d[None]) * (1 + 100 * eps(dtype))).all()


@law
def test_proposition_1(seed: int, dtype: torch.dtype) -> None:
    """Among points of one norm, the order of Euclidean distances is the order of hyperbolic distances."""
    v = 0.8 * sphere(seed, 30, 6)
    euclidean = (v[:, None] - v).norm(dim=-1)
    hyperbolic = poincare_distance(v.to(dtype)[:, None], v.to(dtype))
    clearly = euclidean[:, :, None] < euclidean[:, None, :] - 20 * eps(dtype)
    assert (hyperbolic[:, :, None] < hyperbolic[:, None, :])[clearly].all()


@law
def test_lengths_of_exp_and_log_are_distances(seed: int, dtype: torch.dtype) -> None:
    x, y, v = ball(seed, 40, 3, dtype), ball(seed + 10, 40, 3, dtype), 0.2 * normal(seed, 40, 3, dtype=dtype)
    close = {"rtol": 100 * eps(dtype), "atol": 100 * eps(dtype)}
    torch.testing.assert_close(conformal_factor(x) * log_at(x, y).norm(dim=-1), poincare_distance(x, y), **close)
    torch.testing.assert_close(2 * log0(y).norm(dim=-1), poincare_distance(torch.zeros_like(y), y), **close)
    torch.testing.assert_close(poincare_distance(torch.zeros_like(v), exp0(v)), 2 * v.norm(dim=-1), **close)
    near_x = v / conformal_factor(x)[:, None]
    torch.testing.assert_close(poincare_distance(x, exp_at(x, near_x)), v.norm(dim=-1), rtol=0, atol=2000 * eps(dtype))


# Exponential and logarithm


@law
def test_exp_and_log_are_inverse(seed: int, dtype: torch.dtype) -> None:
    x, y, v = ball(seed, 40, 3, dtype), ball(seed + 10, 40, 3, dtype), normal(seed, 40, 3, dtype=dtype) / 2
    assert_near(exp0(log0(y)), y, 4 * eps(dtype))
    assert_near(log0(exp0(v)), v, 2 * eps(dtype) * conformal_factor(exp0(v)))
    assert_near(exp_at(x, log_at(x, y)), y, 50 * eps(dtype))
    y = exp_at(x, v / conformal_factor(x)[:, None])
    error = 4 * eps(dtype) * (conformal_factor(x) + conformal_factor(y))
    assert_near(conformal_factor(x)[:, None] * log_at(x, y), v, error)


@given(r=st.floats(0, 12), tiny=st.booleans())
@settings(max_examples=60, deadline=None)
def test_exp_and_log_are_inverse_at_every_radius(r: float, tiny: bool) -> None:
    v = torch.tensor([0.36, 0.48, 0.8], dtype=torch.float64) * (r / 2) * (1e-200 if tiny else 1.0)
    n = float(v.norm())
    torch.testing.assert_close(log0(exp0(v)), v, rtol=eps(v.dtype) * math.cosh(n) ** 2 * 8, atol=0)


@law
def test_maps_at_the_origin_are_the_special_case(seed: int, dtype: torch.dtype) -> None:
    v, zero = normal(seed, 40, 3, dtype=dtype) / 2, torch.zeros(3, dtype=dtype)
    assert_near(exp_at(zero, v), exp0(v), 4 * eps(dtype))
    assert_near(log_at(zero, exp0(v)), log0(exp0(v)), 20 * eps(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_log_sees_beyond_the_horizon(dtype: torch.dtype) -> None:
    """Two far points are twice as far from each other as −x ⊕ y, a point of the ball, can be from the origin."""
    e, f = sphere(0, 2, 3)
    x, y = ((1 - 10 * eps(dtype)) * e).to(dtype), ((1 - 10 * eps(dtype)) * f).to(dtype)
    assert poincare_distance(x, y) > math.log(8 / eps(dtype)) + 3
    torch.testing.assert_close(conformal_factor(x) * log_at(x, y).norm(), poincare_distance(x, y))


# Möbius operations


@pytest.mark.parametrize("dtype", DTYPES)
def test_addition_is_that_of_the_paper(dtype: torch.dtype) -> None:
    """Also for y close to −x near the boundary, where the paper's fraction cancels."""
    for x, y in distance_cases(dtype):
        for z in (y, -y):
            error = combine(1, exact(mobius_add(x, z)), -1, mp_add(exact(x), exact(z)))
            # A rounding error of x or y moves the sum as far in the hyperbolic metric.
            moved = eps(dtype) * (conformal_factor(x) + conformal_factor(z)) / conformal_factor(mobius_add(x, z))
            assert math.sqrt(dot(error, error)) <= 2 * float(moved) + 4 * eps(dtype)


@law
def test_addition_laws(seed: int, dtype: torch.dtype) -> None:
    a, x, y = (ball(seed + k, 40, 4, dtype, r=3) for k in (0, 10, 20))
    assert_near(mobius_add(-x, mobius_add(x, y)), y, 400 * eps(dtype))  # left cancellation
    assert (mobius_add(-x, x) == 0).all()
    assert_near(mobius_add(torch.zeros_like(x), x), x, 2 * eps(dtype))
    assert_near(mobius_add(x, torch.zeros_like(x)), x, 2 * eps(dtype))
    moved = poincare_distance(mobius_add(a, x), mobius_add(a, y))
    torch.testing.assert_close(moved, poincare_distance(x, y), rtol=0, atol=2000 * eps(dtype))


@law
def test_matrix_product_laws(seed: int, dtype: torch.dtype) -> None:
    x = ball(seed, 30, 3, dtype, r=2)
    M, N = normal(seed, 2, 4, dtype=dtype) / 2, normal(seed, 4, 3, dtype=dtype) / 2
    Q = torch.linalg.qr(normal(seed, 3, 3, dtype=dtype)).Q
    assert_near(mobius_matvec(M, mobius_matvec(N, x)), mobius_matvec(M @ N, x), 30 * eps(dtype))
    assert_near(mobius_matvec(Q, x), x @ Q.mT, 10 * eps(dtype))
    assert_near(mobius_matvec(2 * torch.eye(3, dtype=dtype), x), mobius_add(x, x), 10 * eps(dtype))
    b = ball(seed + 1, 1, 4, dtype, r=2)[0] + 0.1
    assert_near(mobius_linear(x, N, b), mobius_add(mobius_matvec(N, x), b), 0.0)
    assert_near(mobius_linear(x, N), mobius_matvec(N, x), 0.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_agrees_with_geoopt(seed: int) -> None:
    x, y, v = ball(seed, 40, 3), ball(seed + 10, 40, 3), normal(seed, 40, 3) / 5
    M, k = normal(seed, 4, 3), torch.tensor(-1.0, dtype=torch.float64)
    ours_and_theirs = [
        (poincare_distance(x, y), gmath.dist(x, y, k=k)),
        (mobius_add(x, y), gmath.mobius_add(x, y, k=k)),
        (mobius_matvec(M, x), gmath.mobius_matvec(M, x, k=k)),
        (conformal_factor(x), gmath.lambda_x(x, k=k)),
        (exp0(v), gmath.expmap0(v, k=k)),
        (log0(x), gmath.logmap0(x, k=k)),
        (exp_at(x, v), gmath.expmap(x, v, k=k)),
        (log_at(x, y), gmath.logmap(x, y, k=k)),
    ]
    for ours, theirs in ours_and_theirs:
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
    # The manifold object keeps its curvature in float32, as a softplus.
    theirs = geoopt.PoincareBall(c=1.0).double().dist(x, y)
    torch.testing.assert_close(poincare_distance(x, y), theirs, rtol=1e-6, atol=0)


# Gradients and extremes


def test_gradcheck() -> None:
    x, y, v, M = ball(0, 6, 3), ball(1, 6, 3), normal(0, 6, 3), normal(0, 4, 3)
    args = [a.requires_grad_() for a in (x, y, v / 4, M)]
    x, y, v, M = args
    for f, inputs in [
        (poincare_distance, (x, y)),
        (mobius_add, (x, y)),
        (mobius_matvec, (M, x)),
        (mobius_linear, (x, M, ball(2, 2, 4)[0].requires_grad_())),
        (exp0, (v,)),
        (log0, (x,)),
        (exp_at, (x, v)),
        (log_at, (x, y)),
        (conformal_factor, (x,)),
    ]:
        assert torch.autograd.gradcheck(f, inputs), f


def test_gradients_at_zero_are_those_of_the_limit() -> None:
    zero = torch.zeros(3, dtype=torch.float64)
    x = torch.tensor([0.3, 0.2, 0.1], dtype=torch.float64)
    eye = torch.eye(3, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian
    torch.testing.assert_close(jacobian(exp0, zero), eye)
    torch.testing.assert_close(jacobian(log0, zero), eye)
    torch.testing.assert_close(jacobian(lambda v: exp_at(x, v), zero), eye)
    torch.testing.assert_close(jacobian(lambda y: log_at(x, y), x), eye)


@pytest.mark.parametrize("dtype", DTYPES)
def test_finite_at_the_extremes(dtype: torch.dtype) -> None:
    x, y = pairs(extremes(dtype), extremes(dtype))
    big = torch.tensor([1e-30, 1.0, 1e3, 1e20], dtype=dtype)[:, None] * sphere(0, 4, 3, dtype)
    at, tangent = pairs(extremes(dtype), torch.cat([extremes(dtype), big]))
    for f in (poincare_distance, mobius_add, log_at):
        assert_finite_gradients(f, x, y)
    assert (mobius_add(x, y).norm(dim=-1) <= 1 + 2 * eps(dtype)).all()
    for f in (log0, conformal_factor):
        assert_finite_gradients(f, x)
    assert_finite_gradients(exp0, tangent)
    assert_finite_gradients(exp_at, at, tangent)
    assert_finite_gradients(mobius_matvec, torch.zeros(2, 3, dtype=dtype), x)
    assert_finite_gradients(mobius_linear, x, torch.eye(3, dtype=dtype), x[7])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_boundary_is_the_last_point_inside(dtype: torch.dtype) -> None:
    e = torch.tensor([0.0, 1.0], dtype=dtype)
    horizon = math.log(8 / eps(dtype))
    assert float(poincare_distance(0 * e, e)) == pytest.approx(horizon, rel=1e-6)
    assert float(2 * log0(e).norm()) == pytest.approx(horizon, rel=1e-6)
    assert float(poincare_distance(e, -e)) == pytest.approx(2 * horizon, rel=1e-6)
    torch.testing.assert_close(exp0(1e30 * e), e)  # not 0, where ‖v‖² overflows
    last = (1 - eps(dtype) / 2) * e  # the largest number below 1 is not yet clamped
    assert float(poincare_distance(0 * e, last)) == pytest.approx(math.log(4 / eps(dtype)), rel=1e-6)


def test_nan_stays_visible() -> None:
    nan = torch.tensor([float("nan"), 0.0])
    x = torch.tensor([0.1, 0.2])
    for y in (exp0(nan), log0(nan), mobius_add(x, nan), exp_at(x, nan), log_at(x, nan), poincare_distance(x, nan)):
        assert y.isnan().any()


def test_broadcasting() -> None:
    x, y = ball(0, 5, 3), ball(1, 7, 3)
    for f in (mobius_add, exp_at, log_at):
        assert_near(f(x[:, None], y)[3, 4], f(x[3], y[4]), 1e-15)
    assert poincare_distance(x[:, None], y).shape == (5, 7)


def test_distances_of_arrays_are_those_of_tensors() -> None:
    x, y = torch.rand(2, 5, 3, dtype=torch.float64) / 2
    torch.testing.assert_close(poincare_distance(x.numpy(), y.numpy()), poincare_distance(x, y))
