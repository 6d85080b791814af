"""One level of DiffHypCon (the paper's Algorithm 1), in polar form.

For each child with Euclidean representation h and parent (r, e, u): project h to the unit sphere, reflect the sphere so
that w = −(1, …, 1)/√d comes to lie on u, the direction of the parent's own parent, and walk a length τ that way. τ is
one number for all rows, as in the paper, or one for each (`wlhn.hyperbolic.lengths` makes such from h).

The paper is silent on three cases; ours: h = 0 (a dead ReLU) goes straight away from the parent, with zero gradient
for h; u = w needs no reflection; a child that lands on the root is described in `wlhn.hyperbolic.polar.step`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from wlhn.errors import InputError
from wlhn.hyperbolic.poincare import length
from wlhn.hyperbolic.polar import step
from wlhn.loops import levels, parallel, rows


class Points(NamedTuple):
    """Points of one depth: distance from the root, direction from the root, direction of the parent in their frame."""

    r: Tensor  # (n,)
    e: Tensor  # (n, d)
    u: Tensor  # (n, d)


def unit(h: Tensor) -> Tensor:
    """h/‖h‖, of any size, and −w = (1, …, 1)/√d for h = 0.

    >>> unit(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000], [0.7071, 0.7071]])
    """
    if not parallel.compiled_for(h) or h.ndim != 2:
        return unit_reference(h)
    return _Unit.apply(h) if torch.is_grad_enabled() else _unit(h.contiguous())[0]


def unit_reference(h: Tensor) -> Tensor:
    """`unit` in plain torch."""
    dead = _dead(h)
    x = h / h.detach().abs().amax(-1, keepdim=True).clamp_min(1)  # squares of large numbers would overflow
    return torch.where(dead, 1 / math.sqrt(h.shape[-1]), x / torch.where(dead, 1.0, x).norm(dim=-1, keepdim=True))


def norms(h: Tensor) -> Tensor:
    """‖h‖ of each row (rows,), of any size; its gradient at h = 0 is zero.

    >>> norms(torch.tensor([[3e30, 4e30], [0.0, 0.0]]))
    tensor([5.0000e+30, 0.0000e+00])
    """
    return _Norms.apply(h) if parallel.compiled_for(h) else length(h).squeeze(-1)


def _dead(h: Tensor) -> Tensor:
    return (h.detach() ** 2).sum(-1, keepdim=True) < rows.DEAD


def root_level(h: Tensor, tau: Tensor | float) -> Points:
    """Children of the root, which has no parent to turn away from: at distance τ in direction h.

    Args:
        h: (rows, d) features.
        tau: one length, or (rows,).

    >>> root_level(torch.tensor([[0.0, 2.0]]), 1.0).r
    tensor([1.])
    """
    e = unit(h)
    return Points(_lengths(tau, h).expand(len(h)), e, e)


def _lengths(tau: Tensor | float, h: Tensor) -> Tensor:
    tau = torch.as_tensor(tau, dtype=h.dtype, device=h.device)
    if tau.shape not in ((), h.shape[:1]):
        raise InputError(f"tau: expected one length, or {len(h)}, one for each row, found shape {tuple(tau.shape)}")
    return tau


def directions(h: Tensor, u: Tensor) -> Tensor:
    """Directions in the parents' frames: unit(h), reflected so that w comes to lie on u."""
    a = unit_reference(h)
    q = u + 1 / math.sqrt(h.shape[-1])  # u − w
    qq = (q * q).sum(-1, keepdim=True)
    flat = qq <= levels.FLAT
    y = a - torch.where(flat, 0.0, 2 * (q * a).sum(-1, keepdim=True) / torch.where(flat, 1.0, qq)) * q
    return torch.where(_dead(h), -u, y)


def level_reference(h: Tensor, above: Points, parent: Tensor, tau: Tensor | float) -> Points:
    """One level in plain torch: what the compiled one is tested against, and what other devices run."""
    r, e, u = (x[parent] for x in above)
    return Points(*step(r, e, directions(h, u), tau))


