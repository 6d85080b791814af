"""Compiled loops of attention: a softmax over each row of a sparse matrix, and sums that it weighs, head by head."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import arithmetic

Array = NDArray[Any]


@arithmetic
def softmax(first: int, last: int, ptr: Array, scores: Array, out: Array) -> None:
    """out[k, h] = exp(scores[k, h]) / Σ of these over the row that entry k is in."""
    heads = scores.shape[1]
    for i in range(first, last):
        for h in range(heads):
            largest = -np.inf
            for k in range(ptr[i], ptr[i + 1]):
                largest = max(largest, scores[k, h])
            total = 0.0
            for k in range(ptr[i], ptr[i + 1]):
                out[k, h] = np.exp(scores[k, h] - largest)
                total += out[k, h]
            for k in range(ptr[i], ptr[i + 1]):
                out[k, h] /= total


@arithmetic
def weighted_sum(first: int, last: int, ptr: Array, index: Array, entry: Array, a: Array, x: Array, out: Array) -> None:
    """out[i, h] = Σ_k a[entry[k], h] · x[index[k], h] over row i of a sparse matrix."""
    heads, d = x.shape[1], x.shape[2]
    for i in range(first, last):
        for h in range(heads):
            row = out[i, h]
            row[:] = 0
            for k in range(ptr[i], ptr[i + 1]):
                v, other = a[entry[k], h], x[index[k], h]
                for j in range(d):
                    row[j] += v * other[j]


@arithmetic
def scores_back(first: int, last: int, ptr: Array, index: Array, a: Array, x: Array, grad: Array, out: Array) -> None:
    """out[k, h] = a (g_k − Σ a g over its row), where g_k = grad[i, h] · x[index[k], h]: the way back to the scores."""
    heads, d = x.shape[1], x.shape[2]
    for i in range(first, last):
        for h in range(heads):
            own, mean = grad[i, h], 0.0
            for k in range(ptr[i], ptr[i + 1]):
                other, along = x[index[k], h], x.dtype.type(0)
                for j in range(d):
                    along += own[j] * other[j]
                out[k, h] = along
                mean += a[k, h] * along
            for k in range(ptr[i], ptr[i + 1]):
                out[k, h] = a[k, h] * (out[k, h] - mean)
