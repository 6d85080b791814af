"""A whole layer of WLHN as one operation: the GIN features of a depth's colours, and their points below their parents.

What `wlhn.ops.gin` and `wlhn.ops.level` do one after the other, with the same numbers. One node of the autograd graph
instead of two and the sum of their gradients: the ReLU of the features is taken where the level reads them, and on the
way back their two gradients are added where that ReLU is undone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from wlhn.batching.colour_batch import ColourLevel
from wlhn.loops import gin as loops
from wlhn.loops import parallel
from wlhn.ops import gin, level
from wlhn.ops.gin import Moments, Plan, Weights
from wlhn.ops.level import Points, level_reference
from wlhn.ops.sums import Everyone, alone


class Below(NamedTuple):
    """Where the points of a layer are to be: below these parents, at this distance."""

    above: Points
    tau: Tensor  # one length
    look_back: bool = True  # without it u may be left empty


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
        return h, level_reference(h, below.above, colours.parent, below.tau), moments
    if not torch.is_grad_enabled():  # a node of the graph costs as much as a small layer
        made = _compute(x, 1 + learned, weights, plan, below, keep_sums=False)
        return made.h, Points(*made.points), made.moments
    h, r, e, u, *found = _Layer.apply(x, 1 + learned, *weights, *below.above, below.tau, plan, below.look_back)
    return h, Points(r, e, u), running or Moments(*found)


class _Made(NamedTuple):
    """What a layer gives, and what its way back needs."""

    h: Tensor
    points: tuple[Tensor, ...]
    moments: Moments
    tensors: tuple[Tensor | None, ...]
    of_features: gin.Kept
    of_points: level.Kept


def _compute(x: Tensor, scale: Tensor | float, weights: Weights, plan: Plan, below: Below, keep_sums: bool) -> _Made:
    assert plan.level is not None
    h, moments, tensors, of_features = gin.features(x, scale, weights, plan, keep_sums)
    above = Points(*(tensor.contiguous() for tensor in below.above))
    points, of_points = level.place(h, above, below.tau, plan.level.child_ptr, below.look_back, relu=True)
    return _Made(h, points, moments, (*tensors, h, *above), of_features, of_points)


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor | float, *rest: Any) -> Any:
        *weights, r, e, u, tau, plan, look_back = rest
        below = Below(Points(r, e, u), tau, look_back)
        h, points, moments, tensors, ctx.of_features, ctx.of_points = _compute(
            x, scale, Weights(*weights), plan, below, ctx.needs_input_grad[1]
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
        if all(grad is None for grad in grads[:4]):
            return (None,) * len(ctx.needs_input_grad)
        if grads[1] is None and grads[2] is None and grads[3] is None:
            grad = more.clone(memory_format=torch.contiguous_format)
            more = None
        else:
            r_e_u = zip(grads[1:4], ((len(h),), h.shape, (len(h) if ctx.look_back else 0, h.shape[1])), strict=True)
            given = tuple(h.new_zeros(shape) if grad is None else grad for grad, shape in r_e_u)
            grad, *of_points = level.place_back(h, Points(r, e, u), ctx.of_points, given, ctx.needs_input_grad[11])
        sums = gin.blocks_of(rows)
        other = np.empty((0, rows.shape[1]), rows.dtype) if more is None else more.contiguous().numpy()
        parallel.over_rows(loops.relu_back, len(sums), 3 * rows.size, rows, other, grad.numpy(), sums)
        of_features = gin.features_back(tuple(tensors), ctx.of_features, grad, sums, ctx.needs_input_grad[0])
        return *of_features, *of_points, None, None
