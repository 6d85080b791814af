"""Differentiable counted sums of rows of colours, and sums over several workers.

On the CPU compiled loops do the work, on other devices plain torch; the tests hold one against the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from wlhn.batching.colour_batch import Counts
from wlhn.hyperbolic.polar import to_tangent
from wlhn.loops import parallel
from wlhn.loops import sums as loops
from wlhn.loops.parallel import arrays

Everyone = Callable[[Tensor], Tensor]  # the sum of a tensor over all workers; differentiable


def alone(part: Tensor) -> Tensor:
    """`Everyone` of a single worker."""
    return part


def product(counts: Counts, x: Tensor) -> Tensor:
    """counts @ x.

    >>> import numpy as np
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
    return _TangentSum.apply(r, e, counts) if torch.is_grad_enabled() else _tangent_sum(r, e, counts)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, counts: Counts) -> Tensor:
        ctx.counts = counts
        x = x.contiguous()
        out = x.new_zeros(counts.shape[0], x.shape[1])
        work = len(counts.index) * x.shape[1]
        parallel.over_rows(loops.sum_rows, len(out), work, *arrays(counts.ptr, counts.index, counts.value, x, out))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        counts, grad = ctx.counts, grads[0].contiguous()
        out = grad.new_zeros(counts.shape[1], grad.shape[1])
        work = len(counts.index) * grad.shape[1]
        parallel.over_rows(
            loops.sum_rows, len(out), work, *arrays(counts.t_ptr, counts.t_index, counts.t_value, grad, out)
        )
        return out, None


def _tangent_sum(r: Tensor, e: Tensor, counts: Counts) -> Tensor:
    out = e.new_empty(counts.shape[0], e.shape[1])
    args = arrays(counts.ptr, counts.index, counts.value, r.contiguous(), e.contiguous(), out)
    parallel.over_rows(loops.sum_radial, len(out), len(counts.index) * e.shape[1], *args)
    return out


class _TangentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, r: Tensor, e: Tensor, counts: Counts) -> Tensor:
        r, e = r.contiguous(), e.contiguous()
        ctx.save_for_backward(r, e)
        ctx.counts = counts
        return _tangent_sum(r, e, counts)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (r, e), counts = ctx.saved_tensors, ctx.counts
        grad_r, grad_e = torch.empty_like(r), torch.empty_like(e)
        args = arrays(counts.t_ptr, counts.t_index, counts.t_value, r, e, grads[0].contiguous(), grad_r, grad_e)
        parallel.over_rows(loops.sum_radial_back, len(r), len(counts.index) * e.shape[1], *args)
        return grad_r, grad_e, None
