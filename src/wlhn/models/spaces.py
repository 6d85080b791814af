"""Two models of hyperbolic space as HGCN uses them: the Poincaré ball and the hyperboloid, both of curvature −1.

Points are the model's own coordinates (d in the ball, d + 1 on the hyperboloid); tangent vectors at the origin have d
coordinates in both. Curvature −c needs no maps of its own: it is this space with lengths multiplied by √c. The two
models are isometric, with one difference of convention: exp_0(v) lies at distance 2‖v‖ in the ball and at distance ‖v‖
on the hyperboloid, as in `wlhn.hyperbolic` and geoopt.

Points stay within a distance `FARTHEST` of the origin. Coordinates are of the order e^r on the hyperboloid and 1 − e^−r
in the ball, so float32 tells points at distance r apart to about e^r · 1e-7: 0.02 there, and nothing 5 further out.
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
    mobius_add,
)
from wlhn.hyperbolic.poincare import length, nonzero

FARTHEST = 12.0


@dataclass(frozen=True)
class Space:
    """Maps between points and tangent vectors.

    >>> v = torch.tensor([0.3, 0.4])
    >>> POINCARE.log0(POINCARE.exp0(v)), HYPERBOLOID.log0(HYPERBOLOID.exp0(v))
    (tensor([0.3000, 0.4000]), tensor([0.3000, 0.4000]))
    """

    longest: float  # vector at the origin whose point is FARTHEST away
    exp0: Callable[[Tensor], Tensor]  # vector at the origin → point
    log0: Callable[[Tensor], Tensor]
    translate: Callable[[Tensor, Tensor], Tensor]  # (x, v) → exp_x of v, carried from the origin to x: x ⊕ exp_0(v)
    exp_at: Callable[[Tensor, Tensor], Tensor]  # (x, vector at x) → point
    log_at: Callable[[Tensor, Tensor], Tensor]  # (x, y) → vector at x

    def bounded(self, v: Tensor) -> Tensor:
        """v, shortened where its point would lie too far out.

        >>> POINCARE.bounded(torch.tensor([[0.3, 0.4], [30.0, 40.0]]))
        tensor([[0.3000, 0.4000], [3.6000, 4.8000]])
        """
        return v * (self.longest / nonzero(length(v))).clamp_max(1)


def transport_from_origin(x: Tensor, v: Tensor) -> Tensor:
    """A vector v at the hyperboloid's origin, carried along the geodesic to x: (x'·v, v + x'·v/(1 + x_0) x').

    >>> transport_from_origin(torch.tensor([5 / 4, 3 / 4, 0]), torch.tensor([1.0, 2.0]))
    tensor([0.7500, 1.2500, 2.0000])
    """
    time, space = x[..., :1], x[..., 1:]
    product = (space * v).sum(-1, keepdim=True)
    return torch.cat([product, v + product / (1 + time) * space], dim=-1)


POINCARE = Space(
    longest=FARTHEST / 2,
    exp0=exp0,
    log0=log0,
    translate=lambda x, v: mobius_add(x, exp0(v)),
    exp_at=exp_at,
    log_at=log_at,
)
HYPERBOLOID = Space(
    longest=FARTHEST,
    exp0=lambda v: lorentz_exp0(F.pad(v, (1, 0))),
    log0=lambda x: lorentz_log0(x)[..., 1:],
    translate=lambda x, v: lorentz_exp_at(x, transport_from_origin(x, v)),
    exp_at=lorentz_exp_at,
    log_at=lorentz_log_at,
)
