"""The Poincaré ball: hyperbolic space of curvature −1 on the open unit ball.

A point is a vector of length below 1 along the last dimension; all functions broadcast over the leading ones. The
metric at x is the Euclidean one times λ_x², λ_x = 2/(1 − ‖x‖²), and ⊕ is Möbius addition (paper, section 3; Ganea et
al., "Hyperbolic neural networks", NeurIPS 2018).

Convention: exp_0(v) = tanh(‖v‖) v/‖v‖ and log_0(x) = artanh(‖x‖) x/‖x‖, as in the paper. The metric length of log_0(x)
at the origin, where λ_0 = 2, is the hyperbolic distance r = 2 artanh‖x‖, so for a point at distance r in the unit
direction e, log_0 = (r/2) e. The model's readout uses this.

Precision: formulas here add positive terms, so results are those of points moved by a few rounding errors eps of the
dtype. Such a move is a hyperbolic distance of eps λ_x: the ball itself is coarse near its boundary. A point that
rounding has put on the unit sphere counts as the last one inside, 1 − ‖x‖² = eps/2, at distance log(8/eps) from the
origin (18 in float32, 38 in float64); values and gradients stay finite there. Deeper points need the polar form.
"""

import torch
from numpy.typing import ArrayLike
from torch import Tensor


def gap(x: Tensor) -> Tensor:
    """1 − ‖x‖² (..., 1), at least eps/2, the smallest positive value that 1 − s takes in the dtype.

    >>> gap(torch.tensor([[0.6, 0.0], [0.6, 0.8]]))
    tensor([[6.4000e-01], [5.9605e-08]])
    """
    return (1 - x.square().sum(-1, keepdim=True)).clamp_min(torch.finfo(x.dtype).eps / 2)


def length(v: Tensor) -> Tensor:
    """‖v‖ (..., 1), also where the squares overflow or underflow; its gradient at zero is zero.

    >>> length(torch.tensor([3e30, 4e30]))
    tensor([5.0000e+30])
    """
    scale = v.detach().abs().amax(-1, keepdim=True).clamp_min(torch.finfo(v.dtype).tiny)
    return scale * torch.linalg.vector_norm(v / scale, dim=-1, keepdim=True)


def nonzero(n: Tensor) -> Tensor:
    """n ≥ 0, lifted to eps: below it tanh(n)/n, arsinh(n)/n and their like are 1 to rounding, with derivative 0."""
    return n.clamp_min(torch.finfo(n.dtype).eps)


def inside(x: Tensor) -> Tensor:
    """x, moved radially to the unit sphere where rounding has carried it beyond.

    >>> inside(torch.tensor([[0.3, 0.4], [3.0, 4.0]]))
    tensor([[0.3000, 0.4000], [0.6000, 0.8000]])
    """
    return x / length(x).clamp_min(1)


def conformal_factor(x: Tensor) -> Tensor:
    """λ_x = 2/(1 − ‖x‖²), the ratio of hyperbolic to Euclidean lengths at x.

    >>> conformal_factor(torch.tensor([[0.0, 0.0], [0.6, 0.0]]))
    tensor([2.0000, 3.1250])
    """
    return 2 / gap(x).squeeze(-1)


def poincare_distance(x: Tensor | ArrayLike, y: Tensor | ArrayLike) -> Tensor:
    """d(x, y) = 2 arsinh(‖x − y‖ / √((1 − ‖x‖²)(1 − ‖y‖²))): the paper's arcosh, exact for near points too.

    Points are tensors, or what torch makes tensors of, as NumPy arrays.

    >>> poincare_distance(torch.zeros(2), torch.tensor([0.6, 0.8]) * torch.tensor(0.5).tanh())
    tensor(1.0000)
    """
    return 2 * _sinh_half_distance(torch.as_tensor(x), torch.as_tensor(y)).asinh().squeeze(-1)


