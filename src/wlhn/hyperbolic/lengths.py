"""Lengths of the tree's edges from the features of the child: what h/‖h‖ forgets.

The paper's algorithm gives every edge the length τ. With n = ‖h‖, the laws here are

    fixed     ℓ = τ
    tanh      tanh(ℓ/2) = tanh(τ/2) tanh n             bounded by τ
    log       ℓ = τ log(1 + n)                         unbounded, slowly
    clipped   tanh(ℓ/2) = tanh(τ/2) min(n, 0.996)      bounded by τ; the child at tanh(τ/2) clip(h), as the authors'
                                                       code had it when it was first published

τ may be a tensor that is learned, another for each depth: a factor of the lengths for `fixed` and `log`, a bound that
moves for the other two. All but `fixed` are 0 at h = 0, with gradient zero there.

If every length is at least `STAR` = τ* = 2 arsinh 1, distance from the root grows with every step, whatever the
(non-negative) features: the bisectors of two edges of lengths ℓ and ℓ′ that meet at a right angle or more are disjoint
as soon as sinh(ℓ/2) sinh(ℓ′/2) ≥ 1. A `floor` of τ* keeps this law for lengths that differ; it is added to them rather
than the lengths cut off at it, so that gradients never vanish.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import torch
from torch import Tensor

from wlhn.options.checks import check_at_least, check_choice

LengthLaw = Literal["fixed", "tanh", "log", "clipped"]
STAR = 2 * math.asinh(1)
CLIP = 0.996


def edge_lengths(norm: Tensor, tau: Tensor | float, law: LengthLaw, floor: float = 0.0) -> Tensor:
    """The length of the edge above each row.

    Args:
        norm: (rows,) ‖h‖ of the features, of any size; `wlhn.ops.level.norms` gives it.
        tau: a positive number; gradients flow to it.
        law: one of the module's four.
        floor: what is added to every length.

    Returns:
        (rows,), or for `fixed` the one number that all rows share.

    >>> norm = torch.tensor([0.0, 0.5, 5e30])
    >>> for law in ("fixed", "tanh", "log", "clipped"):
    ...     print(law, edge_lengths(norm, 2.0, law))
    fixed tensor(2.)
    tanh tensor([0.0000, 0.7353, 2.0000])
    log tensor([  0.0000,   0.8109, 141.3740])
    clipped tensor([0.0000, 0.8020, 1.9856])
    """
    tau = torch.as_tensor(tau, dtype=norm.dtype, device=norm.device)
    check_choice("lengths", law, *get_args(LengthLaw))
    check_at_least("floor", floor, 0)
    match law:
        case "fixed":
            return floor + tau
        case "tanh":
            return floor + _bounded(tau, 2 * norm)
        case "log":
            return floor + tau * torch.log1p(norm)
    return floor + 2 * torch.atanh(torch.tanh(tau / 2) * norm.clamp_max(CLIP))  # clipped


def _bounded(a: Tensor, b: Tensor) -> Tensor:
    """2 artanh(tanh(a/2) tanh(b/2)) for a, b ≥ 0 of any size: a smooth minimum.

    It is log((1 + pq)/(p + q)) of p = e⁻ᵃ and q = e⁻ᵇ, or log(1 + (1 − p)(1 − q)/(p + q)), which suits short ones.
    """
    product = torch.expm1(-a) * torch.expm1(-b)
    top = -torch.logaddexp(-a, -b)  # −log(p + q)
    short = torch.log1p(product * torch.exp(top.clamp_max(1)))
    return torch.where(top < 1, short, top + torch.log(torch.where(top < 1, 1, product) + torch.exp(-top)))


def beside_parent(h: Tensor) -> Tensor:
    """Features whose directions are all at a right angle to the parent: those of the authors' first release.

    There the parent lay on the last axis and the last coordinate of h was set to zero. Here it lies on w, so the rows,
    with that zero, are mirrored so that the last axis comes to lie on w. A construction from mirrored features is
    the mirror image of the one from the features, at every depth. (Whether the parent lay on the positive or on
    the negative half of the axis makes no difference but a mirror image either.)

    Args:
        h: (rows, d).

    Returns:
        (rows, d), as long as h without its last coordinate, and orthogonal to w = −(1, …, 1)/√d.

    >>> beside_parent(torch.tensor([[3.0, 4.0, 7.0]])).sum().abs() < 1e-5
    tensor(True)
    """
    d = h.shape[-1]
    kept = torch.cat([h[..., :-1], torch.zeros_like(h[..., -1:])], dim=-1)
    # The mirror's normal is q = (0, …, 0, 1) − w: q·kept = Σ kept/√d and q·q = 2 + 2/√d.
    q = torch.full_like(h[..., :1, :], 1 / math.sqrt(d))
    q[..., -1] += 1
    along = kept.sum(-1, keepdim=True) / (math.sqrt(d) + 1)  # 2 q·kept / q·q
    return kept - along * q
