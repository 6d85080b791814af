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


class Plan(NamedTuple):
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
    return _run(x, 1 + learned, weights, Plan(level, level.weight, running, eps, everyone))


def gin_of_sums(
    total: Tensor,
    weights: Weights,
    weight: Tensor | None,
    eps: float = 1e-5,
    running: Moments | None = None,
    everyone: Everyone = alone,
) -> tuple[Tensor, Moments]:
    """`gin` from sums that are there already, (rows, d), with the number of nodes of each row; None for one each."""
    return _run(total, 1.0, weights, Plan(None, weight, running, eps, everyone))


def _run(x: Tensor, scale: Tensor | float, weights: Weights, plan: Plan) -> tuple[Tensor, Moments]:
    if not parallel.compiled_for(x):
        return gin_reference(x, scale, weights, plan)
    h, *moments = _Gin.apply(x, scale, *weights, plan)
    return h, plan.running or Moments(*moments)


def gin_reference(x: Tensor, scale: Tensor | float, weights: Weights, plan: Plan) -> tuple[Tensor, Moments]:
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


class Kept(NamedTuple):
    """What the way back through a layer needs beside its tensors."""

    plan: Plan
    scale: float
    scales: Array
    weight: Array
    nodes: float  # in the whole batch


def features(
    x: Tensor, scale: Tensor | float, weights: Weights, plan: Plan, keep_sums: bool
) -> tuple[Tensor, Moments, tuple[Tensor | None, ...], Kept]:
    """h before its ReLU, the moments of a, and for `features_back` tensors and the rest."""
    w1, b1, gamma, beta, w2, b2 = weights
    level, weight = plan.level, ONE_EACH if plan.weight is None else plan.weight.numpy()
    if level is None:
        y = F.linear(x, w1, b1)
        a = torch.empty_like(y)
        rows = a.numpy()
        sums = blocks_of(rows)
        parallel.over_rows(loops.relu_sums, len(sums), 2 * rows.size, y.numpy(), weight, rows, sums)
    else:
        y = F.linear(x, w1)
        counts, parent = _by_rows(level.neighbours), level.parent.numpy()
        a = y.new_empty(len(parent), y.shape[1])
        rows = a.numpy()
        sums, work = blocks_of(rows), (len(counts[1]) + 2 * len(rows)) * rows.shape[1]
        args = float(scale), b1.detach().numpy(), *counts, parent, weight, y.numpy(), rows, sums
        parallel.over_rows(loops.aggregate_relu_sums, len(sums), work, *args)
    moments = plan.running or _moments(rows, weight, sums, plan.everyone)
    scales, folded = np.empty((4, rows.shape[1]), rows.dtype), torch.empty_like(w2)
    given = [tensor.detach().numpy() for tensor in (moments.mean, moments.var, gamma, beta, w2, folded)]
    loops.fold(plan.eps, scales, *given)
    h = F.linear(a, folded, b2 + w2 @ torch.from_numpy(scales[3]))
    kept = Kept(plan, float(scale), scales, weight, moments.nodes)
    return h, moments, (x, w1, gamma, w2, y if keep_sums else None, a, folded), kept


