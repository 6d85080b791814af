"""Edges grouped by their target."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.sorting import group

Array = NDArray[Any]


def group_by_target(
    source: Array, target: Array, num_nodes: int, with_order: bool = True
) -> tuple[Array, Array, Array]:
    """Edges grouped by target, in their given order within a group: (row_ptr, sources, order of edges or nothing)."""
    if with_order:
        row_ptr, order = group(target, np.arange(len(target)), num_nodes)
        return row_ptr, source[order].astype(np.int32, copy=False), order
    row_ptr, neighbour = group(target, source.astype(np.int32, copy=False), num_nodes)
    return row_ptr, neighbour, np.empty(0, np.int64)
