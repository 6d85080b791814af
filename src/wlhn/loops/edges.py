"""Compiled loops over edges of a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import loop

Array = NDArray[Any]


@loop
def first_bad_edge(source: Array, target: Array, graph: Array) -> int:
    """The first edge that names a node that does not exist or joins two graphs, or −1."""
    n = len(graph)
    for k in range(len(source)):
        u, v = source[k], target[k]
        if u < 0 or v < 0 or u >= n or v >= n or graph[u] != graph[v]:
            return k
    return -1


@loop
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


@loop
def undirected_edges(
    row_ptr: Array, source: Array, out_ptr: Array, target: Array, node_ptr: Array
) -> tuple[Array, int]:
    """Pairs of different nodes with an edge in either direction, for each graph, and the number of self-loops."""
    pairs = np.zeros(len(node_ptr) - 1, np.int64)
    seen = np.full(len(row_ptr) - 1, -1, np.int64)
    loops = 0
    for g in range(len(node_ptr) - 1):
        ends = 0
        for v in range(node_ptr[g], node_ptr[g + 1]):
            for k in range(row_ptr[v], row_ptr[v + 1]):
                u = source[k]
                loops += u == v
                ends += u != v and seen[u] != v
                seen[u] = v
            for k in range(out_ptr[v], out_ptr[v + 1]):
                u = target[k]
                ends += u != v and seen[u] != v
                seen[u] = v
        pairs[g] = ends // 2
    return pairs, loops
