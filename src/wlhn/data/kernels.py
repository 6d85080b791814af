"""Compiled loops over edges of a file."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@numba.njit(cache=True, nogil=True)
def first_bad_edge(source: Array, target: Array, graph: Array) -> int:
    """The first edge that names a node that does not exist or joins two graphs, or −1."""
    n = len(graph)
    for k in range(len(source)):
        u, v = source[k], target[k]
        if u < 0 or v < 0 or u >= n or v >= n or graph[u] != graph[v]:
            return k
    return -1


@numba.njit(cache=True, nogil=True)
def once_each(row_ptr: Array, neighbour: Array, keep_loops: bool) -> tuple[Array, int, int]:
    """For edges grouped by target: which to keep so that each stands once, and how many doubles and loops go."""
    keep = np.ones(len(neighbour), np.bool_)
    seen = np.full(len(row_ptr) - 1, -1, np.int64)
    doubled, loops = 0, 0
    for v in range(len(row_ptr) - 1):
        for k in range(row_ptr[v], row_ptr[v + 1]):
            u = neighbour[k]
            if u == v and not keep_loops:
                loops += 1
                keep[k] = False
            elif seen[u] == v:
                doubled += 1
                keep[k] = False
            seen[u] = v
    return keep, doubled, loops
