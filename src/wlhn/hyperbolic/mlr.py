"""Hyperbolic layers on the Poincaré ball: multinomial logistic regression and the Möbius linear layer.

Class k has a point p_k of the ball and a normal a_k, a tangent vector at p_k; its logit is the signed hyperbolic
distance of x to the hyperplane through p_k orthogonal to a_k, times the metric length of a_k (Ganea et al.,
"Hyperbolic neural networks", NeurIPS 2018, eq. 24–25). Points are geoopt `ManifoldParameter`s, for
`geoopt.optim.RiemannianAdam`.

Each layer also takes tangent vectors v for points exp_0(v), of any length. What the ball loses near its boundary is
1 − ‖exp_0(v)‖²; from n = ‖v‖ it is known exactly, as 4e^{−2n}/(1 + e^{−2n})². All else is harmless, and the factor
e^{2n} waits outside until an arsinh, which is almost a logarithm, takes it in.
"""

import math

import torch
from torch import Tensor, nn

from wlhn.hyperbolic.poincare import exp0, gap, length, mobius_linear, nonzero
from wlhn.hyperbolic.reflection import unit


def hyperbolic_logits(x: Tensor, p: Tensor, a: Tensor) -> Tensor:
    """Logits (..., K) of points x (..., d) for K hyperplanes through p (K, d) with normals a (K, d).

    λ_p‖a‖ arsinh(2⟨z, a⟩ / ((1 − ‖z‖²)‖a‖)),  z = −p ⊕ x

    >>> p, a = torch.zeros(2, 2), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> hyperbolic_logits(torch.tensor([0.0, 0.5]), p, a)  # λ_0 = 2 times the distance 2 artanh 0.5, above the second
    tensor([0.0000, 2.1972])
    """
    return _logits(x, gap(x), x.new_zeros(()), p, a)


def tangent_logits(v: Tensor, p: Tensor, a: Tensor) -> Tensor:
    """`hyperbolic_logits` of exp_0(v), for v of any length.

    >>> p, a = torch.zeros(2, 2), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> tangent_logits(torch.tensor([0.0, 1000.0]), p, a)  # λ_0 = 2 times the distance 2‖v‖
    tensor([   0., 4000.])
    """
    r = 2 * length(v)
    return _logits(exp0(v), 4 / (1 + torch.exp(-r)).square(), r, p, a)


def tangent_add(v: Tensor, b: Tensor) -> Tensor:
    """log_0(exp_0(v) ⊕ b), for v of any length and a point b of the ball.

    Translated by x = exp_0(v), r = 2‖v‖ from the origin, b lies where sinh(r′) e′ is

        e^r (2e^{−r} b + (‖x + b‖² + 1 − ‖x‖²) sinh(r)e^{−r} v/‖v‖) / (1 − ‖b‖²).

    >>> tangent_add(torch.tensor([0.0, 1000.0]), torch.tensor([0.0, 0.7616]))  # one more
    tensor([   0., 1001.])
    """
    n = nonzero(length(v))
    q, x = torch.exp(-2 * n), exp0(v)
    pull = (x + b).square().sum(-1, keepdim=True) + 4 * q / (1 + q).square()
    w = (2 * q * b - pull * torch.expm1(-4 * n) / (2 * n) * v) / gap(b)
    k = nonzero(length(w))
    return arsinh_scaled(k, 2 * n) / (2 * k) * w


def arsinh_scaled(k: Tensor, r: Tensor) -> Tensor:
    """arsinh(k e^r) for r ≥ 0 of any size. A k below a rounding of 1 counts as one that rounding made.

    >>> arsinh_scaled(torch.tensor([2.0, -2.0, 0.0]), torch.tensor([0.0, 1000.0, 1000.0]))
    tensor([    1.4436, -1001.3863,     0.0000])
    """
    eps = torch.finfo(k.dtype).eps
    far = -1.5 * math.log(eps)  # from here on arsinh(k e^r) = ±(log 2|k| + r) to rounding, if |k| > eps
    return (k * r.clamp_max(far).exp()).asinh() + (r - far).clamp_min(0) * (k / eps).clamp(-1, 1)


def _logits(x: Tensor, height: Tensor, r: Tensor, p: Tensor, a: Tensor) -> Tensor:
    """Logits of ball points x with 1 − ‖x‖² = height e^{−r}; height and r are (..., 1)."""
    rows = x.reshape(-1, x.shape[-1])
    s = torch.cdist(rows, p, compute_mode="donot_use_mm_for_euclid_dist").square().reshape(*x.shape[:-1], len(p))
    e, gap_p = unit(a), gap(p).squeeze(-1)
    p_e = (p * e).sum(-1)
    # −p ⊕ x = (gap_p (x − p) − s p)/D and 1 − ‖−p ⊕ x‖² = gap_x gap_p/D: the common denominator D drops out.
    sinh = 2 * (gap_p * (x @ e.mT - p_e) - s * p_e) / (height * gap_p)  # times e^r
    return 2 * length(a).squeeze(-1) / gap_p * arsinh_scaled(sinh, r)


class HyperbolicMLR(nn.Module):
    """Hyperbolic multinomial logistic regression: points of the ball (..., in_features) to logits (..., num_classes).

    Normals are kept as Euclidean vectors at the origin, a_k = (1 − ‖p_k‖²) a'_k (Ganea et al., section 3.1), so that a
    logit's scale does not depend on p_k. Points start at the origin.

    >>> HyperbolicMLR(3, 2)(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, num_classes: int) -> None:
        super().__init__()
        self.point = _ball_parameter(torch.zeros(num_classes, in_features))
        self.normal = nn.Parameter(nn.init.xavier_uniform_(torch.empty(num_classes, in_features)))

    def forward(self, x: Tensor) -> Tensor:
        return hyperbolic_logits(x, self.point, gap(self.point) * self.normal)

    def tangent(self, v: Tensor) -> Tensor:
        """Logits of exp_0(v)."""
        return tangent_logits(v, self.point, gap(self.point) * self.normal)


class MobiusLinear(nn.Module):
    """x ↦ (weight ⊗ x) ⊕ bias on the ball; the bias, itself a point, starts at the origin.

    >>> MobiusLinear(3, 2)(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(out_features, in_features)))
        self.bias = _ball_parameter(torch.zeros(out_features))

    def forward(self, x: Tensor) -> Tensor:
        return mobius_linear(x, self.weight, self.bias)

    def tangent(self, v: Tensor) -> Tensor:
        """log_0 of what the layer makes of exp_0(v)."""
        return tangent_add(v @ self.weight.mT, self.bias)


def _ball_parameter(start: Tensor) -> nn.Parameter:
    """A trainable point of the ball."""
    import geoopt  # here, because it takes a second to load and only these layers need it

    return geoopt.ManifoldParameter(start, manifold=geoopt.PoincareBall())
