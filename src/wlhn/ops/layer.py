"""A whole layer of WLHN as one operation: the GIN features of a depth's colours, and their points below their parents.

What `wlhn.ops.gin` and `wlhn.ops.level` do one after the other, with the same numbers. One node of the autograd graph
instead of two and the sum of their gradients: the ReLU of the features is taken where the level reads them, and on the
way back their two gradients are added where that ReLU is undone. Lengths that depend on the features are a small graph
of their own, of one number a row, inside the node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from wlhn.batching.colour_batch import ColourLevel
from wlhn.loops import parallel
from wlhn.loops import rows as row_loops
from wlhn.ops import gin, level
from wlhn.ops.gin import Moments, Plan, Weights
from wlhn.ops.level import Points, level_reference, norms
from wlhn.ops.sums import Everyone, alone

Lengths = Callable[[Tensor, Tensor], Tensor]  # (‖h‖ of each row, τ) → lengths (rows,)


class Below(NamedTuple):
    """Where the points of a layer are to be: below these parents, at this distance."""

    above: Points
    tau: Tensor  # one length
    look_back: bool = True  # without it u may be left empty
    lengths: Lengths | None = None  # of each row; without it τ for all


def layer(
    x: Tensor,
    weights: Weights,
    colours: ColourLevel,
    below: Below,
    epsilon: Tensor | float = 0.0,
    eps: float = 1e-5,
    running: Moments | None = None,
    everyone: Everyone = alone,
) -> tuple[Tensor, Points, Moments]:
    """`wlhn.ops.gin.gin`, and `wlhn.ops.level.next_level` of its features."""
    learned = epsilon.to(x) if isinstance(epsilon, Tensor) and epsilon.requires_grad else float(epsilon)
    plan = Plan(colours, colours.weight, running, eps, everyone)
    if not parallel.compiled_for(x):
        h, moments = gin.gin_reference(x, 1 + learned, weights, plan)
        tau = below.tau if below.lengths is None else below.lengths(norms(h), below.tau)
        return h, level_reference(h, below.above, colours.parent, tau), moments
    if not torch.is_grad_enabled():  # a node of the graph costs as much as a small layer
        made = _compute(x, 1 + learned, weights, plan, below, keep_sums=False, keep_graph=False)
        return made.h, Points(*made.points), made.moments
    h, r, e, u, *found = _Layer.apply(x, 1 + learned, *weights, *below.above, below.tau, plan, *below[2:])
    return h, Points(r, e, u), running or Moments(*found)


class _Made(NamedTuple):
    """What a layer gives, and what its way back needs."""

    h: Tensor
    points: tuple[Tensor, ...]
    moments: Moments
    tensors: tuple[Tensor | None, ...]
    of_features: gin.Kept
    of_points: level.Kept
    of_lengths: tuple[Tensor, Tensor, Tensor] | None  # the lengths, with ‖h‖ and τ that they were made from


def _compute(
    x: Tensor, scale: Tensor | float, weights: Weights, plan: Plan, below: Below, keep_sums: bool, keep_graph: bool
) -> _Made:
    assert plan.level is not None
    h, moments, tensors, of_features = gin.features(x, scale, weights, plan, keep_sums)
    above = Points(*(tensor.contiguous() for tensor in below.above))
    tau, of_lengths = below.tau, None
    if below.lengths is not None:
        norm, rows = h.new_empty(len(h)), h.detach().numpy()
        parallel.over_rows(row_loops.relu_norms, len(h), 2 * h.numel(), rows, norm.numpy())
        with torch.set_grad_enabled(keep_graph):
            norm, tau = norm.requires_grad_(keep_graph), tau.detach().requires_grad_(keep_graph and tau.requires_grad)
            of_lengths = below.lengths(norm, tau), norm, tau
        tau = of_lengths[0]
    relu = below.lengths is None
    points, of_points = level.place(h, above, tau, plan.level.child_ptr, below.look_back, relu)
    return _Made(h, points, moments, (*tensors, h, *above), of_features, of_points, of_lengths)


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor | float, *rest: Any) -> Any:
        *weights, r, e, u, tau, plan, look_back, lengths = rest
        below = Below(Points(r, e, u), tau, look_back, lengths)
        h, points, moments, tensors, ctx.of_features, ctx.of_points, ctx.of_lengths = _compute(
            x, scale, Weights(*weights), plan, below, ctx.needs_input_grad[1], keep_graph=True
        )
        ctx.save_for_backward(*tensors)
        ctx.set_materialize_grads(False)
        ctx.look_back = look_back
        if not look_back:
            ctx.mark_non_differentiable(points[2])
        if plan.running is not None:
            return h, *points
        ctx.mark_non_differentiable(moments.mean, moments.var)
        return h, *points, *moments

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        *tensors, h, r, e, u = ctx.saved_tensors
        rows, more = h.numpy(), grads[0]
        of_points: list[Tensor | None] = [None] * 4
        of_norms = None
        if all(grad is None for grad in grads[:4]):
            return (None,) * len(ctx.needs_input_grad)
        if grads[1] is None and grads[2] is None and grads[3] is None:
            grad = more.clone(memory_format=torch.contiguous_format)
            more = None
        else:
            r_e_u = zip(grads[1:4], ((len(h),), h.shape, (len(h) if ctx.look_back else 0, h.shape[1])), strict=True)
            given = tuple(h.new_zeros(shape) if grad is None else grad for grad, shape in r_e_u)
            needs_tau = ctx.needs_input_grad[11] or ctx.of_lengths is not None
            grad, *of_points = level.place_back(h, Points(r, e, u), ctx.of_points, given, needs_tau)
            if ctx.of_lengths is not None:
                of_norms, of_points[3] = _lengths_back(ctx.of_lengths, of_points[3])
        sums = gin.blocks_of(rows)
        gin.relu_back(rows, grad, more, of_norms, sums)
        of_features = gin.features_back(tuple(tensors), ctx.of_features, grad, sums, ctx.needs_input_grad[0])
        return *of_features, *of_points, None, None, None


def _lengths_back(
    kept: tuple[Tensor, Tensor, Tensor], grad: Tensor | None
) -> tuple[tuple[Tensor, Tensor], Tensor | None]:
    """(‖h‖ with its gradient, that of τ), from that of the lengths."""
    lengths, norm, tau = kept
    wanted = (norm, tau) if tau.requires_grad else (norm,)
    of_norm, *of_tau = torch.autograd.grad(lengths, wanted, grad, retain_graph=True)
    return (norm, of_norm), of_tau[0] if of_tau else None
