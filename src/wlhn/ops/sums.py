"""Differentiable operations on rows of colours: counted sums, ReLU with weighted moments.

On the CPU compiled loops do the work, on other devices plain torch; the tests hold one against the other. Moments are
those of all rows of a batch, also where several workers have a part of them each: `everyone` adds up what they have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from wlhn.batching.colour_batch import ColourLevel, Counts
from wlhn.hyperbolic.polar import to_tangent
from wlhn.loops import parallel
from wlhn.loops import rows as loops

Everyone = Callable[[Tensor], Tensor]  # the sum of a tensor over all workers; differentiable

BLOCK = 256  # rows summed together; fixed, so that sums don't depend on the number of threads


def alone(part: Tensor) -> Tensor:
    """`Everyone` of a single worker."""
    return part


def counted(own: float, everyone: Everyone) -> float:
    """What everyone has counted."""
    return own if everyone is alone else float(everyone(torch.tensor(own, dtype=torch.float64)))


def product(counts: Counts, x: Tensor) -> Tensor:
    """counts @ x.

    >>> counts = Counts.from_rows(*(np.array(a) for a in ([0, 2], [0, 1], [2.0, 1.0])), num_columns=2)
    >>> product(counts, torch.tensor([[1.0], [10.0]]))
    tensor([[12.]])
    """
    if not parallel.compiled_for(x):
        return product_reference(counts, x)
    return _Product.apply(x, counts)


def product_reference(counts: Counts, x: Tensor) -> Tensor:
    row = torch.repeat_interleave(torch.arange(counts.shape[0], device=x.device), counts.ptr.diff())
    terms = x[counts.index] * counts.value.to(x.dtype)[:, None]
    return x.new_zeros(counts.shape[0], x.shape[1]).index_add(0, row, terms)


def tangent_sum(counts: Counts, r: Tensor, e: Tensor) -> Tensor:
    """counts @ log_0 of the points (r, e): the paper's readout."""
    if not parallel.compiled_for(r):
        return product_reference(counts, to_tangent(r, e))
    return _TangentSum.apply(r, e, counts)


def aggregate_relu_moments(
    x: Tensor, epsilon: Tensor | float, bias: Tensor, level: ColourLevel, everyone: Everyone = alone
) -> tuple[Tensor, Tensor, Tensor]:
    """GIN's sum over colours, max(0, (1 + ε) x[parent] + A x + bias), with its weighted moments, in one pass."""
    scale = 1 + torch.as_tensor(epsilon, dtype=x.dtype, device=x.device)
    if not parallel.compiled_for(x):
        total = scale * x[level.parent] + product_reference(level.neighbours, x) + bias
        return relu_moments_reference(total, level.weight, everyone)
    return _AggregateReluMoments.apply(x, scale, bias, level, everyone)


def relu_moments(a: Tensor, weight: Tensor | None, everyone: Everyone = alone) -> tuple[Tensor, Tensor, Tensor]:
    """x = max(a, 0) with the weighted mean and (biased) variance of its columns.

    >>> relu_moments(torch.tensor([[-1.0], [2.0]]), torch.tensor([1.0, 3.0]))
    (tensor([[0.], [2.]]), tensor([1.5000]), tensor([0.7500]))
    """
    if not parallel.compiled_for(a):
        return relu_moments_reference(a, weight, everyone)
    return _ReluMoments.apply(a, weight, everyone)


def linear_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """max(0, x Wᵀ + b), the bias' gradient summed while the ReLU's is made."""
    if not parallel.compiled_for(x):
        return torch.relu(F.linear(x, weight, bias))
    return _LinearRelu.apply(x, weight, bias)


def relu_moments_reference(
    a: Tensor, weight: Tensor | None, everyone: Everyone = alone
) -> tuple[Tensor, Tensor, Tensor]:
    x = torch.relu(a)
    share = torch.ones_like(a[:, 0]) if weight is None else weight.to(a.dtype)
    share = share / everyone(share.sum())
    mean = everyone(share @ x)
    return x, mean, everyone(share @ (x - mean) ** 2)


def _numpy(*tensors: Tensor) -> tuple[Any, ...]:
    return tuple(tensor.detach().numpy() for tensor in tensors)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, counts: Counts) -> Tensor:
        ctx.counts = counts
        x = x.contiguous()
        out = x.new_zeros(counts.shape[0], x.shape[1])
        work = len(counts.index) * x.shape[1]
        parallel.over_rows(loops.sum_rows, len(out), work, *_numpy(counts.ptr, counts.index, counts.value, x, out))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        counts, grad = ctx.counts, grads[0].contiguous()
        out = grad.new_zeros(counts.shape[1], grad.shape[1])
        work = len(counts.index) * grad.shape[1]
        parallel.over_rows(
            loops.sum_rows, len(out), work, *_numpy(counts.t_ptr, counts.t_index, counts.t_value, grad, out)
        )
        return out, None


