"""Two models of hyperbolic space as HGCN uses them: the Poincaré ball and the hyperboloid, both of curvature −1.

Points are the model's own coordinates (d in the ball, d + 1 on the hyperboloid); tangent vectors at the origin have d
coordinates in both. Curvature −c needs no maps of its own: it is this space with lengths multiplied by √c. The two
models are isometric, with one difference of convention: exp_0(v) lies at distance 2‖v‖ in the ball and at distance ‖v‖
on the hyperboloid, as in `wlhn.hyperbolic` and geoopt.

exp_0 stops at a distance `FARTHEST` from the origin, so sums of two lie within twice that. Coordinates are of the order
e^r on the hyperboloid and 1 − e^−r in the ball, so float32 tells points at distance r apart to about e^r · 1e-7: 0.02
at `FARTHEST`, and nothing 5 further out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from wlhn.hyperbolic import (
    exp0,
    exp_at,
    log0,
    log_at,
    lorentz_exp0,
    lorentz_exp_at,
    lorentz_log0,
    lorentz_log_at,
)
from wlhn.hyperbolic.poincare import length, nonzero
from wlhn.ops.rows import combination, length_and_angle

FARTHEST = 12.0


@dataclass(frozen=True)
class Space:
    """Maps between points and tangent vectors.

    >>> v = torch.tensor([0.3, 0.4])
    >>> POINCARE.log0(POINCARE.exp0(v)), HYPERBOLOID.log0(HYPERBOLOID.exp0(v))
    (tensor([0.3000, 0.4000]), tensor([0.3000, 0.4000]))
    """

    unit: float  # distance from the origin to exp_0 of a unit vector
    exp0: Callable[[Tensor], Tensor]  # vector at the origin → point
    log0: Callable[[Tensor], Tensor]
    exp_at: Callable[[Tensor, Tensor], Tensor]  # (x, vector at x) → point
    log_at: Callable[[Tensor, Tensor], Tensor]  # (x, y) → vector at x

    def bounded(self, v: Tensor) -> Tensor:
        """v, shortened where its point would lie beyond `FARTHEST`.

        >>> POINCARE.bounded(torch.tensor([[0.3, 0.4], [30.0, 40.0]]))
        tensor([[0.3000, 0.4000], [3.6000, 4.8000]])
        """
        return v * (FARTHEST / self.unit / nonzero(length(v))).clamp_max(1)

    def translate(self, v: Tensor, b: Tensor, scale: Tensor | float = 1.0) -> Tensor:
        """log_0(exp_0(v) ⊕ exp_0(b)) in the space of curvature −scale²; exp_0 stops at the distance `FARTHEST`.

        With r, s the distances of the two points, v̂, b̂ their directions and q = 1 + v̂·b̂ = ‖v̂ + b̂‖²/2, the sum on the
        hyperboloid has the coordinates z = a v̂ + sinh(s) b̂ beside its time, where

            a = 2 sinh(r/2) (cosh(s − r/2) + sinh(r/2) sinh(s) q)
            ‖z‖² = (sinh(r − s) + 2 sinh²(r/2) sinh(s) q)² + 2 sinh(s) q a

        and lies at the distance arsinh‖z‖. Vectors of d coordinates take part in v̂ + b̂ and in z alone, all else is
        done with one number for each point. Where terms of opposite signs are added, others outweigh what they lose.

        >>> v, b = torch.tensor([0.3, 0.4]), torch.tensor([0.1, -0.2])
        >>> from wlhn.hyperbolic import mobius_add
        >>> POINCARE.translate(v, b), log0(mobius_add(exp0(v), exp0(b)))
        (tensor([0.3990, 0.2319]), tensor([0.3990, 0.2319]))
        """
        m, unit = nonzero(length(b)), self.unit * scale
        n, q = length_and_angle(v, b / m)
        r, s = (unit * n).clamp_max(FARTHEST), (unit * m).clamp_max(FARTHEST)
        half, sinh = (r / 2).sinh(), s.sinh()
        a = 2 * half * ((s - r / 2).cosh() + half * sinh * q)
        squared = ((r - s).sinh() + 2 * half.square() * sinh * q).square() + 2 * sinh * q * a
        z = squared.clamp_min(torch.finfo(v.dtype).eps ** 2).sqrt()
        stretch = z.asinh() / (unit * z)
        return combination(stretch * a / n, v, stretch * sinh / m, b)


POINCARE = Space(unit=2.0, exp0=exp0, log0=log0, exp_at=exp_at, log_at=log_at)
HYPERBOLOID = Space(
    unit=1.0,
    exp0=lambda v: lorentz_exp0(F.pad(v, (1, 0))),
    log0=lambda x: lorentz_log0(x)[..., 1:],
    exp_at=lorentz_exp_at,
    log_at=lorentz_log_at,
)
