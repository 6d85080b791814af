"""A GIN layer on rows of colours, Linear-ReLU-BatchNorm-Linear-ReLU of counted sums, as one operation.

    a = max(0, W₁ ((1 + ε) x[parent] + A x) + b₁),  h = max(0, W₂ (γ (a − μ)/√(σ² + ε′) + β) + b₂)

with the moments μ, σ² of a, each row weighed by its number of nodes, or with running ones. Three identities save work:

- W₁ comes before the sum instead of after it: there are fewer rows before than after.
- A BatchNorm followed by a Linear is a Linear: with s = γ/√(σ² + ε′), W₂ (s (a − μ) + β) + b₂ = W x + b for
  W = W₂ s and b = b₂ + W₂ (β − s μ). So normalised rows are never written down.
- The gradient of either bias is summed while that of its ReLU is made.

One node of the autograd graph instead of eleven: with the few rows of small data, nodes are what a step consists of.
Moments are those of all rows of a batch, also where several workers have a part of them each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from wlhn.batching.colour_batch import ColourLevel, Counts
from wlhn.loops import gin as loops
from wlhn.loops import parallel
from wlhn.ops.sums import Everyone, alone, product_reference

Array = NDArray[Any]
ONE_EACH: Array = np.empty(0, np.float32)  # weights of rows of one node each
BLOCK = 256  # rows summed together; fixed, so that sums don't depend on the number of threads


class Weights(NamedTuple):
    """Of both Linears, and of BatchNorm between them."""

    w1: Tensor
    b1: Tensor
    gamma: Tensor
    beta: Tensor
    w2: Tensor
    b2: Tensor


class Moments(NamedTuple):
    """Mean and (biased) variance of each column, and of how many nodes."""

    mean: Tensor
    var: Tensor
    nodes: float


class _Plan(NamedTuple):
    """What a layer knows beside its tensors."""

    level: ColourLevel | None
    weight: Tensor | None
    running: Moments | None
    eps: float
    everyone: Everyone


def gin(
    x: Tensor,
    weights: Weights,
    level: ColourLevel,
    epsilon: Tensor | float = 0.0,
    eps: float = 1e-5,
    running: Moments | None = None,
    everyone: Everyone = alone,
) -> tuple[Tensor, Moments]:
    """h and the moments of a, from the rows x of the depth before.

    Args:
        x: (rows before, d) features.
        level: the rows, with their parents and counted neighbours.
        epsilon: GIN's ε.
        eps: what BatchNorm adds to a variance.
        running: moments to take instead of those of these rows.
        everyone: adds up what several workers have.

    >>> from wlhn.batching.colour_batch import Counts
    >>> counts = Counts.from_rows(*(np.array(a) for a in ([0, 1, 1], [1], [2.0])), num_columns=2)
    >>> level = ColourLevel(torch.arange(2), torch.arange(3), counts, None)
    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> gin(torch.tensor([[1.0], [2.0]]), Weights(one[None], zero, one, zero, one[None], one), level)[1].mean
    tensor([3.5000])
    """
    learned = epsilon.to(x) if isinstance(epsilon, Tensor) and epsilon.requires_grad else float(epsilon)
    return _run(x, 1 + learned, weights, _Plan(level, level.weight, running, eps, everyone))


def gin_of_sums(
    total: Tensor,
    weights: Weights,
    weight: Tensor | None,
    eps: float = 1e-5,
    running: Moments | None = None,
    everyone: Everyone = alone,
) -> tuple[Tensor, Moments]:
    """`gin` from sums that are there already, (rows, d), with the number of nodes of each row; None for one each."""
    return _run(total, 1.0, weights, _Plan(None, weight, running, eps, everyone))


def _run(x: Tensor, scale: Tensor | float, weights: Weights, plan: _Plan) -> tuple[Tensor, Moments]:
    if not parallel.compiled_for(x):
        return gin_reference(x, scale, weights, plan)
    h, *moments = _Gin.apply(x, scale, *weights, plan)
    return h, plan.running or Moments(*moments)


def gin_reference(x: Tensor, scale: Tensor | float, weights: Weights, plan: _Plan) -> tuple[Tensor, Moments]:
    """In plain torch, as it is written above."""
    if plan.level is not None:
        x = scale * x[plan.level.parent] + product_reference(plan.level.neighbours, x)
    a = torch.relu(F.linear(x, weights.w1, weights.b1))
    moments = plan.running or _moments_reference(a, plan.weight, plan.everyone)
    normal = weights.gamma * (a - moments.mean) * torch.rsqrt(moments.var + plan.eps) + weights.beta
    detached = Moments(moments.mean.detach(), moments.var.detach(), moments.nodes)
    return torch.relu(F.linear(normal, weights.w2, weights.b2)), detached


def _moments_reference(a: Tensor, weight: Tensor | None, everyone: Everyone) -> Moments:
    share = torch.ones_like(a[:, 0]) if weight is None else weight.to(a.dtype)
    count = everyone(share.sum())
    mean = everyone(share / count @ a)
    return Moments(mean, everyone(share / count @ (a - mean) ** 2), float(count))


class _Gin(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        scale: Tensor | float,
        w1: Tensor,
        b1: Tensor,
        gamma: Tensor,
        beta: Tensor,
        w2: Tensor,
        b2: Tensor,
        plan: _Plan,
    ) -> Any:
        level, weight = plan.level, ONE_EACH if plan.weight is None else plan.weight.numpy()
        if level is None:
            y = F.linear(x, w1, b1)
            a = torch.empty_like(y)
            rows = a.numpy()
            sums = _blocks(rows)
            parallel.over_rows(loops.relu_sums, len(sums), 2 * rows.size, y.numpy(), weight, rows, sums)
        else:
            y = F.linear(x, w1)
            counts, parent = _by_rows(level.neighbours), level.parent.numpy()
            a = y.new_empty(len(parent), y.shape[1])
            rows = a.numpy()
            sums, work = _blocks(rows), (len(counts[1]) + 2 * len(rows)) * rows.shape[1]
            args = float(scale), b1.detach().numpy(), *counts, parent, weight, y.numpy(), rows, sums
            parallel.over_rows(loops.aggregate_relu_sums, len(sums), work, *args)
        mean, var, count = plan.running or _moments(rows, weight, sums, plan.everyone)
        scales, folded = np.empty((4, rows.shape[1]), rows.dtype), torch.empty_like(w2)
        given = [tensor.detach().numpy() for tensor in (mean, var, gamma, beta, w2, folded)]
        loops.fold(plan.eps, scales, *given)
        h = F.linear(a, folded, b2 + w2 @ torch.from_numpy(scales[3])).relu_()
        ctx.save_for_backward(x, w1, gamma, w2, y if ctx.needs_input_grad[1] else None, a, h, folded)
        ctx.scale, ctx.scales, ctx.weight, ctx.count, ctx.plan = float(scale), scales, weight, count, plan
        if plan.running is not None:
            return (h,)
        ctx.mark_non_differentiable(mean, var)
        return h, mean, var, count

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        x, w1, gamma, w2, y, a, h, folded = ctx.saved_tensors
        scales, everyone, level, number = ctx.scales, ctx.plan.everyone, ctx.plan.level, ctx.scales.dtype.type
        grad, features = torch.empty_like(h), h.numpy()
        sums = _blocks(features)
        given = features, grads[0].contiguous().numpy(), grad.numpy(), sums
        parallel.over_rows(loops.relu_back, len(sums), 3 * features.size, *given)
        grad_b2 = _total(sums, features.dtype)
        grad_a, grad_folded, grad_beta, grad_w2 = grad @ folded, grad.T @ a, w2.T @ grad_b2, torch.empty_like(w2)
        folding = gamma.detach(), grad_folded, grad_b2, grad_beta, (grad_folded * w2).sum(0), grad_w2
        of_gamma, of_mean, of_var = loops.fold_back(scales, *[tensor.numpy() for tensor in folding])
        slope = offset = np.zeros_like(of_mean)
        if ctx.plan.running is None:
            if everyone is not alone:
                of_mean, of_var = everyone(torch.from_numpy(np.stack([of_mean, of_var]))).numpy()
            slope = 2 * of_var / number(ctx.count)
            offset = of_mean / number(ctx.count) - slope * scales[0]
        grad, rows = torch.empty_like(a), a.numpy()
        of_a, sums = grad.numpy(), _blocks(rows)
        normalising = rows, ctx.weight, grad_a.numpy(), slope, offset, of_a, sums
        parallel.over_rows(loops.relu_moments_back, len(sums), 3 * rows.size, *normalising)
        grad_b1, grad_scale = _total(sums, rows.dtype), None
        if level is None:
            grad_b1 = grad.sum(0)
        else:
            if y is not None:
                grad_scale = (grad * y[level.parent]).sum()
            counts, child_ptr = _by_columns(level.neighbours), level.child_ptr.numpy()
            grad = a.new_empty(len(child_ptr) - 1, a.shape[1])
            work, args = (len(counts[1]) + len(rows)) * rows.shape[1], (*counts, child_ptr, of_a, grad.numpy())
            parallel.over_rows(loops.aggregate_back, len(child_ptr) - 1, work, ctx.scale, *args)
        grad_x = grad @ w1 if ctx.needs_input_grad[0] else None
        return grad_x, grad_scale, grad.T @ x, grad_b1, torch.from_numpy(of_gamma), grad_beta, grad_w2, grad_b2, None


def _by_rows(counts: Counts) -> tuple[Array, Array, Array]:
    return counts.ptr.numpy(), counts.index.numpy(), counts.value.numpy()


def _by_columns(counts: Counts) -> tuple[Array, Array, Array]:
    return counts.t_ptr.numpy(), counts.t_index.numpy(), counts.t_value.numpy()


def _moments(rows: Array, weight: Array, sums: Array, everyone: Everyone) -> Moments:
    """Of the rows of a, from the sums of its blocks."""
    count = float(weight.sum()) if len(weight) else float(len(rows))
    total = sums.sum(axis=0)
    if everyone is not alone:  # both in one message
        *_, count = both = everyone(torch.from_numpy(np.append(total, count))).numpy()
        total, count = both[:-1], float(count)
    mean, squares = (total / count).astype(rows.dtype), np.zeros_like(sums)
    parallel.over_rows(loops.squared_sums, len(sums), rows.size, rows, weight, mean, squares)
    total = squares.sum(axis=0)
    if everyone is not alone:
        total = everyone(torch.from_numpy(total)).numpy()
    return Moments(torch.from_numpy(mean), torch.from_numpy((total / count).astype(rows.dtype)), count)


def _blocks(rows: Array) -> Array:
    return np.zeros((1 + len(rows) // BLOCK, rows.shape[1]))


def _total(sums: Array, dtype: Any) -> Tensor:
    return torch.from_numpy(sums.sum(axis=0).astype(dtype))
