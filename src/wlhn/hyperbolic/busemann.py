"""Busemann functions: how far a point lies in the direction of a point at infinity.

For an ideal point ω (a unit vector) and a point (r, e) in polar form,

    B_ω(r, e) = log(cosh r − sinh r ⟨e, ω⟩) = log(‖ω − x‖² / (1 − ‖x‖²)),  x = tanh(r/2) e

is the limit of d(·, z) − d(0, z) as z goes to ω: the analogue of −⟨x, ω⟩ in Euclidean space. It falls by t along t
units of any geodesic that ends in ω, is constant on the horospheres around it, and has Lipschitz constant 1.

Reference: Bridson & Haefliger, "Metric spaces of non-positive curvature", chapter II.8.
"""

import torch
from torch import Tensor

FAR = 20.0  # r from which on 1 − e⁻²ʳ is 1 to rounding, in float64 too


def busemann(r: Tensor, e: Tensor, ideal: Tensor) -> Tensor:
    """B_ω of all points for all ideal points, whatever r.

    With s = sin²(θ/2) = ‖e − ω‖²/4 it is r + log(e⁻²ʳ + (1 − e⁻²ʳ) s): terms that only add up. What the direction e
    cannot say in its dtype, how close to ω a far point lies, B cannot say either.

    Args:
        r: (rows,) distances from the origin.
        e: (rows, d) unit directions.
        ideal: (k, d) unit vectors.

    Returns:
        (rows, k).

    >>> busemann(torch.tensor([1000.0]), torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
    tensor([[-1000.,  1000.]])
    """
    s = (torch.cdist(e, ideal, compute_mode="donot_use_mm_for_euclid_dist") / 2).square()
    r = r[:, None]
    x = torch.exp(-2 * r.clamp_max(FAR))
    near = torch.log(x + (1 - x) * s)
    tiny = torch.finfo(s.dtype).tiny
    far = torch.logaddexp(-2 * r, torch.where(s > tiny, s.clamp_min(tiny).log(), -torch.inf))
    return r + torch.where(r < FAR, near, far)
