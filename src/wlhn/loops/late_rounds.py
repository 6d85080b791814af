"""A late round of colour refinement in one compiled call, which looks closely at what may have changed and no more.

Of the children of a colour, all but the largest have *split off* (Hopcroft's rule: the larger part need not be looked
at). A node none of whose neighbours has split off keeps its place: all such nodes of one colour see the same as each
other, as they did a round ago, each neighbour's colour being replaced by its largest child. So of each colour the nodes
that do see such neighbours are hashed and compared with one that does not, which stands for all the others. Numbers are
those of a full round: by parent, then by hash.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import loop
from wlhn.loops.equality import check_runs
from wlhn.loops.refinement import first_of_each, node_keys, number_children

Array = NDArray[Any]
MOST_CLOSE_LOOKS = 1 << 14  # nodes to look at; with more of them a full round, on all threads, is as good


@loop
def late_round(
    row_ptr: Array,
    neighbour: Array,
    edge_code: Array,
    colour: Array,
    above: Array,
    bits: int,
    mask: np.uint64,
    new: Array,
    parent: Array,
    first: Array,
) -> int:
    """The colours of the next depth, and how many; 0 if it has to be a full round (two multisets share a hash).

    `above` has the parent of each colour. Fills the colour of each node, and, by new colour, its parent and first node.
    """
    split, size = np.zeros(len(above), np.bool_), np.zeros(len(above), np.int32)
    for c in colour:
        size[c] += 1
    largest = 0
    for c in range(1, len(above)):
        if above[c] != above[c - 1]:
            largest = c
        elif size[c] > size[largest]:
            split[largest], largest = True, c
        else:
            split[c] = True
    nodes, used = np.empty(len(colour), np.int32), 0
    seen, other = np.zeros(len(above), np.bool_), np.full(len(above), -1, np.int32)
    at = np.empty(len(colour), np.bool_)
    for v in range(len(colour)):
        at[v] = split[colour[v]]
    for v in range(len(colour)):
        c, near = colour[v], False
        if size[c] == 1:
            continue
        for k in range(row_ptr[v], row_ptr[v + 1]):
            near |= at[neighbour[k]]
        if near:
            nodes[used] = v
            used += 1
            seen[c] = True
        else:
            other[c] = v
    if used > MOST_CLOSE_LOOKS:
        return 0
    for c in range(len(above)):
        if seen[c] and other[c] >= 0:
            nodes[used] = other[c]
            used += 1
    nodes = nodes[:used]
    key = np.empty(used, np.uint64)
    node_keys(0, used, nodes, row_ptr, neighbour, edge_code, colour, len(above), bits, mask, key)
    sort_pairs(key, nodes)
    head, false = np.ones(used, np.bool_), np.zeros(used, np.bool_)
    over, runs = np.empty(used, np.int32), 0
    for i in range(used):
        head[i] = i == 0 or key[i] != key[i - 1]
        if head[i]:
            over[runs] = colour[nodes[i]]
            runs += 1
    check_runs(0, used, nodes, head, row_ptr, neighbour, edge_code, colour, len(above), false)
    if false.any():
        return 0
    name, child = np.empty(runs, np.int32), np.empty(len(above), np.int32)
    number_children(seen, over[:runs], child, name, parent)
    run = -1
    for i in range(used):
        run += head[i]
        if other[colour[nodes[i]]] == nodes[i]:
            child[colour[nodes[i]]] = name[run]
    for v in range(len(colour)):
        new[v] = child[colour[v]]
    run = -1
    for i in range(used):
        run += head[i]
        new[nodes[i]] = name[run]
    first_of_each(new, first)
    made = runs
    for c in range(len(above)):
        made += not seen[c]
    return made


@loop
def sort_pairs(key: Array, value: Array) -> None:
    """Keys in ascending order, with their values, in place: Shell's sort."""
    gap = 1
    while 9 * gap < len(key):
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, len(key)):
            k, v, j = key[i], value[i], i
            while j >= gap and key[j - gap] > k:
                key[j], value[j] = key[j - gap], value[j - gap]
                j -= gap
            key[j], value[j] = k, v
        gap //= 3
