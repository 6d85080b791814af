"""Compiled loops of colour refinement: hash neighbourhoods, write them down, look them up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import loop, looping

Array = NDArray[Any]
BLOCK = 256  # nodes whose neighbours are looked up together


@looping(inline="always")
def mix(x: np.uint64) -> np.uint64:
    """A fixed bijection of 64-bit words in which every bit of the input moves every bit of the output."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@looping(inline="always")
def word(colour: int) -> np.uint64:
    return mix(np.uint64(colour + 1) * np.uint64(0x9E3779B97F4A7C15))


@looping(inline="always")
def key_of(colour: int, total: np.uint64, bits: int, mask: np.uint64) -> np.uint64:
    """One number to sort by: the colour in the high bits, as much of the multiset's hash as fits below."""
    if bits == 0:
        return mix(total) & mask
    return (np.uint64(colour) << np.uint64(64 - bits)) | ((mix(total) & mask) >> np.uint64(bits))


@loop
def gather(nodes: Array, row_ptr: Array, neighbour: Array, colour: Array, start: Array, around: Array) -> Array:
    """Colours of the neighbours of a few nodes, row after row: those of nodes[i] at start[i] … start[i + 1] − 1.

    `start` is filled; `around` has room or is replaced. A pass for each kind of jump through memory: with nothing to
    decide in between, the processor makes many of them at a time.
    """
    start[0] = 0
    for i in range(len(nodes)):
        start[i + 1] = start[i] + row_ptr[nodes[i] + 1] - row_ptr[nodes[i]]
    size = start[len(nodes)]
    if len(around) < size:
        around = np.empty(2 * size, np.int64)
    for i in range(len(nodes)):
        shift = row_ptr[nodes[i]] - start[i]
        for j in range(start[i], start[i + 1]):
            around[j] = neighbour[j + shift]
    for j in range(size):
        around[j] = colour[around[j]]
    return around


@loop
def node_keys(
    first: int,
    last: int,
    nodes: Array,
    row_ptr: Array,
    neighbour: Array,
    edge_code: Array,
    colour: Array,
    num_colours: int,
    bits: int,
    mask: np.uint64,
    out: Array,
) -> None:
    """Keys of these nodes, with a hash of the multiset of (neighbour's colour, edge label): a sum, whatever the order.

    Where a colour is unknown (−1) the key means nothing.
    """
    labelled = len(edge_code) > 0
    start, around = np.empty(BLOCK + 1, np.int64), np.empty(0, np.int64)
    for low in range(first, last, BLOCK):
        block = nodes[low : min(low + BLOCK, last)]
        if num_colours == 1 and not labelled:  # then neighbours differ in number only
            for i in range(len(block)):
                v = block[i]
                out[low + i] = key_of(colour[v], word(0) * np.uint64(row_ptr[v + 1] - row_ptr[v]), bits, mask)
            continue
        around = gather(block, row_ptr, neighbour, colour, start, around)
        for i in range(len(block)):
            total = np.uint64(0)
            for j in range(start[i], start[i + 1]):
                w = word(around[j])
                total += mix(w + np.uint64(edge_code[j - start[i] + row_ptr[block[i]]])) if labelled else w
            out[low + i] = key_of(colour[block[i]], total, bits, mask)


@loop
def mark_shared(colour: Array, times: Array, shared: Array) -> None:
    """Which colours more than one node has; `times` and `shared` have a place for each and nothing in it."""
    for c in colour:
        shared[c] = times[c]
        times[c] = True


@loop
def number_children(shared: Array, above: Array, first_child: Array, name: Array, parent: Array) -> None:
    """Numbers for new colours, ascending by parent: a run of nodes is a child of the colour `above` it (ascending);
    a colour that is not shared has one child. Fills the last three: by old colour, by run, by new colour.
    """
    used, run = 0, 0
    for c in range(len(shared)):
        first_child[c] = used
        if not shared[c]:
            parent[used] = c
            used += 1
        while run < len(above) and above[run] == c:
            name[run], parent[used] = used, c
            used += 1
            run += 1


@loop
def name_nodes(first: int, last: int, first_child: Array, colour: Array, new: Array) -> None:
    for v in range(first, last):
        new[v] = first_child[colour[v]]


@loop
def rename_nodes(first: int, last: int, name: Array, run: Array, nodes: Array, new: Array) -> None:
    for i in range(first, last):
        new[nodes[i]] = name[run[i]]


