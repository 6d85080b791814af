"""The polar form: points of hyperbolic space as (r, e), distance from the origin and unit direction.

The ball point is tanh(r/2)·e and the paper's log_0 of it is (r/2)·e, so nothing is lost near the boundary, however far
out a point lies. A *frame* at a point p is the inversion that swaps p and the origin (`reflect`); in it, the origin is
seen in direction e, at distance r.

`step` walks from (r, e) a length τ in direction y, given in the frame of (r, e). With c = e·y, C = coth r, s = sinh r,
t = tanh τ and k = 1/cosh τ,

    A = 1 − c t C        B = t/s        D = t C − c        m = 1 − c²
    n = √(D² + k² m) = sinh r′ / (sinh r cosh τ)           (hyperbolic law of cosines)
    e′ = (A − B c)/n · e + B/n · y
    u′ = (D (A − B c) + k (B m + A c))/n² · e + (D B − k A)/n² · y

where u′ is the direction in which the frame of (r′, e′) sees the point it came from. All of it is rational in numbers
that stay harmless for large r and τ; r′ itself follows from log sinh r′ = log n + log sinh r + log cosh τ.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from wlhn.hyperbolic.poincare import length
from wlhn.hyperbolic.reflection import unit

# A step that ends closer to the origin than this ends there: the direction of the origin itself is anyone's choice.
NEAREST = 1e-6


def log_sinh(r: Tensor) -> Tensor:
    """log sinh r for r > 0, of any size.

    >>> log_sinh(torch.tensor([1.0, 1000.0])).tolist()
    [0.161..., 999.30...]
    """
    return r + torch.log(-torch.expm1(-2 * r)) - math.log(2)


def arsinh_exp(x: Tensor) -> Tensor:
    """arsinh(eˣ), the inverse of `log_sinh`."""
    large = x.clamp_min(0)
    return torch.where(
        x > 0, large + torch.log1p(torch.sqrt(1 + torch.exp(-2 * large))), torch.asinh(torch.exp(x.clamp_max(0)))
    )


def step(r: Tensor, e: Tensor, y: Tensor, tau: Tensor | float) -> tuple[Tensor, Tensor, Tensor]:
    """Walk from (r, e) a length τ in direction y of its frame: (r′, e′, u′), u′ pointing back.

    A step that ends on the origin has no direction: it keeps e, looks back along it, and passes no gradient.

    >>> step(torch.tensor(1.0), torch.tensor([1.0, 0.0]), torch.tensor([-1.0, 0.0]), 2.0)  # straight away
    (tensor(3.), tensor([1., 0.]), tensor([1., 0.]))
    """
    tau = torch.as_tensor(tau, dtype=r.dtype, device=r.device)
    t, x = torch.tanh(tau), torch.exp(-tau)
    k, log_cosh = 2 * x / (1 + x * x), tau + torch.log1p(x * x) - math.log(2)
    r = r.clamp_min(NEAREST)
    c = (e * y).sum(-1)
    m = (1 - c * c).clamp_min(0)
    x = torch.exp(-r)
    coth, csch = (1 + x * x) / -torch.expm1(-2 * r), 2 * x / -torch.expm1(-2 * r)
    A, B, D = 1 - c * t * coth, t * csch, t * coth - c
    n2 = D * D + k * k * m
    landed = n2 <= (NEAREST * csch * k) ** 2  # r′ ≤ NEAREST
    n = torch.sqrt(torch.where(landed, 1.0, n2))

    def along(alpha: Tensor, beta: Tensor) -> Tensor:
        direction = alpha[..., None] * e + beta[..., None] * y
        # A unit vector, but for rounding, which must not add up over a thousand steps.
        direction = direction / direction.detach().norm(dim=-1, keepdim=True).clamp_min(NEAREST)
        return torch.where(landed[..., None], e.detach(), direction)

    # log sinh r′ as r and what is added to it: a large r shall be rounded once.
    gain = torch.log(n) + log_cosh + torch.log(-torch.expm1(-2 * r)) - math.log(2)
    size = r + gain
    far = r + (gain + torch.log1p(torch.sqrt(1 + torch.exp(-2 * size.clamp_min(0)))))
    radius = torch.where(landed, NEAREST, torch.where(size > 0, far, torch.asinh(torch.exp(size.clamp_max(0)))))
    back = along((D * (A - B * c) + k * (B * m + A * c)) / (n * n), (D * B - k * A) / (n * n))
    return radius, along((A - B * c) / n, B / n), back


def to_ball(r: Tensor, e: Tensor) -> Tensor:
    """The point of the Poincaré ball.

    >>> to_ball(torch.tensor(2.0), torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    return torch.tanh(r / 2)[..., None] * e


def to_tangent(r: Tensor, e: Tensor) -> Tensor:
    """log_0 in the paper's convention, artanh‖z‖ = r/2 long.

    >>> to_tangent(torch.tensor(2.0), torch.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    return (r / 2)[..., None] * e


def tangent_step(e: Tensor, y: Tensor, tau: Tensor | float) -> Tensor:
    """log of a step's end at its start, carried to the origin along the radius: τ/2 long, however far out it happens.

    The frame of (r, e) is that of parallel transport along the radius, mirrored: there the step y is y − 2⟨y, e⟩ e, and
    a step straight away from the origin, y = −e, is e.

    Args:
        e: (..., d) unit directions of the starting points.
        y: (..., d) unit directions of the steps in their frames, as for `step`.
        tau: their lengths, one or (...).

    >>> tangent_step(torch.tensor([1.0, 0.0]), torch.tensor([-0.6, 0.8]), 2.0)
    tensor([0.6000, 0.8000])
    """
    half = torch.as_tensor(tau, dtype=e.dtype, device=e.device)[..., None] / 2
    return half * (y - 2 * (y * e).sum(-1, keepdim=True) * e)


def from_tangent(v: Tensor) -> tuple[Tensor, Tensor]:
    """(r, e) of exp_0(v), the inverse of `to_tangent`: no vector is too long.

    >>> from_tangent(torch.tensor([0.0, 3e30]))
    (tensor(6.0000e+30), tensor([0., 1.]))
    """
    return 2 * length(v).squeeze(-1), unit(v)


def polar_distance(r1: Tensor, e1: Tensor, r2: Tensor, e2: Tensor) -> Tensor:
    """The distance between two points: sinh²(d/2) = sinh²((r₁ − r₂)/2) + sinh r₁ sinh r₂ ‖e₁ − e₂‖²/4.

    >>> polar_distance(torch.tensor(1.0), torch.tensor([1.0, 0.0]), torch.tensor(2.0), torch.tensor([-1.0, 0.0]))
    tensor(3.)
    """
    return half_angle_distance(r1, r2, (e1 - e2).norm(dim=-1) / 2)


def half_angle_distance(r1: Tensor, r2: Tensor, sin_half: Tensor) -> Tensor:
    """The distance of points at r₁ and r₂, seen from the origin at an angle θ apart, given sin(θ/2)."""
    tiny = torch.finfo(r1.dtype).tiny
    gap = (r1 - r2).abs() / 2
    near = 2 * log_sinh(gap.clamp_min(tiny))
    angle = torch.where(sin_half > 0, 2 * torch.log(sin_half.clamp_min(tiny)), -torch.inf)
    far = log_sinh(r1.clamp_min(tiny)) + log_sinh(r2.clamp_min(tiny)) + angle
    same = (gap == 0) & ((sin_half == 0) | (r1 == 0))
    return torch.where(same, 0, 2 * arsinh_exp(torch.logaddexp(near, far) / 2))
