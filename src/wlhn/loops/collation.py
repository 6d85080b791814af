"""Compiled loops that put colour batches together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import loop

Array = NDArray[Any]


@loop
def mark_new(ptr: Array, colour: Array, graphs: Array, slot: Array) -> Array:
    """The distinct colours of these graphs, in order of appearance; marks them in `slot` (−1: not seen yet)."""
    size = 0
    for g in graphs:
        size += ptr[g + 1] - ptr[g]
    out = np.empty(size, np.int32)
    used = 0
    for g in graphs:
        for k in range(ptr[g], ptr[g + 1]):
            c = colour[k]
            if slot[c] < 0:
                slot[c] = 0
                out[used] = c
                used += 1
    return out[:used].copy()


@loop
def enter_rows(
    rows: Array, ptr: Array, colour: Array, count: Array, graphs: Array, slot: Array, per_graph: bool
) -> tuple[Array, Array, Array, Array]:
    """Number the rows in `slot`: (nodes of each row, and, if wanted, graphs × rows as offsets, rows, counts)."""
    for i in range(len(rows)):
        slot[rows[i]] = i
    weight = np.zeros(len(rows), np.float32)
    new_ptr = np.zeros(len(graphs) + 1, np.int64)
    if not per_graph:
        for g in graphs:
            for k in range(ptr[g], ptr[g + 1]):
                weight[slot[colour[k]]] += count[k]
        return weight, new_ptr, np.empty(0, np.int32), np.empty(0, np.float32)
    for i in range(len(graphs)):
        new_ptr[i + 1] = new_ptr[i] + ptr[graphs[i] + 1] - ptr[graphs[i]]
    index, value = np.empty(new_ptr[-1], np.int32), np.empty(new_ptr[-1], np.float32)
    for i in range(len(graphs)):
        for j in range(new_ptr[i + 1] - new_ptr[i]):
            k = ptr[graphs[i]] + j
            row = slot[colour[k]]
            weight[row] += count[k]
            index[new_ptr[i] + j] = row
            value[new_ptr[i] + j] = count[k]
    return weight, new_ptr, index, value


@loop
def take_rows(
    rows: Array, parent: Array, ptr: Array, colour: Array, times: Array, before: Array, num_before: int
) -> tuple[Array, Array, Array, Array, Array]:
    """These colours in the numbering `before` of their depth's predecessor: (parents, children of each parent as
    offsets, and neighbours as offsets, rows, counts).
    """
    new_parent, child_ptr = np.empty(len(rows), np.int64), np.zeros(num_before + 1, np.int64)
    new_ptr = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        new_parent[i] = before[parent[rows[i]]]
        child_ptr[new_parent[i] + 1] += 1
        new_ptr[i + 1] = new_ptr[i] + ptr[rows[i] + 1] - ptr[rows[i]]
    for p in range(num_before):
        child_ptr[p + 1] += child_ptr[p]
    column, value = np.empty(new_ptr[-1], np.int32), np.empty(new_ptr[-1], np.float32)
    for i in range(len(rows)):
        start = ptr[rows[i]]
        for j in range(new_ptr[i + 1] - new_ptr[i]):
            column[new_ptr[i] + j] = before[colour[start + j]]
            value[new_ptr[i] + j] = times[start + j]
    return new_parent, child_ptr, new_ptr, column, value


@loop
def transpose(ptr: Array, index: Array, value: Array, num_columns: int) -> tuple[Array, Array, Array]:
    """A sparse matrix by columns, given by rows."""
    t_ptr = np.zeros(num_columns + 1, np.int64)
    for k in range(len(index)):
        t_ptr[index[k] + 1] += 1
    for c in range(num_columns):
        t_ptr[c + 1] += t_ptr[c]
    free = t_ptr[:-1].copy()
    t_index, t_value = np.empty(len(index), np.int32), np.empty(len(index), value.dtype)
    for i in range(len(ptr) - 1):
        for k in range(ptr[i], ptr[i + 1]):
            slot = free[index[k]]
            free[index[k]] += 1
            t_index[slot] = i
            t_value[slot] = value[k]
    return t_ptr, t_index, t_value
