"""Attention over the entries of a sparse matrix: each row is an average of others, weighed by a softmax of scores.

With the entries k of row i, which stand in columns j(k), and several heads h,

    y_{i,h} = Σ_k α_{k,h} x_{j(k),h},      α_{k,h} = exp s_{k,h} / Σ_{k' in row i} exp s_{k',h}.

No row of x is copied for an entry, so the cost is that of a sparse product. A row without entries is 0.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from wlhn.batching.matrices import Entries
from wlhn.errors import InputError
from wlhn.loops import attention as loops
from wlhn.loops import parallel
from wlhn.loops.parallel import arrays


def attend(entries: Entries, scores: Tensor, x: Tensor) -> Tensor:
    """Averages (rows, heads, channels) of the rows of x.

    Args:
        entries: of a matrix (rows, columns).
        scores: (entries, heads), in the order of the entries.
        x: (columns, heads, channels).

    >>> from wlhn.batching.matrices import entries_with_loops
    >>> x = torch.tensor([[[1.0]], [[3.0]]])
    >>> entries = entries_with_loops(torch.tensor([[0], [1]]), x)  # 0 hears itself, 1 hears both
    >>> attend(entries, torch.zeros(3, 1), x).flatten()
    tensor([1., 2.])
    """
    number, columns = len(entries.row), entries.pattern.shape[1]
    if scores.shape != (number, *x.shape[1:2]) or x.ndim != 3 or len(x) != columns:  # the loops check nothing
        raise InputError(
            f"attend: expected scores ({number}, heads) and x ({columns}, heads, channels), found "
            f"{tuple(scores.shape)} and {tuple(x.shape)}"
        )
    compiled = parallel.compiled_for(x) and scores.dtype == x.dtype
    return _Attend.apply(scores, x, entries) if compiled else attend_reference(entries, scores, x)


def attend_reference(entries: Entries, scores: Tensor, x: Tensor) -> Tensor:
    row, rows = entries.row, entries.pattern.shape[0]
    where = row[:, None].expand_as(scores)
    largest = scores.new_zeros(rows, scores.shape[1]).scatter_reduce(0, where, scores, "amax", include_self=False)
    weight = (scores - largest.detach()[row]).exp()
    weight = weight / weight.new_zeros(rows, scores.shape[1]).index_add(0, row, weight)[row]
    return x.new_zeros(rows, *x.shape[1:]).index_add(0, row, weight.to(x.dtype)[..., None] * x[entries.column])


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, x: Tensor, entries: Entries) -> Tensor:
        p, scores, x = entries.pattern, scores.contiguous(), x.contiguous()
        weight, out = torch.empty_like(scores), x.new_empty(p.shape[0], *x.shape[1:])
        work = _work(entries, x)
        parallel.over_rows(loops.softmax, len(out), scores.numel(), *arrays(p.ptr, scores, weight))
        parallel.over_rows(loops.weighted_sum, len(out), work, *arrays(p.ptr, p.index, p.value, weight, x, out))
        ctx.save_for_backward(scores, weight, x)
        ctx.entries = entries
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (scores, weight, x), entries, grad = ctx.saved_tensors, ctx.entries, grads[0].contiguous()
        if torch.is_grad_enabled():  # somebody wants second derivatives, which loops do not have
            inputs = [each for each, wanted in zip((scores, x), ctx.needs_input_grad, strict=False) if wanted]
            found = iter(torch.autograd.grad(attend_reference(entries, scores, x), inputs, grad, create_graph=True))
            return *(next(found) if wanted else None for wanted in ctx.needs_input_grad[:2]), None
        p, work = entries.pattern, _work(entries, x)
        scores_grad, x_grad = torch.empty_like(weight), torch.empty_like(x)
        parallel.over_rows(loops.scores_back, len(grad), work, *arrays(p.ptr, p.index, weight, x, grad, scores_grad))
        transposed = arrays(p.t_ptr, p.t_index, p.t_value, weight, grad, x_grad)
        parallel.over_rows(loops.weighted_sum, len(x), work, *transposed)
        return scores_grad, x_grad, None


def _work(entries: Entries, x: Tensor) -> int:
    return len(entries.column) * x.shape[1] * x.shape[2]
