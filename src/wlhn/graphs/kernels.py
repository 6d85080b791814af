"""Compiled loops over edges."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@numba.njit(cache=True, nogil=True)
def group_by_target(
    source: Array, target: Array, num_nodes: int, with_order: bool = True
) -> tuple[Array, Array, Array]:
    """Edges grouped by target, in their given order within a group: (row_ptr, sources, order of edges or nothing)."""
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
