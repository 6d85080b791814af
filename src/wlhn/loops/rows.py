"""Compiled loops of the layers: counted sums of rows, what BatchNorm needs to know of them, and `row_ops`."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from wlhn.loops.compiling import looping
from wlhn.loops.levels import careful_norm

Array = NDArray[Any]
compiled = looping(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})

LARGEST = 1e300  # ‖v‖² from which on it is computed with care


@compiled
def sum_rows(first: int, last: int, ptr: Array, index: Array, value: Array, x: Array, out: Array) -> None:
    """out[i] += Σ_k value[k] · x[index[k]] over row i of a sparse matrix."""
    d = x.shape[1]
    for i in range(first, last):
        row = out[i]
        for k in range(ptr[i], ptr[i + 1]):
            v, other = x.dtype.type(value[k]), x[index[k]]
            for j in range(d):
                row[j] += v * other[j]


@compiled
def sum_radial(first: int, last: int, ptr: Array, index: Array, value: Array, r: Array, e: Array, out: Array) -> None:
    """out[i] = Σ_k value[k] · r/2 · e over row i of a sparse matrix: sums of tangent vectors."""
    for i in range(first, last):
        row = out[i]
        row[:] = 0
        for k in range(ptr[i], ptr[i + 1]):
            c = index[k]
            v, other = e.dtype.type(value[k] * r[c] / 2), e[c]
            for j in range(e.shape[1]):
                row[j] += v * other[j]


@compiled
def sum_radial_back(
    first: int,
    last: int,
    ptr: Array,
    index: Array,
    value: Array,
    r: Array,
    e: Array,
    grad: Array,
    grad_r: Array,
    grad_e: Array,
) -> None:
    """Its transpose: ptr, index, value by columns."""
    for c in range(first, last):
        row, own = grad_e[c], e[c]
        row[:] = 0
        for k in range(ptr[c], ptr[c + 1]):
            v, other = e.dtype.type(value[k]), grad[index[k]]
            for j in range(e.shape[1]):
                row[j] += v * other[j]
        along = e.dtype.type(0)
        half = r[c] / 2
        for j in range(e.shape[1]):  # a loop of its own: see `wlhn.loops.levels`
            along += row[j] * own[j]
        for j in range(e.shape[1]):
            row[j] *= half
        grad_r[c] = along / 2


@compiled
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
    """out[i] = max(0, bias + scale · x[parent[i]] + Σ_k value[k] · x[index[k]]), and its weighted sums.

    Sums come in as many blocks of rows as `blocks` has rows; these do not depend on the number of threads.
    """
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


@compiled
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


@compiled
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


@compiled
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


@compiled
def relu_moments_back(
    first: int, last: int, x: Array, weight: Array, grad: Array, slope: Array, shift: Array, out: Array, blocks: Array
) -> None:
    """out = grad + w (slope · x + shift) where x > 0, else 0; and the sums of its rows, likewise."""
    zero = x.dtype.type(0)
    for b in range(first, last):
        total = blocks[b]
        for i in range(len(x) * b // len(blocks), len(x) * (b + 1) // len(blocks)):
            w = x.dtype.type(weight[i]) if len(weight) else x.dtype.type(1)
            row, g, o = x[i], grad[i], out[i]
            for j in range(x.shape[1]):
                v = g[j] + w * (slope[j] * row[j] + shift[j])
                v = v if row[j] > 0 else zero
                o[j] = v
                total[j] += v


@compiled
def relu_back(first: int, last: int, x: Array, grad: Array, out: Array, blocks: Array) -> None:
    """out = grad where x > 0, else 0; and the sums of its rows, likewise."""
    zero = x.dtype.type(0)
    for b in range(first, last):
        total = blocks[b]
        for i in range(len(x) * b // len(blocks), len(x) * (b + 1) // len(blocks)):
            row, g, o = x[i], grad[i], out[i]
            for j in range(x.shape[1]):
                v = g[j] if row[j] > 0 else zero
                o[j] = v
                total[j] += v


@compiled
def length_and_angle(first: int, last: int, v: Array, e: Array, n: Array, q: Array, least: float) -> None:
    """n = max(‖v‖, least) and q = ‖v/n + e‖²/2 of each row."""
    for i in range(first, last):
        row = v[i]
        total = 0.0
        for j in range(len(e)):
            total += float(row[j]) * float(row[j])
        n[i, 0] = max(math.sqrt(total) if total < LARGEST else careful_norm(row), least)
        inverse, squares = v.dtype.type(1 / n[i, 0]), v.dtype.type(0)
        for j in range(len(e)):
            w = row[j] * inverse + e[j]
            squares += w * w
        q[i, 0] = squares / 2


@compiled
def length_and_angle_back(
    first: int, last: int, v: Array, e: Array, n: Array, grad_n: Array, grad_q: Array, out: Array, least: float
) -> None:
    """The gradient of v; where n is not ‖v‖ but `least`, n passes none on."""
    for i in range(first, last):
        unit, inverse = out[i], v.dtype.type(1 / n[i, 0])
        for j in range(len(e)):  # kept, lest the compiler multiply by 1/n², which underflows
            unit[j] = v[i, j] * inverse
        along = v.dtype.type(0)  # (v/n + e)·v/n, −n times the derivative of q by n
        for j in range(len(e)):
            along += (unit[j] + e[j]) * unit[j]
        of_e = grad_q[i, 0] * inverse
        of_unit = of_e + grad_n[i, 0] - along * of_e if n[i, 0] > least else of_e
        for j in range(len(e)):
            unit[j] = of_unit * unit[j] + of_e * e[j]


@compiled
def combination(first: int, last: int, a: Array, v: Array, c: Array, b: Array, out: Array) -> None:
    """out = a v + c b of each row."""
    for i in range(first, last):
        for j in range(len(b)):
            out[i, j] = a[i, 0] * v[i, j] + c[i, 0] * b[j]


@compiled
def combination_back(
    first: int, last: int, a: Array, v: Array, b: Array, grad: Array, grad_a: Array, grad_v: Array, grad_c: Array
) -> None:
    """The gradients of a, v and c."""
    for i in range(first, last):
        of_a, of_c = v.dtype.type(0), v.dtype.type(0)
        for j in range(len(b)):  # sums and writes apart: see `wlhn.loops.levels`
            of_a += grad[i, j] * v[i, j]
            of_c += grad[i, j] * b[j]
        grad_a[i, 0], grad_c[i, 0] = of_a, of_c
        for j in range(len(b)):
            grad_v[i, j] = a[i, 0] * grad[i, j]