def next_level(
    h: Tensor,
    above: Points,
    parent: Tensor,
    tau: Tensor | float,
    child_ptr: Tensor | None = None,
    look_back: bool = True,
) -> Points:
    """Place children below their parents: row i of h below row parent[i] of the level above.

    Args:
        h: (rows, d) features.
        above: the parents, of any number.
        parent: (rows,) which of them.
        tau: one length, or (rows,); its gradient has the same shape.
        child_ptr: (parents + 1,), if children are sorted by parent: those of p are child_ptr[p] … child_ptr[p + 1] − 1.
            With it, on the CPU, compiled loops do the work.
        look_back: without it u may be left empty: the last level needs none.

    >>> above = root_level(torch.eye(2), 1.0)
    >>> next_level(torch.eye(2), above, torch.tensor([0, 1]), 1.0).r
    tensor([1.8814, 1.8814])
    """
    tau = _lengths(tau, h)
    if child_ptr is None or not parallel.compiled_for(h):
        return level_reference(h, above, parent, tau)
    return Points(*_Compiled.apply(h, *above, tau, child_ptr, look_back))


def _unit(h: Tensor) -> tuple[Tensor, Tensor]:
    """(h/‖h‖, 1/‖h‖)."""
    e, scale = torch.empty_like(h), h.new_empty(len(h))
    parallel.over_rows(rows.unit, len(h), 2 * h.numel(), *(x.detach().numpy() for x in (h, e, scale)))
    return e, scale


class _Unit(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor) -> Tensor:
        e, scale = _unit(h.contiguous())
        ctx.save_for_backward(e, scale)
        return e

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        e, scale = ctx.saved_tensors
        out, grad = torch.empty_like(e), grads[0].contiguous()
        parallel.over_rows(rows.unit_back, len(e), 3 * e.numel(), *(x.numpy() for x in (e, scale, grad, out)))
        return out


class _Norms(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor) -> Tensor:
        h = h.contiguous()
        out = h.new_empty(len(h))
        parallel.over_rows(rows.norms, len(h), h.numel(), h.detach().numpy(), out.numpy())
        ctx.save_for_backward(h, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        h, norm = ctx.saved_tensors
        out, grad = torch.empty_like(h), grads[0].contiguous()
        parallel.over_rows(rows.norms_back, len(h), 2 * h.numel(), *(x.numpy() for x in (h, norm, grad, out)))
        return out


class Kept(NamedTuple):
    """What the way back through a level needs beside its tensors."""

    constants: tuple[Any, Any]
    scalars: Any
    tau_shape: torch.Size


def place(
    h: Tensor, above: Points, tau: Tensor, child_ptr: Tensor, look_back: bool, relu: bool = False
) -> tuple[tuple[Tensor, ...], Kept]:
    """r, e and u of children, from contiguous tensors; with `relu` after h has become max(h, 0), in its place."""
    n, d = h.shape
    out = h.new_empty(n), h.new_empty(n, d), h.new_empty(n if look_back else 0, d)
    lengths = levels.hyperbolic(tau.detach().reshape(-1).contiguous().numpy())
    kept = Kept((lengths, child_ptr.numpy()), np.empty((n, 3)), tau.shape)
    given, made = [x.detach().numpy() for x in (h, *above)], [x.numpy() for x in out]
    parallel.over_rows(levels.forward, len(given[1]), 8 * n * d, *given, *kept.constants, relu, *made, kept.scalars)
    return out, kept


def place_back(
    h: Tensor, above: Points, kept: Kept, grads: tuple[Tensor, ...], needs_tau: bool
) -> tuple[Tensor | None, ...]:
    """Gradients of h, r, e, u and τ, from those of the children's r, e and u."""
    given = h, *above
    out = [*[torch.empty_like(x) for x in given], h.new_empty(h.shape[0])]
    args = *[x.detach().numpy() for x in given], *kept.constants, kept.scalars, *[g.contiguous().numpy() for g in grads]
    parallel.over_rows(levels.backward, len(args[1]), 16 * args[0].size, *args, *[x.numpy() for x in out])
    return *out[:4], out[4].sum_to_size(kept.tau_shape) if needs_tau else None


class _Compiled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, h: Tensor, r: Tensor, e: Tensor, u: Tensor, tau: Tensor, child_ptr: Tensor, look_back: bool
    ) -> Any:
        h, *above = (x.contiguous() for x in (h, r, e, u))
        out, ctx.kept = place(h, Points(*above), tau, child_ptr, look_back)
        ctx.save_for_backward(h, *above)
        if not look_back:
            ctx.mark_non_differentiable(out[2])
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        h, *above = ctx.saved_tensors
        return *place_back(h, Points(*above), ctx.kept, grads, ctx.needs_input_grad[4]), None, None
