"""Differentiable operations on rows of colours: counted sums, ReLU with weighted moments.

On the CPU compiled kernels do the work, on other devices plain torch; the tests hold one against the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from wlhn.hierarchy.quotient import ColourLevel, Counts
from wlhn.models import kernels
from wlhn.parallel import over_rows

BLOCK = 256  # rows summed together; fixed, so that sums don't depend on the number of threads


def product(counts: Counts, x: Tensor) -> Tensor:
    """counts @ x.

    >>> counts = Counts.from_rows(*(np.array(a) for a in ([0, 2], [0, 1], [2.0, 1.0])), num_columns=2)
    >>> product(counts, torch.tensor([[1.0], [10.0]]))
    tensor([[12.]])
    """
    if x.device.type != "cpu":
        return product_reference(counts, x)
    return _Product.apply(x, counts)


def product_reference(counts: Counts, x: Tensor) -> Tensor:
    row = torch.repeat_interleave(torch.arange(counts.shape[0], device=x.device), counts.ptr.diff())
    terms = x[counts.index] * counts.value.to(x.dtype)[:, None]
    return x.new_zeros(counts.shape[0], x.shape[1]).index_add(0, row, terms)


def aggregate(x: Tensor, epsilon: Tensor | float, level: ColourLevel) -> Tensor:
    """GIN's sum over colours: (1 + ε) x[parent] + A x."""
    scale = 1 + torch.as_tensor(epsilon, dtype=x.dtype, device=x.device)
    if x.device.type != "cpu":
        return scale * x[level.parent] + product_reference(level.neighbours, x)
    return _Aggregate.apply(x, scale, level)


def relu_moments(a: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """x = max(a, 0) with the weighted mean and (biased) variance of its columns.

    >>> relu_moments(torch.tensor([[-1.0], [2.0]]), torch.tensor([1.0, 3.0]))
    (tensor([[0.], [2.]]), tensor([1.5000]), tensor([0.7500]))
    """
    if a.device.type != "cpu":
        return relu_moments_reference(a, weight)
    return _ReluMoments.apply(a, weight)


def relu_moments_reference(a: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    x = torch.relu(a)
    share = torch.ones_like(a[:, 0]) if weight is None else weight.to(a.dtype)
    share = share / share.sum()
    mean = share @ x
    return x, mean, share @ (x - mean) ** 2


def _numpy(*tensors: Tensor) -> tuple[Any, ...]:
    return tuple(tensor.detach().numpy() for tensor in tensors)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, counts: Counts) -> Tensor:
        ctx.counts = counts
        x = x.contiguous()
        out = x.new_zeros(counts.shape[0], x.shape[1])
        work = len(counts.index) * x.shape[1]
        over_rows(kernels.sum_rows, len(out), work, *_numpy(counts.ptr, counts.index, counts.value, x, out))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        counts, grad = ctx.counts, grads[0].contiguous()
        out = grad.new_zeros(counts.shape[1], grad.shape[1])
        work = len(counts.index) * grad.shape[1]
        over_rows(kernels.sum_rows, len(out), work, *_numpy(counts.t_ptr, counts.t_index, counts.t_value, grad, out))
        return out, None


class _Aggregate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor, level: ColourLevel) -> Tensor:
        x, counts = x.contiguous(), level.neighbours
        ctx.save_for_backward(x, scale)
        ctx.level = level
        out = x.new_empty(len(level.parent), x.shape[1])
        work = (len(counts.index) + len(out)) * x.shape[1]
        args = _numpy(counts.ptr, counts.index, counts.value, level.parent, x, out)
        over_rows(kernels.aggregate, len(out), work, float(scale), *args)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (x, scale), level, grad = ctx.saved_tensors, ctx.level, grads[0].contiguous()
        counts = level.neighbours
        out = torch.empty_like(x)
        work = (len(counts.index) + len(grad)) * x.shape[1]
        args = _numpy(counts.t_ptr, counts.t_index, counts.t_value, level.child_ptr, grad, out)
        over_rows(kernels.aggregate_back, len(x), work, float(scale), *args)
        grad_scale = (grad * x[level.parent]).sum() if ctx.needs_input_grad[1] else None
        return out, grad_scale, None


class _ReluMoments(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, weight: Tensor | None) -> Any:
        a = a.contiguous()
        weight = a.new_empty(0) if weight is None else weight
        total = float(weight.sum()) if len(weight) else float(len(a))
        x = torch.empty_like(a)
        blocks = 1 + len(a) // BLOCK
        sums, squares = np.zeros((2, blocks, a.shape[1]))
        over_rows(kernels.relu_sums, blocks, 2 * a.numel(), *_numpy(a, weight, x), sums)
        mean = sums.sum(axis=0) / total
        over_rows(kernels.squared_sums, blocks, a.numel(), *_numpy(x, weight), mean.astype(x.numpy().dtype), squares)
        out_mean = torch.from_numpy(mean).to(a.dtype)
        out_var = torch.from_numpy(squares.sum(axis=0) / total).to(a.dtype)
        ctx.save_for_backward(x, weight, out_mean)
        ctx.total = total
        return x, out_mean, out_var

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, weight, mean = ctx.saved_tensors
        grad, grad_mean, grad_var = (g.contiguous() for g in grads)
        slope = 2 * grad_var / ctx.total
        shift = grad_mean / ctx.total - slope * mean
        out = torch.empty_like(x)
        over_rows(kernels.relu_moments_back, len(x), 3 * x.numel(), *_numpy(x, weight, grad, slope, shift, out))
        return out, None