def features_back(
    tensors: tuple[Tensor, ...], kept: Kept, grad: Tensor, sums: Array, needs_x: bool
) -> tuple[Tensor | None, ...]:
    """Gradients of x, scale and weights, from that of h before its ReLU and the sums of its rows, block by block."""
    x, w1, gamma, w2, y, a, folded = tensors
    plan, scales, number = kept.plan, kept.scales, kept.scales.dtype.type
    grad_b2 = _total(sums, scales.dtype)
    grad_a, grad_folded, grad_beta, grad_w2 = grad @ folded, grad.T @ a, w2.T @ grad_b2, torch.empty_like(w2)
    folding = gamma.detach(), grad_folded, grad_b2, grad_beta, (grad_folded * w2).sum(0), grad_w2
    count = 0.0 if plan.running else kept.nodes
    of_gamma, of_mean, of_var, slope, shift = loops.fold_back(scales, count, *[tensor.numpy() for tensor in folding])
    if plan.everyone is not alone and plan.running is None:
        of_mean, of_var = plan.everyone(torch.from_numpy(np.stack([of_mean, of_var]))).numpy()
        slope = 2 * of_var / number(count)
        shift = of_mean / number(count) - slope * scales[0]
    rows, of_a = a.numpy(), grad_a.numpy()
    sums = blocks_of(rows)
    given = rows, kept.weight, slope, shift, of_a, sums
    parallel.over_rows(loops.relu_moments_back, len(sums), 3 * rows.size, *given)
    grad_scale = None
    if plan.level is None:
        grad, grad_b1 = grad_a, grad_a.sum(0)
    else:
        grad_b1 = _total(sums, rows.dtype)
        if y is not None:
            grad_scale = (grad_a * y[plan.level.parent]).sum()
        counts, child_ptr = _by_columns(plan.level.neighbours), plan.level.child_ptr.numpy()
        grad = a.new_empty(len(child_ptr) - 1, a.shape[1])
        work, args = (len(counts[1]) + len(rows)) * rows.shape[1], (*counts, child_ptr, of_a, grad.numpy())
        parallel.over_rows(loops.aggregate_back, len(child_ptr) - 1, work, kept.scale, *args)
    grad_x = grad @ w1 if needs_x else None
    return grad_x, grad_scale, grad.T @ x, grad_b1, torch.from_numpy(of_gamma), grad_beta, grad_w2, grad_b2


class _Gin(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor | float, *rest: Any) -> Any:
        *weights, plan = rest
        h, (mean, var, count), tensors, ctx.kept = features(x, scale, Weights(*weights), plan, ctx.needs_input_grad[1])
        ctx.save_for_backward(*tensors, h.relu_())
        if plan.running is not None:
            return (h,)
        ctx.mark_non_differentiable(mean, var)
        return h, mean, var, count

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        *tensors, h = ctx.saved_tensors
        grad, rows = grads[0].clone(memory_format=torch.contiguous_format), h.numpy()
        sums = blocks_of(rows)
        relu_back(rows, grad, None, None, sums)
        return *features_back(tuple(tensors), ctx.kept, grad, sums, ctx.needs_input_grad[0]), None


def _by_rows(counts: Counts) -> tuple[Array, Array, Array]:
    return counts.ptr.numpy(), counts.index.numpy(), counts.value.numpy()


def _by_columns(counts: Counts) -> tuple[Array, Array, Array]:
    return counts.t_ptr.numpy(), counts.t_index.numpy(), counts.t_value.numpy()


def _moments(rows: Array, weight: Array, sums: Array, everyone: Everyone) -> Moments:
    """Of the rows of a, from the sums of its blocks."""
    count = float(weight.sum()) if len(weight) else float(len(rows))
    mean, var = np.empty((2, rows.shape[1]), rows.dtype)
    if everyone is not alone:  # both in one message
        *total, count = everyone(torch.from_numpy(np.append(sums.sum(axis=0), count))).tolist()
        sums = np.array([total])
    loops.mean_of(sums, count, mean)
    squares = blocks_of(rows)
    parallel.over_rows(loops.squared_sums, len(squares), rows.size, rows, weight, mean, squares)
    if everyone is not alone:
        squares = everyone(torch.from_numpy(squares.sum(axis=0))).numpy()[None]
    loops.mean_of(squares, count, var)
    return Moments(torch.from_numpy(mean), torch.from_numpy(var), count)


def relu_back(
    rows: Array, grad: Tensor, more: Tensor | None, of_norms: tuple[Tensor, Tensor] | None, sums: Array
) -> None:
    """Undo a ReLU in place of grad, with what else is given: a gradient from elsewhere; norms of rows, and theirs."""
    other = np.empty((0, rows.shape[1]), rows.dtype) if more is None else more.contiguous().numpy()
    none = rows[:0, 0]
    norm, of_norm = (none, none) if of_norms is None else (x.detach().contiguous().numpy() for x in of_norms)
    args = rows, other, norm, of_norm, grad.numpy(), sums
    parallel.over_rows(loops.relu_back, len(sums), 3 * rows.size, *args)


def blocks_of(rows: Array) -> Array:
    """Room for the sums of rows, block by block."""
    return np.zeros((1 + len(rows) // BLOCK, rows.shape[1]))


def _total(sums: Array, dtype: Any) -> Tensor:
    out = np.empty(sums.shape[1], dtype)
    loops.mean_of(sums, 1.0, out)
    return torch.from_numpy(out)