def mobius_add(x: Tensor, y: Tensor) -> Tensor:
    """x ⊕ y, the hyperbolic translation of y that takes the origin to x.

    x ⊕ y = (s x + (1 − ‖x‖²)(x + y)) / (s + (1 − ‖x‖²)(1 − ‖y‖²)),  s = ‖x + y‖²

    >>> mobius_add(torch.tensor([0.5, 0.0]), torch.tensor([0.5, 0.0]))
    tensor([0.8000, 0.0000])
    """
    # The paper's fraction with 1 + 2⟨x, y⟩ + ‖y‖² = s + (1 − ‖x‖²): nothing cancels where y is close to −x.
    t, gap_x = x + y, gap(x)
    s = t.square().sum(-1, keepdim=True)
    return inside((s * x + gap_x * t) / (s + gap_x * gap(y)))


def mobius_matvec(M: Tensor, x: Tensor) -> Tensor:
    """M ⊗ x = exp_0(M log_0(x)): the matrix M (out, in) acts in the tangent space at the origin.

    >>> mobius_matvec(2 * torch.eye(2), torch.tensor([0.5, 0.0]))  # twice as far from the origin
    tensor([0.8000, 0.0000])
    """
    return exp0(log0(x) @ M.mT)


def mobius_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """(weight ⊗ x) ⊕ bias, the hyperbolic linear layer; weight is (out, in), bias a point of the ball.

    >>> mobius_linear(torch.tensor([0.5, 0.0]), torch.eye(2), torch.tensor([-0.5, 0.0]))
    tensor([0., 0.])
    """
    y = mobius_matvec(weight, x)
    return y if bias is None else mobius_add(y, bias)


def exp0(v: Tensor) -> Tensor:
    """exp_0(v) = tanh(‖v‖) v/‖v‖, the point at hyperbolic distance 2‖v‖ in the direction of v.

    >>> exp0(torch.tensor([[0.0, 0.0], [0.0, 1.0]]))
    tensor([[0.0000, 0.0000], [0.0000, 0.7616]])
    """
    n = nonzero(length(v))
    return n.tanh() / n * v


def log0(x: Tensor) -> Tensor:
    """log_0(x) = artanh(‖x‖) x/‖x‖, the inverse of exp_0.

    >>> log0(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.5493])
    """
    n = nonzero(length(x))
    return (2 * n / gap(x)).asinh() / (2 * n) * x  # artanh n = ½ arsinh(2n/(1 − n²))


def exp_at(x: Tensor, v: Tensor) -> Tensor:
    """exp_x(v) = x ⊕ tanh(λ_x‖v‖/2) v/‖v‖: where the geodesic from x with velocity v is at time 1.

    >>> x, v = torch.tensor([0.5, 0.0]), torch.tensor([0.0, 0.2])
    >>> poincare_distance(x, exp_at(x, v)), conformal_factor(x) * v.norm()
    (tensor(0.5333), tensor(0.5333))
    """
    return mobius_add(x, exp0(v / gap(x)))


def log_at(x: Tensor, y: Tensor) -> Tensor:
    """log_x(y) = (2/λ_x) artanh(‖−x ⊕ y‖) (−x ⊕ y)/‖−x ⊕ y‖, the inverse of exp_x.

    >>> x, y = torch.tensor([0.5, 0.0]), torch.tensor([0.3, 0.4])
    >>> exp_at(x, log_at(x, y))
    tensor([0.3000, 0.4000])
    """
    z = nonzero(_sinh_half_distance(x, y))
    t = y - x
    w = gap(x) * t - t.square().sum(-1, keepdim=True) * x  # −x ⊕ y without its denominator
    return z.asinh() / z / (1 + z.square()).sqrt() / gap(y) * w


def _sinh_half_distance(x: Tensor, y: Tensor) -> Tensor:
    return length(x - y) / (gap(x) * gap(y)).sqrt()
