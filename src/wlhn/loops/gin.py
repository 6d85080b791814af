"""Compiled loops of a GIN layer: counted sums, ReLU, and what BatchNorm needs to know of them.

Sums over all rows come in as many blocks of rows as `blocks` has rows; these do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import arithmetic, loop, looping
from wlhn.loops.rows import LEAST, SHORT

Array = NDArray[Any]
apart = looping(error_model="numpy")  # nothing fused: each sum rounds as if it stood alone


@arithmetic
def aggregate_relu_sums(
    first: int,
    last: int,
    scale: float,
    bias: Array,
    ptr: Array,
    index: Array,
    value: Array,
    parent: Array,
    weight: Array,
    x: Array,
    out: Array,
    blocks: Array,
) -> None:
    """out[i] = max(0, bias + scale · x[parent[i]] + Σ_k value[k] · x[index[k]]), and its weighted sums."""
    s, zero, d = x.dtype.type(scale), x.dtype.type(0), x.shape[1]
    for b in range(first, last):
        total = blocks[b]
        for i in range(len(out) * b // len(blocks), len(out) * (b + 1) // len(blocks)):
            row, own = out[i], x[parent[i]]
            for j in range(d):
                row[j] = bias[j] + s * own[j]
            for k in range(ptr[i], ptr[i + 1]):
                v, other = x.dtype.type(value[k]), x[index[k]]
                for j in range(d):
                    row[j] += v * other[j]
            w = x.dtype.type(weight[i]) if len(weight) else x.dtype.type(1)
            for j in range(d):
                v = max(row[j], zero)
                row[j] = v
                total[j] += w * v


@arithmetic
def aggregate_back(
    first: int, last: int, scale: float, ptr: Array, index: Array, value: Array, child_ptr: Array, g: Array, out: Array
) -> None:
    """out[i] = scale · Σ g[k] over the children k of i + Σ_k value[k] · g[index[k]]: a transpose, so by columns."""
    s, d = g.dtype.type(scale), g.shape[1]
    for i in range(first, last):
        row = out[i]
        row[:] = 0
        for k in range(child_ptr[i], child_ptr[i + 1]):
            other = g[k]
            for j in range(d):
                row[j] += s * other[j]
        for k in range(ptr[i], ptr[i + 1]):
            v, other = g.dtype.type(value[k]), g[index[k]]
            for j in range(d):
                row[j] += v * other[j]


@arithmetic
def relu_sums(first: int, last: int, a: Array, weight: Array, x: Array, blocks: Array) -> None:
    """x = max(a, 0), and the weighted sums of its rows, likewise."""
    zero = a.dtype.type(0)
    for b in range(first, last):
        total = blocks[b]
        for i in range(len(a) * b // len(blocks), len(a) * (b + 1) // len(blocks)):
            w = a.dtype.type(weight[i]) if len(weight) else a.dtype.type(1)
            given, row = a[i], x[i]
            for j in range(a.shape[1]):
                v = max(given[j], zero)
                row[j] = v
                total[j] += w * v


@arithmetic
def squared_sums(first: int, last: int, x: Array, weight: Array, mean: Array, blocks: Array) -> None:
    """The weighted sums of (x − mean)², likewise."""
    for b in range(first, last):
        total = blocks[b]
        for i in range(len(x) * b // len(blocks), len(x) * (b + 1) // len(blocks)):
            w = x.dtype.type(weight[i]) if len(weight) else x.dtype.type(1)
            row = x[i]
            for j in range(x.shape[1]):
                v = row[j] - mean[j]
                total[j] += w * v * v


@apart
def relu_back(
    first: int, last: int, x: Array, more: Array, norm: Array, of_norm: Array, grad: Array, blocks: Array
) -> None:
    """grad + more + of_norm · x/‖x‖ where x > 0, else 0, in place of grad; and the sums of its rows, likewise.

    Either of the two that are added may be empty: a gradient that x has elsewhere, and that of ‖x‖.
    """
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for b in range(first, last):
        total = blocks[b]
        for i in range(len(x) * b // len(blocks), len(x) * (b + 1) // len(blocks)):
            row, g = x[i], grad[i]
            if len(more):
                other = more[i]
                for j in range(x.shape[1]):
                    g[j] += other[j]
            if len(norm) and norm[i] < SHORT:  # 1/‖x‖ might overflow there
                n = np.float64(norm[i])
                for j in range(x.shape[1]):
                    g[j] += x.dtype.type(of_norm[i] * (row[j] / n if n > LEAST else 0.0))
            elif len(norm):
                inverse = one / norm[i]
                for j in range(x.shape[1]):
                    g[j] += of_norm[i] * row[j] * inverse  # in this order, as `rows.norms_back` is compiled
            for j in range(x.shape[1]):
                v = g[j] if row[j] > 0 else zero
                g[j] = v
                total[j] += v


@arithmetic
def relu_moments_back(
    first: int, last: int, x: Array, weight: Array, slope: Array, shift: Array, grad: Array, blocks: Array
) -> None:
    """grad + w (slope · x + shift) where x > 0, else 0, in place of grad; and the sums of its rows, likewise."""
    zero = x.dtype.type(0)
    for b in range(first, last):
        total = blocks[b]
        for i in range(len(x) * b // len(blocks), len(x) * (b + 1) // len(blocks)):
            w = x.dtype.type(weight[i]) if len(weight) else x.dtype.type(1)
            row, g = x[i], grad[i]
            for j in range(x.shape[1]):
                v = g[j] + w * (slope[j] * row[j] + shift[j])
                v = v if row[j] > 0 else zero
                g[j] = v
                total[j] += v


@loop
def mean_of(blocks: Array, count: float, out: Array) -> None:
    """The sum of all blocks, divided by a count."""
    for j in range(len(out)):
        total = 0.0
        for b in range(len(blocks)):
            total += blocks[b, j]
        out[j] = total / count


@loop
def fold(
    eps: float, scales: Array, mean: Array, var: Array, gamma: Array, beta: Array, w: Array, folded: Array
) -> None:
    """BatchNorm into the Linear behind it: folded = w s for s = γ/√(σ² + ε), and in the rows of `scales` the mean,
    1/√(σ² + ε), s and β − s μ.
    """
    one, least = w.dtype.type(1), w.dtype.type(eps)
    for j in range(len(mean)):
        inverse = one / np.sqrt(var[j] + least)
        s = gamma[j] * inverse
        scales[0, j], scales[1, j], scales[2, j], scales[3, j] = mean[j], inverse, s, beta[j] - s * mean[j]
    for i in range(len(w)):
        for j in range(len(mean)):
            folded[i, j] = w[i, j] * scales[2, j]


@loop
def fold_back(
    scales: Array,
    count: float,
    gamma: Array,
    grad_folded: Array,
    grad_b: Array,
    grad_beta: Array,
    grad_s: Array,
    grad_w: Array,
) -> Array:
    """The gradients of w, into `grad_w`, and in the rows of what is returned those of γ, μ and σ², and, of moments over
    `count` nodes (0: of none, they were given), what a row x of one node adds to its own: slope · x + shift.

    `grad_s` has Σ_i grad_folded[i] w[i], the part of s's gradient that comes through `folded`.
    """
    number = gamma.dtype.type
    out = np.zeros((5, len(gamma)), gamma.dtype)
    for i in range(len(grad_w)):
        for j in range(len(gamma)):
            grad_w[i, j] = grad_folded[i, j] * scales[2, j] + grad_b[i] * scales[3, j]
    half, two, nodes = number(-0.5), number(2), number(count)
    for j in range(len(gamma)):
        mean, inverse, s = scales[0, j], scales[1, j], scales[2, j]
        of_s = grad_s[j] - grad_beta[j] * mean
        out[0, j] = of_s * inverse
        out[1, j] = -grad_beta[j] * s
        out[2, j] = half * (of_s * gamma[j]) * (inverse * inverse * inverse)
        if count > 0:
            out[3, j] = two * out[2, j] / nodes
            out[4, j] = out[1, j] / nodes - out[3, j] * mean
    return out