class _TangentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, r: Tensor, e: Tensor, counts: Counts) -> Tensor:
        r, e = r.contiguous(), e.contiguous()
        ctx.save_for_backward(r, e)
        ctx.counts = counts
        out = e.new_empty(counts.shape[0], e.shape[1])
        args = _numpy(counts.ptr, counts.index, counts.value, r, e, out)
        parallel.over_rows(loops.sum_radial, len(out), len(counts.index) * e.shape[1], *args)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (r, e), counts = ctx.saved_tensors, ctx.counts
        grad_r, grad_e = torch.empty_like(r), torch.empty_like(e)
        args = _numpy(counts.t_ptr, counts.t_index, counts.t_value, r, e, grads[0].contiguous(), grad_r, grad_e)
        parallel.over_rows(loops.sum_radial_back, len(r), len(counts.index) * e.shape[1], *args)
        return grad_r, grad_e, None


class _ReluMoments(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, weight: Tensor | None, everyone: Everyone) -> Any:
        a = a.contiguous()
        weight = a.new_empty(0) if weight is None else weight
        x, sums = torch.empty_like(a), _blocks(a)
        parallel.over_rows(loops.relu_sums, len(sums), 2 * a.numel(), *_numpy(a, weight, x), sums)
        return _finish_moments(ctx, everyone, x, weight, sums)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return _moments_back(ctx, ctx.saved_tensors, *grads)[0], None, None


class _AggregateReluMoments(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor, bias: Tensor, level: ColourLevel, everyone: Everyone) -> Any:
        x, counts = x.contiguous(), level.neighbours
        out = x.new_empty(len(level.parent), x.shape[1])
        weight, sums = x.new_empty(0) if level.weight is None else level.weight, _blocks(out)
        work = (len(counts.index) + 2 * len(out)) * x.shape[1]
        args = _numpy(bias, counts.ptr, counts.index, counts.value, level.parent, weight, x, out)
        parallel.over_rows(loops.aggregate_relu_sums, len(sums), work, float(scale), *args, sums)
        ctx.level = level
        return _finish_moments(ctx, everyone, out, weight, sums, x, scale)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        *moments, x, scale = ctx.saved_tensors
        level, counts = ctx.level, ctx.level.neighbours
        grad, grad_bias = _moments_back(ctx, moments, *grads)
        out = torch.empty_like(x)
        work = (len(counts.index) + len(grad)) * x.shape[1]
        args = _numpy(counts.t_ptr, counts.t_index, counts.t_value, level.child_ptr, grad, out)
        parallel.over_rows(loops.aggregate_back, len(x), work, float(scale), *args)
        grad_scale = (grad * x[level.parent]).sum() if ctx.needs_input_grad[1] else None
        return out, grad_scale, grad_bias, None, None


class _LinearRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        out = F.linear(x, weight, bias).relu_()
        ctx.save_for_backward(x, weight, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, weight, out = ctx.saved_tensors
        grad, sums = torch.empty_like(out), _blocks(out)
        parallel.over_rows(loops.relu_back, len(sums), 3 * out.numel(), *_numpy(out, grads[0].contiguous(), grad), sums)
        return grad @ weight, grad.T @ x, torch.from_numpy(sums.sum(axis=0)).to(x.dtype)


def _added(sums: Any, count: float, everyone: Everyone) -> tuple[Any, float]:
    """Sums and count of everyone, in one message."""
    if everyone is alone:
        return sums, count
    both = everyone(torch.from_numpy(np.append(sums, count))).numpy()
    return both[:-1], float(both[-1])


def _blocks(x: Tensor) -> Any:
    return np.zeros((1 + len(x) // BLOCK, x.shape[1]))


def _finish_moments(
    ctx: Any, everyone: Everyone, x: Tensor, weight: Tensor, sums: Any, *others: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """x with its mean and variance, from the sums of its blocks; keeps what `_moments_back` needs, and the others."""
    total = float(weight.sum()) if len(weight) else float(len(x))
    total_sum, ctx.total = _added(sums.sum(axis=0), total, everyone)
    ctx.everyone = everyone
    mean = torch.from_numpy(total_sum / ctx.total).to(x.dtype)
    squares = np.zeros_like(sums)
    parallel.over_rows(loops.squared_sums, len(sums), x.numel(), *_numpy(x, weight, mean), squares)
    var = (everyone(torch.from_numpy(squares.sum(axis=0))) / ctx.total).to(x.dtype)
    ctx.save_for_backward(x, weight, mean, *others)
    return x, mean, var


def _moments_back(ctx: Any, saved: Any, grad: Tensor, grad_mean: Tensor, grad_var: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient before the ReLU, from those of x, its mean and its variance; and its sum over the rows."""
    x, weight, mean = saved
    if ctx.everyone is not alone:
        grad_mean, grad_var = ctx.everyone(torch.stack([grad_mean, grad_var]))
    slope = 2 * grad_var / ctx.total
    shift = grad_mean / ctx.total - slope * mean
    out, sums = torch.empty_like(x), _blocks(x)
    args = _numpy(x, weight, grad.contiguous(), slope, shift, out)
    parallel.over_rows(loops.relu_moments_back, len(sums), 3 * x.numel(), *args, sums)
    return out, torch.from_numpy(sums.sum(axis=0)).to(x.dtype)
