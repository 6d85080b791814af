"""Hyperbolic geometry as pure functions on tensors (curvature −1, coordinates along the last dimension)."""

from wlhn.hyperbolic.poincare import (
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
from wlhn.hyperbolic.reflection import reflect, reflect_through_zero

__all__ = [
    "conformal_factor",
    "exp0",
    "exp_at",
    "log0",
    "log_at",
    "mobius_add",
    "mobius_linear",
    "mobius_matvec",
    "poincare_distance",
    "reflect",
    "reflect_through_zero",
]
