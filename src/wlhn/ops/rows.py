"""Differentiable operations on the rows of a matrix and one vector that goes with all of them.

On the CPU compiled loops do the work, in one pass over a row; elsewhere, and with other shapes than these, plain
torch does the same. The tests hold one against the other.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from wlhn.hyperbolic.poincare import length, nonzero
from wlhn.loops import parallel
from wlhn.loops import rows as loops


def length_and_angle(v: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
    """(n, q): n = ‖v‖, at least eps, and q = ‖v/n + e‖²/2, which for a unit vector e is 1 + cos of the angle.

    >>> length_and_angle(torch.tensor([[3.0, 4.0]]), torch.tensor([0.0, 1.0]))
    (tensor([[5.]]), tensor([[1.8000]]))
    """
    return _LengthAndAngle.apply(v, e) if _compiled(v, e) else length_and_angle_reference(v, e)


def length_and_angle_reference(v: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
    n = nonzero(length(v))
    return n, (v / n + e).square().sum(-1, keepdim=True) / 2


def combination(a: Tensor, v: Tensor, c: Tensor, b: Tensor) -> Tensor:
    """a v + c b for factors a, c (rows, 1).

    >>> combination(torch.tensor([[2.0]]), torch.tensor([[3.0, 4.0]]), torch.tensor([[10.0]]), torch.tensor([0.0, 1.0]))
    tensor([[ 6., 18.]])
    """
    if _compiled(v, b) and a.shape == c.shape == (len(v), 1) and a.dtype == c.dtype == v.dtype:
        return _Combination.apply(a, v, c, b)
    return a * v + c * b


def _compiled(v: Tensor, one: Tensor) -> bool:
    """Whether these are rows and a vector for the loops, which check nothing."""
    fits = v.dim() == 2 and one.shape == v.shape[1:] and one.dtype == v.dtype
    return fits and parallel.compiled_for(v)


class _LengthAndAngle(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, v: Tensor, e: Tensor) -> Any:
        v, e = v.contiguous(), e.contiguous()
        n, q = v.new_empty(len(v), 1), v.new_empty(len(v), 1)
        least = torch.finfo(v.dtype).eps
        _over_rows(loops.length_and_angle, v, 2, v, e, n, q, extra=(least,))
        ctx.save_for_backward(v, e, n)
        return n, q

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        v, e, n = ctx.saved_tensors
        grad_n, grad_q = (grad.contiguous() for grad in grads)
        out, least = torch.empty_like(v), torch.finfo(v.dtype).eps
        _over_rows(loops.length_and_angle_back, v, 3, v, e, n, grad_n, grad_q, out, extra=(least,))
        return out, ((grad_q / n).mT @ v)[0] + grad_q.sum() * e


class _Combination(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, v: Tensor, c: Tensor, b: Tensor) -> Tensor:
        a, v, c, b = (tensor.contiguous() for tensor in (a, v, c, b))
        ctx.save_for_backward(a, v, c, b)
        out = torch.empty_like(v)
        _over_rows(loops.combination, v, 2, a, v, c, b, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (a, v, c, b), grad = ctx.saved_tensors, grads[0].contiguous()
        grad_a, grad_v, grad_c = torch.empty_like(a), torch.empty_like(v), torch.empty_like(c)
        _over_rows(loops.combination_back, v, 3, a, v, b, grad, grad_a, grad_v, grad_c)
        return grad_a, grad_v, grad_c, (c.mT @ grad)[0]


def _over_rows(kernel: Any, v: Tensor, passes: int, *tensors: Tensor, extra: tuple[float, ...] = ()) -> None:
    arrays = (tensor.detach().numpy() for tensor in tensors)
    parallel.over_rows(kernel, len(v), passes * v.numel(), *arrays, *extra)
