"""Hyperbolic logistic regression and the Möbius linear layer."""

import geoopt
import geoopt.manifolds.stereographic.math as gmath
import mpmath
import pytest
import torch
from sampling import DTYPES, assert_finite_gradients, ball, dot, eps, exact, extremes, mp_add, normal, sphere

from wlhn.hyperbolic import (
    conformal_factor,
    exp_at,
    from_poincare,
    minkowski_inner,
    mobius_add,
    mobius_matvec,
    poincare_distance,
)
from wlhn.hyperbolic.mlr import (
    HyperbolicMLR,
    MobiusLinear,
    arsinh_scaled,
    hyperbolic_logits,
    tangent_add,
    tangent_logits,
)

law = pytest.mark.parametrize(("seed", "dtype"), [(s, t) for s in range(3) for t in DTYPES])


@pytest.mark.parametrize("seed", range(3))
def test_logits_are_signed_distances(seed: int) -> None:
    """In the Lorentz model the hyperplane is {⟨X, N⟩ = 0} and ⟨X, N⟩ the sinh of the distance; N unit, tangent at P."""
    x, p, a = ball(seed, 30, 4), ball(seed + 10, 5, 4), normal(seed, 5, 4)
    metric_length = conformal_factor(p) * a.norm(dim=-1)
    _, N = torch.func.jvp(from_poincare, (p,), (a,))
    N = N / metric_length[:, None]
    distance = minkowski_inner(from_poincare(x)[:, None], N).asinh()
    torch.testing.assert_close(hyperbolic_logits(x, p, a), metric_length * distance, rtol=1e-10, atol=1e-10)


@law
def test_walking_along_the_normal(seed: int, dtype: torch.dtype) -> None:
    """At exp_p(t a) the distance to the hyperplane is the length of the way, and p itself lies on it."""
    p, a = ball(seed, 6, 3, dtype, r=2), normal(seed, 6, 3, dtype=dtype) / 4
    length = conformal_factor(p) * a.norm(dim=-1)
    for t in (-0.5, 0.0, 1.0):
        logits = hyperbolic_logits(exp_at(p, t * a), p, a).diagonal()
        torch.testing.assert_close(logits, length * (t * length), rtol=1e-3, atol=500 * eps(dtype))
    x = ball(seed + 1, 50, 3, dtype)
    distance = hyperbolic_logits(x, p, a).abs() / length
    assert (distance <= poincare_distance(x[:, None], p) * (1 + 1e-4) + 50 * eps(dtype)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gap", [1e-1, 1e-3, 30.0])
def test_logits_near_the_boundary(gap: float, dtype: torch.dtype) -> None:
    """Ganea et al.'s formula in 80 digits; their float form divides by 1 − ‖−p ⊕ x‖², which is lost there."""
    height = gap if gap < 1 else gap * eps(dtype)
    p, a = torch.cat([ball(1, 2, 3, dtype), 0.999 * sphere(1, 1, 3, dtype)]), normal(2, 3, 3, dtype=dtype)
    near = p[2] + 1e-5 * sphere(3, 4, 3, dtype)
    x = torch.cat([((1 - height) * sphere(0, 8, 3)).to(dtype), near])
    logits = hyperbolic_logits(x, p, a)
    for i in range(len(x)):
        for k in range(len(p)):
            z = mp_add([-c for c in exact(p[k])], exact(x[i]))
            n, norm = exact(a[k]), mpmath.sqrt(dot(exact(a[k]), exact(a[k])))
            scale = 2 * norm / (1 - dot(exact(p[k]), exact(p[k])))
            reference = scale * mpmath.asinh(2 * dot(z, n) / ((1 - dot(z, z)) * norm))
            rounding = eps(dtype) * float(conformal_factor(x[i]) + 20 * conformal_factor(p[k]))
            assert abs(float(logits[i, k]) - reference) <= 4 * rounding * (scale + abs(reference))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0.0, 1e-6, 0.3, 5.0, 40.0, 500.0, 5e3])
def test_tangent_vectors_of_any_length(size: float, dtype: torch.dtype) -> None:
    """Logits of exp_0(v) and log_0(exp_0(v) ⊕ b) by the ball's formulas, with as many digits as the ball needs."""
    v, p, a = size * sphere(0, 3, 3, dtype), ball(1, 3, 3, dtype), normal(2, 3, 3, dtype=dtype)
    logits, moved = tangent_logits(v, p, a), torch.stack([tangent_add(v, b) for b in p], dim=1)
    with mpmath.workdps(80 + round(0.9 * size)):
        for i in range(len(v)):
            n = mpmath.sqrt(dot(exact(v[i]), exact(v[i])))
            x = [c * (mpmath.tanh(n) / n if n else 1) for c in exact(v[i])]
            for k in range(len(p)):
                z, normal_ = mp_add([-c for c in exact(p[k])], x), exact(a[k])
                norm, scale = mpmath.sqrt(dot(normal_, normal_)), 2 / (1 - dot(exact(p[k]), exact(p[k])))
                reference = scale * norm * mpmath.asinh(2 * dot(z, normal_) / ((1 - dot(z, z)) * norm))
                close = 40 * eps(dtype) * (scale + float(abs(reference)))  # 5e-6 of it in float32
                assert abs(float(logits[i, k]) - reference) <= close
                y = mp_add(x, exact(p[k]))
                n_y = mpmath.sqrt(dot(y, y))
                log = [c * (mpmath.atanh(n_y) / n_y if n_y else 1) for c in y]
                error = max(abs(float(c) - d) for c, d in zip(moved[i, k], log, strict=True))
                assert error <= 40 * eps(dtype) * float(scale + abs(mpmath.atanh(n_y)))


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_geoopt(seed: int) -> None:
    x, p, a = ball(seed, 30, 4), ball(seed + 10, 5, 4), normal(seed, 5, 4)
    k = torch.tensor(-1.0, dtype=torch.float64)
    theirs = gmath.dist2plane(x[:, None], p, a, k=k, signed=True, scaled=True) * conformal_factor(p)
    torch.testing.assert_close(hyperbolic_logits(x, p, a), theirs, rtol=1e-9, atol=1e-9)
    layer = MobiusLinear(4, 3).double()
    with torch.no_grad():
        layer.bias.copy_(ball(seed, 2, 3)[1])
    theirs = gmath.mobius_add(gmath.mobius_matvec(layer.weight, x, k=k), layer.bias, k=k)
    torch.testing.assert_close(layer(x), theirs, rtol=1e-10, atol=1e-10)


