"""Compiled loops that make hashing exact: nodes of equal hash are compared, neighbour by neighbour.

Comparing two multisets needs no sorting: the first goes into a small hash table, and the others are counted against it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import loop, looping
from wlhn.loops.refinement import BLOCK, gather

Array = NDArray[Any]


@looping(inline="always")
def slot_of(item: int, table: Array) -> np.int64:
    """Where an item stands in the hash table, or would."""
    slot = np.int64((np.uint64(item) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & np.int64(len(table) - 1)
    while table[slot] != item and table[slot] >= 0:
        slot = (slot + 1) & np.int64(len(table) - 1)
    return slot


@loop
def check_runs(
    first: int,
    last: int,
    nodes: Array,
    head: Array,
    row_ptr: Array,
    neighbour: Array,
    edge_code: Array,
    colour: Array,
    num_colours: int,
    false: Array,
) -> None:
    """Mark the nodes whose neighbourhood is not that of the head of their run: collisions, found by comparing.

    This is what makes the hash exact. Runs of a single node have nothing to compare.
    """
    at = first
    while at and not head[at]:  # what lies before `first` is another thread's, but for the head
        at -= 1
    if num_colours == 1 and not len(edge_code):  # then neighbours differ in number only
        for i in range(first, last):
            at = i if head[i] else at
            u, v = nodes[at], nodes[i]
            false[i] = row_ptr[u + 1] - row_ptr[u] != row_ptr[v + 1] - row_ptr[v]
        return
    start, around = np.empty(BLOCK + 1, np.int64), np.empty(0, np.int64)
    place, block, i = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int32), at
    table, times, seen = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
    degree, members = 0, 0
    while i < last:
        used = 0
        while i < last and used < BLOCK:
            place[used], block[used] = i, nodes[i]
            used += not head[i] or (i + 1 < len(nodes) and not head[i + 1])
            i = max(i + 1, first)
        around = gather(block[:used], row_ptr, neighbour, colour, start, around)
        for m in range(used):
            row = around[start[m] : start[m + 1]]
            for j in range(len(row) if len(edge_code) else 0):
                row[j] += np.int64(edge_code[row_ptr[block[m]] + j]) * num_colours
            if head[place[m]]:
                degree, members = len(row), 0
                if not 2 * degree < len(table) <= 32 + 16 * degree:
                    size = 16
                    while size <= 2 * degree:
                        size *= 2
                    table, times, seen = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
                for k in range(len(table)):
                    table[k], times[k], seen[k] = -1, 0, 0
                for j in range(degree):
                    slot = slot_of(row[j], table)
                    table[slot] = row[j]
                    times[slot] += 1
                continue
            # All members so far had every item as often as the head had, and so has this one, if no item is too many:
            # rows are equally long, so none can be missing.
            members += 1
            same = len(row) == degree
            for j in range(degree if same else 0):
                slot = slot_of(row[j], table)
                seen[slot] += 1
                same &= seen[slot] <= members * times[slot]
            if not same:
                false[place[m]] = True
                seen[:], members = 0, 0
