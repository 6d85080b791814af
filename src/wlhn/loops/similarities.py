"""Compiled loops that compare graphs by what they have in common, colour by colour.

Graphs are rows of counted colours; the other side stands by columns, so that a colour knows the graphs it occurs in.
A row of the matrix is made at a time: every colour of its graph adds to the places of the graphs that share it. Pairs
with nothing in common cost nothing, and a colour that only one graph has is passed over.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import loop, looping

Array = NDArray[Any]
PRODUCT, LEAST, LEAST_SHARE = 0, 1, 2  # n m; min(n, m); min(n / |G|, m / |H|) · |G| |H|
TILE = 64  # of a transposition, in rows and columns


@loop
def add_shared_colours(
    first: int,
    last: int,
    kind: int,
    rows: Array,
    ptr: Array,
    colour: Array,
    count: Array,
    column_ptr: Array,
    graph: Array,
    other_count: Array,
    weight: Array,
    size: Array,
    other_size: Array,
    common: Array,
    dense: Array,
    triangle: bool,
    out: Array,
) -> None:
    """out[i, j] += Σ_c weight[c] · shared(N(i, c), N(j, c)) for i in rows[first:last]; in a `triangle`, for j ≥ i.

    Colours of a row ascend, and so do the graphs of a column. Colours that the other side has no column for end a row.
    Colours that many graphs have are few, and most of the work: they stand once more with a number for every graph, as
    row common[c] of `dense` (−1: not one of them), since adding side by side is faster than jumping.
    """
    for r in range(first, last):
        i = rows[r]
        row = out[i]
        for k in range(ptr[i], ptr[i + 1]):
            c = colour[k]
            if c >= len(column_ptr) - 1:
                break
            start, stop, w = column_ptr[c], column_ptr[c + 1], weight[c]
            if w == 0 or stop == start:
                continue
            n = float(count[k])
            if common[c] >= 0:
                left = i if triangle else 0
                add_dense(kind, w, n, size[i], dense[common[c], left:], other_size[left:], row[left:])
                continue
            if triangle and stop - start > 1:
                start += np.searchsorted(graph[start:stop], i)
            # Slices, and loops from 0: an index that might be negative costs numba a question each time.
            place, m = graph[start:stop], other_count[start:stop]
            if kind == PRODUCT:
                for q in range(len(place)):
                    row[place[q]] += w * n * m[q]
            elif kind == LEAST:
                for q in range(len(place)):
                    row[place[q]] += w * min(n, float(m[q]))
            else:
                for q in range(len(place)):
                    row[place[q]] += w * min(n * other_size[place[q]], size[i] * m[q])


@loop
def add_dense(kind: int, w: float, n: float, size: float, other_count: Array, other_size: Array, row: Array) -> None:
    """One colour of one graph against its counts in all graphs."""
    if kind == PRODUCT:
        for j in range(len(row)):
            row[j] += w * n * other_count[j]
    elif kind == LEAST:
        for j in range(len(row)):
            m = other_count[j]
            row[j] += w * (n if n < m else m)
    else:
        for j in range(len(row)):
            a, b = n * other_size[j], size * other_count[j]
            row[j] += w * (a if a < b else b)


@loop
def mirror(first: int, last: int, out: Array) -> None:
    """The lower triangle from the upper one, for tiles of rows: in tiles, lest every step be a jump through memory."""
    n = len(out)
    for tile in range(first, last):
        for left in range(0, (tile + 1) * TILE, TILE):
            for i in range(tile * TILE, min((tile + 1) * TILE, n)):
                for j in range(left, min(left + TILE, i)):
                    out[i, j] = out[j, i]


@looping(error_model="numpy")
def divide_by_lengths(first: int, last: int, own: Array, other: Array, out: Array) -> None:
    """out[i, j] /= √(own[i] · other[j]), in which order does not matter: equal graphs have exactly 1."""
    for i in range(first, last):
        row = out[i]
        for j in range(len(other)):
            row[j] /= math.sqrt(own[i] * other[j])


@looping(error_model="numpy")
def distances_from_shared(first: int, last: int, own: Array, other: Array, total: float, out: Array) -> None:
    """What two graphs do not share, from what they share: out[i, j] = own[i] + other[j] − 2 out[i, j], or, if graphs
    count as shares of their nodes (`total` > 0, the sum of depths' weights), 2 (total − out[i, j] / (own[i] other[j])).
    """
    for i in range(first, last):
        row = out[i]
        for j in range(len(other)):
            if total > 0:
                pairs = own[i] * other[j]
                row[j] = max(2 * (total * pairs - row[j]) / pairs, 0.0)
            else:
                row[j] = max(own[i] + other[j] - 2 * row[j], 0.0)
