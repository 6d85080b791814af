"""Hyperbolic geometry as pure functions on tensors (curvature −1, coordinates along the last dimension).

Trainable layers are in `wlhn.hyperbolic.mlr`, not imported here: they bring geoopt, which takes a second to load.
"""

from wlhn.hyperbolic.lorentz import (
    from_poincare,
    lorentz_distance,
    lorentz_exp0,
    lorentz_exp_at,
    lorentz_log0,
    lorentz_log_at,
    minkowski_inner,
    project_to_hyperboloid,
    to_poincare,
)
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
    "from_poincare",
    "log0",
    "log_at",
    "lorentz_distance",
    "lorentz_exp0",
    "lorentz_exp_at",
    "lorentz_log0",
    "lorentz_log_at",
    "minkowski_inner",
    "mobius_add",
    "mobius_linear",
    "mobius_matvec",
    "poincare_distance",
    "project_to_hyperboloid",
    "reflect",
    "reflect_through_zero",
    "to_poincare",
]
