"""Laws of the reflections: isometric involutions that move what they say they move."""

import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import DTYPES, assert_finite_gradients, ball, combine, dot, eps, exact, extremes, normal, pairs, sphere

from wlhn.hyperbolic import conformal_factor, poincare_distance, reflect, reflect_through_zero
from wlhn.hyperbolic.reflection import unit

law = pytest.mark.parametrize(("seed", "dtype"), [(s, t) for s in range(3) for t in DTYPES])


# The inversion that swaps a centre and the origin


@law
def test_reflect_is_an_isometric_involution_that_swaps_center_and_origin(seed: int, dtype: torch.dtype) -> None:
    x, y, c = (ball(seed + k, 40, 4, dtype, r=3) for k in (0, 10, 20))
    assert (reflect(c, c) == 0).all()
    torch.testing.assert_close(reflect(torch.zeros_like(c), c), c, rtol=0, atol=2 * eps(dtype))
    torch.testing.assert_close(reflect(reflect(x, c), c), x, rtol=0, atol=300 * eps(dtype))
    moved = poincare_distance(reflect(x, c), reflect(y, c))
    torch.testing.assert_close(moved, poincare_distance(x, y), rtol=0, atol=1000 * eps(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("r", [1e-6, 0.1, 3.0, 8.0])
def test_reflect_is_the_inversion(r: float, dtype: torch.dtype) -> None:
    """In the sphere about a = c/‖c‖² of radius² ‖a‖² − 1, in 80 digits; near the boundary and near the centre too."""
    c = (math.tanh(r / 2) * sphere(1, 1, 3)[0]).to(dtype)
    near = c + (1e-2 / conformal_factor(c)) * sphere(2, 1, 3, dtype)
    for x in torch.cat([ball(0, 8, 3, dtype), near, -near]):
        a = [s / dot(exact(c), exact(c)) for s in exact(c)]
        t = combine(1, exact(x), -1, a)
        inverse = combine(1, a, (dot(a, a) - 1) / dot(t, t), t)
        error = combine(1, exact(reflect(x, c)), -1, inverse)
        # A rounding error of x or c moves the image as far in the hyperbolic metric.
        moved = eps(dtype) * (conformal_factor(x) + conformal_factor(c)) / conformal_factor(reflect(x, c))
        assert mpmath.sqrt(dot(error, error)) <= 4 * float(moved) + 4 * eps(dtype)


@law
def test_reflect_at_the_origin(seed: int, dtype: torch.dtype) -> None:
    """The identity at centre zero; along e → 0 the Householder reflection, for centres far below √tiny."""
    x, e = ball(seed, 10, 3, dtype), sphere(seed + 5, 1, 3, dtype)[0]
    assert (reflect(x, 0 * e) == x).all()
    householder = x - 2 * (x @ e)[:, None] * e
    for length in (1e-12, 1e-30):
        torch.testing.assert_close(reflect(x, length * e), householder, rtol=0, atol=1e-11 + 4 * eps(dtype))


# The Householder reflection between two directions


@law
def test_reflect_through_zero_takes_source_to_target(seed: int, dtype: torch.dtype) -> None:
    source, target, x = (normal(seed + k, 40, 5, dtype=dtype) for k in (0, 10, 20))
    small = 10 * eps(dtype)
    torch.testing.assert_close(reflect_through_zero(unit(source), source, target), unit(target), rtol=0, atol=small)
    torch.testing.assert_close(reflect_through_zero(unit(target), source, target), unit(source), rtol=0, atol=small)
    image = reflect_through_zero(x, source, target)
    torch.testing.assert_close(image.norm(dim=-1), x.norm(dim=-1), rtol=small, atol=0)
    torch.testing.assert_close(reflect_through_zero(image, source, target), x, rtol=0, atol=small)
    matrix = reflect_through_zero(torch.eye(5, dtype=dtype), source[0], target[0])
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(5, dtype=dtype), rtol=0, atol=small)
    assert float(torch.linalg.det(matrix)) == pytest.approx(-1, abs=1e-4)


@given(st.integers(0, 10**6), st.floats(-20, 0.3), st.sampled_from([1, -1]), st.sampled_from(DTYPES))
@settings(max_examples=200, deadline=None)
def test_reflect_through_zero_between_close_or_opposite_directions(
    seed: int, exponent: float, sign: int, dtype: torch.dtype
) -> None:
    """Source meets target to rounding however close the two are, also where they differ by rounding alone."""
    source, side = normal(seed, 5, dtype=dtype), normal(seed + 1, 5, dtype=dtype)
    target = sign * 3 * source + 10**exponent * side
    image = reflect_through_zero(unit(source), source, target)
    torch.testing.assert_close(image, unit(target), rtol=0, atol=20 * eps(dtype))


@law
def test_reflect_through_zero_degenerate(seed: int, dtype: torch.dtype) -> None:
    x, e = normal(seed, 40, 3, dtype=dtype), normal(seed + 10, 40, 3, dtype=dtype)
    zero = torch.zeros_like(e)
    for source, target in [(e, e), (e, 2.5 * e), (zero, e), (e, zero), (zero, zero)]:
        assert (reflect_through_zero(x, source, target) == x).all()
    torch.testing.assert_close(reflect_through_zero(unit(e), e, -e), -unit(e), rtol=0, atol=10 * eps(dtype))
    assert_finite_gradients(reflect_through_zero, x, e, -e)


def test_the_move_of_algorithm_1() -> None:
    """Lines 3, 8 and 10–12: children of non-negative features leave at more than 90° from the parent, τ away."""
    tau, d = 1.3, 6
    z_b, z_a = 0.3 * sphere(0, 1, d)[0], 0.6 * sphere(1, 1, d)[0]
    w = -torch.ones(d, dtype=torch.float64) / math.sqrt(d)
    u = reflect(z_b, z_a)
    h = unit(normal(2, 20, d).relu())
    v = reflect_through_zero(h, w, u)
    assert (v @ u <= 1e-15).all()
    z = reflect(math.tanh(tau / 2) * v, z_a)
    torch.testing.assert_close(poincare_distance(z, z_a), torch.full((20,), tau, dtype=torch.float64))
    assert (poincare_distance(z, z_b) > poincare_distance(z_a, z_b)).all()


# Gradients and extremes


def test_gradcheck() -> None:
    x, c, a, b = ball(0, 6, 3), ball(1, 6, 3, r=3) + 0.01, normal(2, 6, 3), normal(3, 6, 3)
    args = [t.requires_grad_() for t in (x, c, a, b)]
    assert torch.autograd.gradcheck(reflect, args[:2])
    assert torch.autograd.gradcheck(reflect_through_zero, [args[0], *args[2:]])
    assert torch.autograd.gradcheck(unit, args[2])
    close = (a + 1e-4 * b).detach().requires_grad_()
    jacobian = torch.autograd.functional.jacobian(lambda t: reflect_through_zero(x, a, t)[0, 0], close)
    assert jacobian.isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_finite_at_the_extremes(dtype: torch.dtype) -> None:
    x, c = pairs(extremes(dtype), extremes(dtype))
    assert_finite_gradients(reflect, x, c)
    assert_finite_gradients(reflect_through_zero, x.flip(0), x, c)
    assert (reflect(x, c).norm(dim=-1) <= 1 + 2 * eps(dtype)).all()
    assert_finite_gradients(unit, 1e30 * extremes(dtype))
    assert reflect(x, c * float("nan")).isnan().all()


def test_broadcasting() -> None:
    x, c = ball(0, 5, 3), ball(1, 7, 3)
    torch.testing.assert_close(reflect(x[:, None], c)[3, 4], reflect(x[3], c[4]))
    assert reflect_through_zero(x[:, None], c, c[0]).shape == (5, 7, 3)
