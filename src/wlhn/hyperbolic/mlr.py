"""Hyperbolic layers on the Poincaré ball: multinomial logistic regression and the Möbius linear layer.

Class k has a point p_k of the ball and a normal a_k, a tangent vector at p_k; its logit is the signed hyperbolic
distance of x to the hyperplane through p_k orthogonal to a_k, times the metric length of a_k (Ganea et al.,
"Hyperbolic neural networks", NeurIPS 2018, eq. 24–25). Points are geoopt `ManifoldParameter`s, for
`geoopt.optim.RiemannianAdam`.
"""

import geoopt
import torch
from torch import Tensor, nn

from wlhn.hyperbolic.poincare import gap, length, mobius_linear
from wlhn.hyperbolic.reflection import unit


def hyperbolic_logits(x: Tensor, p: Tensor, a: Tensor) -> Tensor:
    """Logits (..., K) of points x (..., d) for K hyperplanes through p (K, d) with normals a (K, d).

    λ_p‖a‖ arsinh(2⟨z, a⟩ / ((1 − ‖z‖²)‖a‖)),  z = −p ⊕ x

    >>> p, a = torch.zeros(2, 2), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> hyperbolic_logits(torch.tensor([0.0, 0.5]), p, a)  # λ_0 = 2 times the distance 2 artanh 0.5, above the second
    tensor([0.0000, 2.1972])
    """
    rows = x.reshape(-1, x.shape[-1])
    s = torch.cdist(rows, p, compute_mode="donot_use_mm_for_euclid_dist").square().reshape(*x.shape[:-1], len(p))
    e, gap_p = unit(a), gap(p).squeeze(-1)
    p_e = (p * e).sum(-1)
    # −p ⊕ x = (gap_p (x − p) − s p)/D and 1 − ‖−p ⊕ x‖² = gap_x gap_p/D: the common denominator D drops out.
    sinh = 2 * (gap_p * (x @ e.mT - p_e) - s * p_e) / (gap(x) * gap_p)
    return 2 * length(a).squeeze(-1) / gap_p * sinh.asinh()


class HyperbolicMLR(nn.Module):
    """Hyperbolic multinomial logistic regression: points of the ball (..., in_features) to logits (..., num_classes).

    Normals are kept as Euclidean vectors at the origin, a_k = (1 − ‖p_k‖²) a'_k (Ganea et al., section 3.1), so that a
    logit's scale does not depend on p_k. Points start at the origin.

    >>> HyperbolicMLR(3, 2)(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, num_classes: int) -> None:
        super().__init__()
        self.point = geoopt.ManifoldParameter(torch.zeros(num_classes, in_features), manifold=geoopt.PoincareBall())
        self.normal = nn.Parameter(torch.empty(num_classes, in_features))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.point)
        nn.init.xavier_uniform_(self.normal)

    def forward(self, x: Tensor) -> Tensor:
        return hyperbolic_logits(x, self.point, gap(self.point) * self.normal)


class MobiusLinear(nn.Module):
    """x ↦ (weight ⊗ x) ⊕ bias on the ball; the bias, itself a point, starts at the origin.

    >>> MobiusLinear(3, 2)(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        self.bias = geoopt.ManifoldParameter(torch.zeros(out_features), manifold=geoopt.PoincareBall())
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.bias)
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return mobius_linear(x, self.weight, self.bias)