def test_leading_dimensions() -> None:
    x, p, a = ball(0, 12, 3), ball(1, 5, 3), normal(0, 5, 3)
    logits = hyperbolic_logits(x, p, a)
    assert torch.equal(hyperbolic_logits(x.view(3, 4, 3), p, a), logits.view(3, 4, 5))
    torch.testing.assert_close(hyperbolic_logits(x[7], p, a), logits[7])
    assert hyperbolic_logits(x[:0], p, a).shape == (0, 5)


def test_gradcheck() -> None:
    x, p, a = ball(0, 6, 3), ball(1, 4, 3), normal(0, 4, 3)
    assert torch.autograd.gradcheck(hyperbolic_logits, [t.requires_grad_() for t in (x, p, a)])
    v = torch.cat([torch.zeros(1, 3), normal(3, 4, 3), 300 * normal(4, 2, 3)]).requires_grad_()
    assert torch.autograd.gradcheck(tangent_logits, [v, p, a])
    assert torch.autograd.gradcheck(tangent_add, [v, p[3]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_finite_at_the_extremes(dtype: torch.dtype) -> None:
    x = extremes(dtype)
    a = torch.cat([0 * x[:1], normal(0, len(x) - 1, 3, dtype=dtype)])
    assert_finite_gradients(hyperbolic_logits, x, x, a)
    long = torch.cat([x, *(10.0**k * x[8:10] for k in (0, 1, 2, 4, 10, 30))])
    assert_finite_gradients(tangent_logits, long, x, a)
    for b in x:
        assert_finite_gradients(tangent_add, long, b)
    assert_finite_gradients(
        arsinh_scaled, *(t.to(dtype) for t in torch.tensor([[-1, 0, 1e-30, 1], [1e4, 1e4, 1e4, 0]]))
    )
    for module in (HyperbolicMLR(3, 4), MobiusLinear(3, 4)):
        assert_finite_gradients(module.to(dtype), x)
        assert_finite_gradients(module.tangent, long)
    assert hyperbolic_logits(x * float("nan"), x, a).isnan().all()


def test_normals_live_at_the_origin() -> None:
    """A logit is 2‖a'‖ times the distance wherever its hyperplane passes: moving p does not rescale it."""
    head = HyperbolicMLR(3, 2).double()
    with torch.no_grad():
        head.point.copy_(ball(0, 3, 3)[1:])
    p, a = head.point.detach(), head.normal.detach()
    x = exp_at(p, 0.7 * a / a.norm(dim=-1, keepdim=True) / conformal_factor(p)[:, None])  # 0.7 above each plane
    torch.testing.assert_close(head(x).diagonal(), 2 * a.norm(dim=-1) * 0.7)


def test_trains_with_riemannian_adam() -> None:
    """Two classes on the sides of a hyperplane off the origin: the points have to move there."""
    torch.manual_seed(0)
    x = ball(0, 200, 2, torch.float32, r=3)
    plane, normal_ = torch.tensor([[0.3, 0.0]]), torch.tensor([[1.0, 0.0]])
    label = (hyperbolic_logits(x, plane, normal_)[:, 0] > 0).long()
    assert 20 < label.sum() < 180
    model = torch.nn.Sequential(MobiusLinear(2, 2), HyperbolicMLR(2, 2))
    optimizer = geoopt.optim.RiemannianAdam(model.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), label)
        loss.backward()
        assert all(w.grad is not None and w.grad.isfinite().all() and w.grad.any() for w in model.parameters())
        optimizer.step()
    assert (model(x).argmax(-1) == label).float().mean() > 0.97
    points = [w for w in model.parameters() if isinstance(w, geoopt.ManifoldParameter)]
    assert len(points) == 2
    assert all((w.norm(dim=-1) < 1).all() and w.any() for w in points)


def test_state_moves_between_models() -> None:
    x = ball(0, 10, 3, torch.float32)
    for make in (lambda: HyperbolicMLR(3, 2), lambda: MobiusLinear(3, 2)):
        one, other = make(), make()
        assert not torch.equal(one(x), other(x))
        other.load_state_dict(one.state_dict())
        assert torch.equal(one(x), other(x))
    layer = MobiusLinear(3, 2)
    torch.testing.assert_close(layer(x), mobius_add(mobius_matvec(layer.weight, x), layer.bias))
    assert not layer.bias.any()
