"""Compiled loops over edges."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LARGE = 500_000  # nodes; beyond, counters no longer fit the processor's cache
RANGES = 1024


def group_by_target(
    source: Array, target: Array, num_nodes: int, with_order: bool = True
) -> tuple[Array, Array, Array]:
    """Edges grouped by target, in their given order within a group: (row_ptr, sources, order of edges or nothing)."""
    if num_nodes <= LARGE:
        return _group(source, target, num_nodes, with_order)
    source, target, order = _roughly_ordered(source, target, num_nodes, with_order)
    row_ptr, neighbour, second = _group(source, target, num_nodes, with_order)
    return row_ptr, neighbour, order[second]


@numba.njit(cache=True, nogil=True)
def _group(source: Array, target: Array, num_nodes: int, with_order: bool) -> tuple[Array, Array, Array]:
    row_ptr = np.zeros(num_nodes + 1, np.int64)
    for k in range(len(target)):
        row_ptr[target[k] + 1] += 1
    for v in range(num_nodes):
        row_ptr[v + 1] += row_ptr[v]
    free = row_ptr[:-1].copy()
    neighbour = np.empty(len(source), np.int32)
    order = np.empty(len(source) if with_order else 0, np.int64)
    for k in range(len(source)):
        slot = free[target[k]]
        free[target[k]] += 1
        neighbour[slot] = source[k]
        if with_order:
            order[slot] = k
    return row_ptr, neighbour, order


@numba.njit(cache=True, nogil=True)
def _roughly_ordered(source: Array, target: Array, num_nodes: int, with_order: bool) -> tuple[Array, Array, Array]:
    """Edges with their targets in ascending ranges, so that `_group` stays in cache: (source, target, order)."""
    width = num_nodes // RANGES + 1
    start = np.zeros(RANGES + 1, np.int64)
    for k in range(len(target)):
        start[target[k] // width + 1] += 1
    start = np.cumsum(start)
    new_source, new_target = np.empty(len(source), np.int32), np.empty(len(source), np.int32)
    order = np.empty(len(source) if with_order else 0, np.int64)
    for k in range(len(target)):
        slot = start[target[k] // width]
        start[target[k] // width] += 1
        new_source[slot], new_target[slot] = source[k], target[k]
        if with_order:
            order[slot] = k
    return new_source, new_target, order
