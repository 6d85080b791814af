"""Reflections of the Poincaré ball: the two moves of Sarkar's construction and of DiffHypCon (Algorithm 1, appendix C).

An inversion in a sphere that meets the unit sphere at right angles is the reflection of hyperbolic space in a
hyperplane. For every point c ≠ 0 exactly one of them swaps c and the origin; hyperplanes through the origin give the
ordinary Householder reflections x − 2 (x·q)/(q·q) q.
"""

import torch
from torch import Tensor

from wlhn.hyperbolic.poincare import gap, inside


def unit(v: Tensor) -> Tensor:
    """v/‖v‖ along the last dimension; zero, with gradient zero, where v is zero or so short that 1/‖v‖ might overflow.

    >>> unit(torch.tensor([[3e30, 4e30], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000], [0.0000, 0.0000]])
    """
    scale = v.detach().abs().amax(-1, keepdim=True)
    some = scale > torch.finfo(v.dtype).tiny / torch.finfo(v.dtype).eps
    v = torch.where(some, v, 0) / torch.where(some, scale, 1)  # so that squares neither overflow nor underflow
    return v / torch.where(some, torch.linalg.vector_norm(v, dim=-1, keepdim=True), 1)


def reflect(points: Tensor, center: Tensor) -> Tensor:
    """The isometry that swaps `center` and the origin, applied to `points` (broadcast against each other).

    It is −c ⊕ x mirrored along e = c/‖c‖,

        x ↦ (s c + (1 − ‖c‖²)(t − 2 (t·e) e)) / (s + (1 − ‖c‖²)(1 − ‖x‖²)),  t = x − c,  s = ‖t‖²,

    which is the inversion in the sphere about c/‖c‖². As c → 0 along e this tends to x − 2 (x·e) e, which depends on
    e; at c = 0 exactly it is the identity, and the gradient with respect to the direction e is zero.

    >>> c = torch.tensor([0.5, 0.0])
    >>> reflect(torch.tensor([[0.5, 0.0], [0.0, 0.0], [0.0, 0.5]]), c)
    tensor([[0.0000, 0.0000], [0.5000, 0.0000], [0.5882, 0.3529]])
    """
    e, gap_c = unit(center), gap(center)
    t = points - center
    s = t.square().sum(-1, keepdim=True)
    mirrored = t - 2 * (t * e).sum(-1, keepdim=True) * e
    return inside((s * center + gap_c * mirrored) / (s + gap_c * gap(points)))


def reflect_through_zero(points: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """The Householder reflection that takes the direction of `source` to the direction of `target`.

    x ↦ x − 2 (x·q)/(q·q) q,  q = source/‖source‖ − target/‖target‖

    Where the two directions agree to rounding, or one of them is zero, it is the identity.

    >>> reflect_through_zero(torch.tensor([0.3, 0.4]), torch.tensor([2.0, 0.0]), torch.tensor([0.0, 1.0]))
    tensor([0.4000, 0.3000])
    """
    a, b = unit(source), unit(target)
    q, m = a - b, a + b
    # q ⊥ m for exact unit vectors. Rounding tilts a short q towards m, by eps/‖q‖, and source would miss target by as
    # much: straighten it. (The longer of the two, at least √2, divides; for a zero vector m = ±q, and nothing is left.)
    q = q - (q * m).sum(-1, keepdim=True) / _square(m).maximum(_square(q)).clamp_min(0.5) * m
    apart = _square(q) > (4 * torch.finfo(q.dtype).eps) ** 2
    q = torch.where(apart, q, 0)
    return points - 2 * (points * q).sum(-1, keepdim=True) / torch.where(apart, _square(q), 1) * q


def _square(v: Tensor) -> Tensor:
    return v.square().sum(-1, keepdim=True)
