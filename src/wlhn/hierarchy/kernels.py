"""Compiled loops of colour refinement: hash neighbourhoods, check the hashes, write the signatures down."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@numba.njit(cache=True, nogil=True, inline="always")
def mix(x: np.uint64) -> np.uint64:
    """A fixed bijection of 64-bit words in which every bit of the input moves every bit of the output."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@numba.njit(cache=True, nogil=True, inline="always")
def word(colour: int) -> np.uint64:
    return mix(np.uint64(colour + 1) * np.uint64(0x9E3779B97F4A7C15))


@numba.njit(cache=True, nogil=True)
def neighbourhood_hash(
    first: int, last: int, row_ptr: Array, neighbour: Array, edge_code: Array, colour: Array, out: Array
) -> None:
    """A hash of each node's multiset of (neighbour's colour, edge label); a sum, so no order of edges matters.

    Where a neighbour's colour is unknown (−1) the hash means nothing.
    """
    labelled = len(edge_code) > 0
    for v in range(first, last):
        total = np.uint64(0)
        for k in range(row_ptr[v], row_ptr[v + 1]):
            w = word(colour[neighbour[k]])
            total += mix(w + np.uint64(edge_code[k])) if labelled else w
        out[v] = mix(total)


@numba.njit(cache=True, nogil=True)
def sort_order(key: Array) -> Array:
    """The stable order of 64-bit keys, by radix: eleven bits a pass, passes in which all keys agree left out."""
    passes, buckets, mask = 6, 2048, np.uint64(2047)
    count = np.zeros((passes, buckets), np.int64)
    for k in key:
        for p in range(passes):
            count[p, (k >> np.uint64(11 * p)) & mask] += 1
    order, new_order = np.arange(len(key), dtype=np.int32), np.empty(len(key), np.int32)
    key, new_key = key.copy(), np.empty_like(key)
    for p in range(passes):
        if count[p].max() == len(key):
            continue
        shift, start = np.uint64(11 * p), np.cumsum(count[p]) - count[p]
        for i in range(len(key)):
            digit = (key[i] >> shift) & mask
            new_key[start[digit]], new_order[start[digit]] = key[i], order[i]
            start[digit] += 1
        key, new_key, order, new_order = new_key, key, new_order, order
    return order


@numba.njit(cache=True, nogil=True)
def sorted_neighbourhood(
    row_ptr: Array, neighbour: Array, edge_code: Array, colour: Array, num_colours: int, node: int, out: Array
) -> Array:
    """The multiset itself: one number for each (edge label, colour), ascending, written to the front of `out`."""
    start, stop = row_ptr[node], row_ptr[node + 1]
    for k in range(start, stop):
        out[k - start] = colour[neighbour[k]]
        if len(edge_code):
            out[k - start] += np.int64(edge_code[k]) * num_colours
    row = out[: stop - start]
    if len(row) > 32:
        row.sort()
        return row
    for i in range(1, len(row)):  # short rows: insertion beats the general sort
        value, j = row[i], i
        while j and row[j - 1] > value:
            row[j] = row[j - 1]
            j -= 1
        row[j] = value
    return row


@numba.njit(cache=True, nogil=True)
def shared_neighbourhoods(
    row_ptr: Array, neighbour: Array, edge_code: Array, colour: Array, num_colours: int, group: Array, first: Array
) -> tuple[Array, Array]:
    """Sorted neighbourhoods (offsets, entries) of the first node of each group that has others."""
    ptr = np.zeros(len(first) + 1, np.int64)
    for v in range(len(group)):
        u = first[group[v]]
        if u != v:
            ptr[group[v] + 1] = row_ptr[u + 1] - row_ptr[u]
    ptr = np.cumsum(ptr)
    entry = np.empty(ptr[-1], np.int64)
    for g in range(len(first)):
        if ptr[g] < ptr[g + 1]:
            row = entry[ptr[g] : ptr[g + 1]]
            sorted_neighbourhood(row_ptr, neighbour, edge_code, colour, num_colours, first[g], row)
    return ptr, entry


@numba.njit(cache=True, nogil=True)
def check_members(
    start: int,
    stop: int,
    row_ptr: Array,
    neighbour: Array,
    edge_code: Array,
    colour: Array,
    num_colours: int,
    group: Array,
    first: Array,
    ptr: Array,
    entry: Array,
    false: Array,
) -> None:
    """Mark the nodes whose neighbourhood is not that of their group's first: hash collisions, found by comparing.

    This is what makes the hash exact. Nodes are walked in order, so that their edges are read in order.
    """
    width = 1
    for v in range(start, stop):
        width = max(width, row_ptr[v + 1] - row_ptr[v])
    mine = np.empty(width, np.int64)
    for v in range(start, stop):
        g = group[v]
        if first[g] == v:
            continue
        same = ptr[g + 1] - ptr[g] == row_ptr[v + 1] - row_ptr[v]
        if same:
            row = sorted_neighbourhood(row_ptr, neighbour, edge_code, colour, num_colours, v, mine)
            for j in range(len(row)):
                if row[j] != entry[ptr[g] + j]:
                    same = False
                    break
        false[v] = not same


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def signature_hash(ptr: Array, colour: Array, edge: Array, count: Array, labelled: bool) -> Array:
    """The hash of `neighbourhood_hash`, from counted rows."""
    out = np.empty(len(ptr) - 1, np.uint64)
    for i in range(len(out)):
        total = np.uint64(0)
        for k in range(ptr[i], ptr[i + 1]):
            w = word(colour[k])
            total += (mix(w + np.uint64(edge[k])) if labelled else w) * np.uint64(count[k])
        out[i] = mix(total)
    return out


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def tree_depth(parent: Array) -> Array:
    """The depth of each node of a tree in which parents come before their children."""
    depth = np.zeros(len(parent), np.int64)
    for v in range(1, len(parent)):
        depth[v] = depth[parent[v]] + 1
    return depth