@loop
def first_of_each(colour: Array, first: Array) -> None:
    """The first node of each colour."""
    for v in range(len(colour) - 1, -1, -1):
        first[colour[v]] = v


@loop
def sorted_neighbourhood(
    row_ptr: Array, neighbour: Array, edge_code: Array, colour: Array, num_colours: int, node: int, out: Array
) -> Array:
    """The multiset itself: one number for each (edge label, colour), ascending, written to the front of `out`."""
    start, stop = row_ptr[node], row_ptr[node + 1]
    for k in range(start, stop):
        out[k - start] = colour[neighbour[k]]
        if len(edge_code):
            out[k - start] += np.int64(edge_code[k]) * num_colours
    row, gap = out[: stop - start], 1
    while 9 * gap < len(row):
        gap = 3 * gap + 1
    while gap:  # Shell's sort: insertion for short rows, and a second less to compile than numba's own
        for i in range(gap, len(row)):
            value, j = row[i], i
            while j >= gap and row[j - gap] > value:
                row[j] = row[j - gap]
                j -= gap
            row[j] = value
        gap //= 3
    return row


@loop
def signatures(
    row_ptr: Array, neighbour: Array, edge_code: Array, colour: Array, num_colours: int, nodes: Array
) -> tuple[Array, Array, Array]:
    """Neighbourhoods of these nodes as counted rows: (offsets, (edge label, colour) as one number, count)."""
    size, width = 0, 1
    for v in nodes:
        size += row_ptr[v + 1] - row_ptr[v]
        width = max(width, row_ptr[v + 1] - row_ptr[v])
    space = np.empty(width, np.int64)
    ptr = np.zeros(len(nodes) + 1, np.int64)
    item = np.empty(size, np.int64)
    count = np.empty(size, np.int32)
    used = 0
    for i in range(len(nodes)):
        row = sorted_neighbourhood(row_ptr, neighbour, edge_code, colour, num_colours, nodes[i], space)
        for j in range(len(row)):
            if j and row[j] == row[j - 1]:
                count[used - 1] += 1
            else:
                item[used] = row[j]
                count[used] = 1
                used += 1
        ptr[i + 1] = used
    return ptr, item[:used].copy(), count[:used].copy()


@loop
def signature_keys(
    parent: Array, ptr: Array, colour: Array, edge: Array, times: Array, labelled: bool, bits: int, mask: np.uint64
) -> Array:
    """The keys of `node_keys`, from counted rows."""
    out = np.empty(len(parent), np.uint64)
    for i in range(len(out)):
        total = np.uint64(0)
        for k in range(ptr[i], ptr[i + 1]):
            w = word(colour[k])
            total += (mix(w + np.uint64(edge[k])) if labelled else w) * np.uint64(times[k])
        out[i] = key_of(parent[i], total, bits, mask)
    return out


@loop
def match_colours(
    row_ptr: Array,
    neighbour: Array,
    edge_code: Array,
    colour: Array,
    num_colours: int,
    key: Array,
    known_key: Array,
    known_parent: Array,
    known_ptr: Array,
    known_item: Array,
    known_count: Array,
) -> Array:
    """The known colour of each node, or −1: candidates by key (ascending in `known_key`), then compared in full."""
    out = np.full(len(colour), -1, np.int32)
    space = np.empty(len(neighbour) + 1, np.int64)
    for v in range(len(colour)):
        complete = colour[v] >= 0
        for k in range(row_ptr[v], row_ptr[v + 1]):
            if colour[neighbour[k]] < 0 or (len(edge_code) and edge_code[k] < 0):
                complete = False
                break
        if not complete:
            continue
        row = sorted_neighbourhood(row_ptr, neighbour, edge_code, colour, num_colours, v, space)
        c = np.searchsorted(known_key, key[v])
        while c < len(known_key) and known_key[c] == key[v] and out[v] < 0:
            same = known_parent[c] == colour[v]
            used = 0
            for k in range(known_ptr[c], known_ptr[c + 1]):
                for _ in range(known_count[k]):
                    same = same and used < len(row) and row[used] == known_item[k]
                    used += 1
                if not same:
                    break
            if same and used == len(row):
                out[v] = c
            c += 1
    return out


@loop
def tree_depth(parent: Array) -> Array:
    """The depth of each node of a tree in which parents come before their children."""
    depth = np.zeros(len(parent), np.int64)
    for v in range(1, len(parent)):
        depth[v] = depth[parent[v]] + 1
    return depth
