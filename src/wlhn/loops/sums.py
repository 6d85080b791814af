"""Compiled loops over counted sums of rows: sparse matrices of counts times matrices, and the paper's readout."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from wlhn.loops.compiling import arithmetic

Array = NDArray[Any]


@arithmetic
def sum_rows(first: int, last: int, ptr: Array, index: Array, value: Array, x: Array, out: Array) -> None:
    """out[i] += Σ_k value[k] · x[index[k]] over row i of a sparse matrix."""
    d = x.shape[1]
    for i in range(first, last):
        row = out[i]
        for k in range(ptr[i], ptr[i + 1]):
            v, other = x.dtype.type(value[k]), x[index[k]]
            for j in range(d):
                row[j] += v * other[j]


@arithmetic
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


@arithmetic
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
        for j in range(e.shape[1]):  # a loop of its own: see `wlhn.loops.rows`
            along += row[j] * own[j]
        for j in range(e.shape[1]):
            row[j] *= half
        grad_r[c] = along / 2
