"""The Lorentz model: hyperbolic space of curvature −1 as the sheet ⟨x, x⟩ = −1, x_0 > 0 of a hyperboloid.

⟨x, y⟩ = −x_0 y_0 + x_1 y_1 + … + x_d y_d is the Minkowski product. A point has d + 1 coordinates along the last
dimension, time x_0 = cosh r first, then space x' = sinh(r) e, for distance r and direction e from the origin
(1, 0, …, 0); functions broadcast over the leading dimensions. Tangent vectors at x are those with ⟨x, v⟩ = 0, and
√⟨v, v⟩ is their metric length: there is no factor λ here, so exp_0 of the ball with v is exp_0 of this module with 2v.

Reference: Nickel & Kiela, "Learning continuous hierarchies in the Lorentz model", ICML 2018.

Precision: ⟨x − y, x − y⟩ and ⟨v, v⟩ are small differences of large squares. Read in the ball, at x'/(1 + x_0) with
λ_x = 1 + x_0, they are Euclidean lengths, and results are those of points moved by a few rounding errors. Coordinates
grow like e^r; exp goes no further than r = ½ log max of the dtype (44 in float32, 355 in float64), where their squares
still exist.
"""

import math

import torch
from torch import Tensor

from wlhn.hyperbolic.poincare import gap, length, nonzero


def minkowski_inner(x: Tensor, y: Tensor) -> Tensor:
    """⟨x, y⟩ = −x_0 y_0 + Σ x_i y_i.

    >>> x = torch.tensor([5 / 4, 3 / 4])
    >>> minkowski_inner(x, x)
    tensor(-1.)
    """
    return (x[..., 1:] * y[..., 1:]).sum(-1) - x[..., 0] * y[..., 0]


def lorentz_distance(x: Tensor, y: Tensor) -> Tensor:
    """d(x, y) = arcosh(−⟨x, y⟩) = 2 arsinh(½ ‖k x' − y'/k‖),  k² = (1 + y_0)/(1 + x_0).

    >>> lorentz_distance(torch.tensor([1.0, 0.0]), torch.tensor([math.cosh(1.5), math.sinh(1.5)]))
    tensor(1.5000)
    """
    return 2 * _sinh_half_distance(x, y).asinh().squeeze(-1)


def lorentz_exp0(v: Tensor) -> Tensor:
    """exp_0(v) = (cosh‖v'‖, sinh‖v'‖ v'/‖v'‖) for a tangent vector v = (0, v') at the origin.

    >>> lorentz_exp0(torch.tensor([0.0, 0.0, 1.0]))
    tensor([1.5431, 0.0000, 1.1752])
    """
    n = nonzero(length(v[..., 1:]))
    return _point(_reachable(n).sinh() / n * v[..., 1:])


def lorentz_log0(x: Tensor) -> Tensor:
    """log_0(x) = (0, arsinh‖x'‖ x'/‖x'‖), the inverse of exp_0.

    >>> lorentz_log0(torch.tensor([math.cosh(1.5), 0.0, math.sinh(1.5)]))
    tensor([0.0000, 0.0000, 1.5000])
    """
    n = nonzero(length(x[..., 1:]))
    return torch.nn.functional.pad(n.asinh() / n * x[..., 1:], (1, 0))


def lorentz_exp_at(x: Tensor, v: Tensor) -> Tensor:
    """exp_x(v) = cosh(n) x + sinh(n)/n v,  n = √⟨v, v⟩ = ‖v' − v_0 x'/(1 + x_0)‖.

    >>> lorentz_exp_at(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 1.0]))
    tensor([1.5431, 0.0000, 1.1752])
    """
    n = nonzero(length(v[..., 1:] - v[..., :1] / (1 + x[..., :1]) * x[..., 1:]))
    far = _reachable(n)
    return _point(far.cosh() * x[..., 1:] + far.sinh() / n * v[..., 1:])


def lorentz_log_at(x: Tensor, y: Tensor) -> Tensor:
    """log_x(y) = d/sinh d (y − cosh d x) = d/sinh d (y − x) − d tanh(d/2) x, the inverse of exp_x.

    >>> lorentz_log_at(torch.tensor([5 / 4, 3 / 4]), torch.tensor([1.0, 0.0]))
    tensor([-0.5199, -0.8664])
    """
    z = _sinh_half_distance(x, y)
    half, n = z.asinh(), nonzero(z)
    return n.asinh() / n / torch.hypot(z.new_ones(()), z) * (y - x) - 2 * half * half.tanh() * x


def project_to_hyperboloid(x: Tensor) -> Tensor:
    """The point with the same space coordinates: x_0 = √(1 + ‖x'‖²).

    >>> project_to_hyperboloid(torch.tensor([9.0, 3.0, 4.0])) ** 2
    tensor([26.,  9., 16.])
    """
    return _point(x[..., 1:])


def to_poincare(x: Tensor) -> Tensor:
    """x'/(1 + x_0), the stereographic projection to the ball.

    >>> to_poincare(torch.tensor([math.cosh(2), math.sinh(2)])), math.tanh(1)
    (tensor([0.7616]), 0.76159...)
    """
    return x[..., 1:] / (1 + x[..., :1])


def from_poincare(x: Tensor) -> Tensor:
    """(1 + ‖x‖², 2x)/(1 − ‖x‖²), the inverse of `to_poincare`.

    >>> from_poincare(torch.tensor([0.5, 0.0]))
    tensor([1.6667, 1.3333, 0.0000])
    """
    return _point(2 * x / gap(x))


def _sinh_half_distance(x: Tensor, y: Tensor) -> Tensor:
    time_x, time_y, x, y = x[..., :1], y[..., :1], x[..., 1:], y[..., 1:]
    k = ((1 + time_y) / (1 + time_x)).sqrt()
    # Near points: the same in terms of x' − y', which is exact, and x_0 − y_0 = (x' − y')·(x' + y')/(x_0 + y_0).
    difference, total = x - y, x + y
    time_difference = (difference * total / (time_x + time_y)).sum(-1, keepdim=True)
    root = (1 + time_x).sqrt() * (1 + time_y).sqrt()
    near = ((k + 1 / k) * difference - time_difference / root * total) / 2
    alike = (time_x - time_y).abs() < (time_x + time_y) / 4
    return length(torch.where(alike, near, k * x - y / k)) / 2


def _point(space: Tensor) -> Tensor:
    return torch.cat([torch.hypot(space.new_ones(()), length(space)), space], dim=-1)


def _reachable(r: Tensor) -> Tensor:
    return r.clamp_max(math.log(torch.finfo(r.dtype).max) / 2)
