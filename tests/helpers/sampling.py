"""Points, references and extremes that the tests of this folder share."""

from collections.abc import Callable

import mpmath
import torch
from mpmath import mpf
from torch import Tensor

mpmath.mp.dps = 80
DTYPES = [torch.float32, torch.float64]


def eps(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).eps


def normal(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def sphere(seed: int, n: int, d: int, dtype: torch.dtype = torch.float64) -> Tensor:
    v = normal(seed, n, d)
    return (v / v.norm(dim=-1, keepdim=True)).to(dtype)


def ball(seed: int, n: int, d: int, dtype: torch.dtype = torch.float64, r: float = 4.0) -> Tensor:
    """n points in random directions, at hyperbolic distances 0 to r from the origin."""
    radius = torch.linspace(0, r, n, dtype=torch.float64)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    return ((radius[order] / 2).tanh()[:, None] * sphere(seed, n, d)).to(dtype)


# The paper's formulas, word for word, in 80 digits.
Vector = list[mpf]


def exact(x: Tensor) -> Vector:
    return [mpf(float(c)) for c in x]


def dot(x: Vector, y: Vector) -> mpf:
    return mpmath.fsum(a * b for a, b in zip(x, y, strict=True))


def combine(a: mpf, x: Vector, b: mpf, y: Vector) -> Vector:
    return [a * s + b * t for s, t in zip(x, y, strict=True)]


def mp_distance(x: Vector, y: Vector) -> mpf:
    t = combine(1, x, -1, y)
    return mpmath.acosh(1 + 2 * dot(t, t) / ((1 - dot(x, x)) * (1 - dot(y, y))))


def mp_add(x: Vector, y: Vector) -> Vector:
    xy, xx, yy = dot(x, y), dot(x, x), dot(y, y)
    den = 1 + 2 * xy + xx * yy
    return combine((1 + 2 * xy + yy) / den, x, (1 - xx) / den, y)


def assert_finite_gradients(f: Callable[..., Tensor], *args: Tensor) -> None:
    """Value and gradients of f at each row of the arguments have no NaN and no infinity."""
    args = tuple(a.clone().requires_grad_() for a in args)
    y = f(*args)
    assert y.isfinite().all(), y
    for seed in range(3):  # several cotangents: one alone may hide 0 · ∞
        weight = normal(seed, *y.shape, dtype=y.dtype)
        for g in torch.autograd.grad((weight * y).sum(), args, retain_graph=True):
            assert g.isfinite().all(), g


def extremes(dtype: torch.dtype) -> Tensor:
    """Ball points where formulas break: zero, underflowing, ordinary, at the boundary, on it, a rounding beyond it."""
    e, f = torch.tensor([0.6, 0.0, 0.8]).to(dtype), torch.tensor([0.0, 1.0, 0.0]).to(dtype)
    tiny, last, beyond = torch.finfo(dtype).tiny, 1 - eps(dtype) / 2, 1 + eps(dtype)
    radii = [0.0, tiny, 1e-30, 1e-10, 0.5, 1 - 1e-7, last, beyond]
    return torch.stack([s * r * u for r in radii for u in (e, f) for s in (1, -1)])


def pairs(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """All pairs of rows, duplicates x = y and opposites x = −y among them."""
    return x.repeat_interleave(len(y), 0), y.repeat(len(x), 1)
