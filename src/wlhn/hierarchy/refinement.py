"""Weisfeiler-Leman colour refinement, exact and canonical.

A node's colour at depth t + 1 stands for the pair (its colour at depth t, the multiset of its neighbours' colours at
depth t). Colours of one depth are numbered 0, 1, … in an order that depends on what they stand for, never on the order
of nodes or graphs: at depth 0 by value, then by parent, then by a fixed hash of the multiset, and, should two multisets
share a hash, by the multisets themselves. Each round sorts the nodes by (parent, hash) and then compares every node
with the first of its run, so that a collision is found and resolved rather than trusted.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.graphs import Graphs, as_graphs
from wlhn.hierarchy.hierarchy import Hierarchy
from wlhn.hierarchy.kernels import (
    check_members,
    neighbourhood_hash,
    shared_neighbourhoods,
    sort_order,
    sorted_neighbourhood,
)
from wlhn.parallel import over_rows

Initial = Literal["uniform", "degree", "label", "features"]
ALL_BITS = 2**64 - 1
PER_EDGE = 16  # an edge is a jump through memory, worth that many numbers in a row
LARGE = 500_000  # nodes


def refine(
    graphs: Any,
    iterations: int | None = None,
    initial: Initial | ArrayLike = "uniform",
    edge_labels: bool | ArrayLike = False,
) -> Hierarchy:
    """The WL hierarchy of a graph or a collection of graphs (anything `as_graphs` takes).

    `iterations` rounds are made, or as many as it takes until no colour splits. The start is `"uniform"`, `"degree"`,
    `"label"` (node labels), `"features"` (rows of x), or an array of labels or feature rows, one for each node.
    With `edge_labels`, neighbours count together with the label of the edge they come by: True takes the graphs' own
    (labels, else rows of edge_attr), an array gives one label or row for each edge in the order of `Graphs.neighbour`.

    >>> import networkx as nx
    >>> hierarchy = refine(nx.path_graph(5))
    >>> hierarchy.num_colours, hierarchy.colours[-1].tolist()
    ([1, 2, 3, 3], [0, 2, 1, 2, 0])
    """
    graphs = as_graphs(graphs)
    if iterations is not None and iterations < 0:
        raise InputError(f"iterations: expected 0 or more, found {iterations}")
    start, initial_values = encode("initial", initial_values_of(graphs, initial), graphs.num_nodes)
    edge_code, edge_values = np.empty(0, np.int32), None
    if edge_labels is not False:
        edge_code, edge_values = encode("edge_labels", edge_values_of(graphs, edge_labels), graphs.num_edges)

    colours, parents, representatives = [start], [np.zeros(len(initial_values), np.int32)], [_first_of_each(start)]
    while iterations is None or len(colours) <= iterations:
        known = len(parents[-1])
        if len(parents) > 1 and known == len(parents[-2]):  # stable: nothing will ever split again
            if iterations is None:
                break
            colour, parent, representative = colours[-1], np.arange(known, dtype=np.int32), representatives[-1]
        else:
            colour, parent, representative = refine_once(graphs, edge_code, colours[-1], known)
        colours.append(colour)
        parents.append(parent)
        representatives.append(representative)
    return Hierarchy(
        node_ptr=graphs.node_ptr,
        colours=tuple(colours),
        parents=tuple(parents),
        representatives=tuple(representatives),
        start=initial if isinstance(initial, str) else "given",
        initial_values=initial_values,
        edge_values=edge_values,
        node_ids=graphs.node_ids,
        source=graphs,
        edge_code=edge_code,
    )


def refine_once(
    graphs: Graphs, edge_code: NDArray[Any], colour: NDArray[Any], num_colours: int, hash_mask: int = ALL_BITS
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """One round: (colour of each node, parent of each colour, one node of each colour).

    `hash_mask` keeps only some bits of the hash; the partition is the same with any, only slower to find.
    """
    few_in_many = num_colours <= 256 and graphs.num_nodes > LARGE  # then bytes: more of them fit the cache
    args = (graphs.row_ptr, graphs.neighbour, edge_code, colour.astype(np.uint8) if few_in_many else colour)
    key = node_keys(hash_neighbourhoods(*args) & np.uint64(hash_mask), colour, num_colours)
    new, representative = _runs(key, sort_order(key))
    false = np.zeros(len(new), bool)
    shared = shared_neighbourhoods(*args, num_colours, new, representative)
    over_rows(
        check_members, len(new), PER_EDGE * graphs.num_edges, *args, num_colours, new, representative, *shared, false
    )
    if false.any():
        new, representative = _resolve(new, np.unique(new[false]), args, num_colours)
    return new, colour[representative], representative


def _runs(key: NDArray[Any], order: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Nodes of equal key as groups, in ascending order of key: (group of each node, first node of each group)."""
    ordered = key[order]
    first = np.concatenate([ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1]])
    group = np.empty(len(order), np.int32)
    group[order] = np.cumsum(first, dtype=np.int32) - 1
    return group, order[first].astype(np.int32)


def _resolve(
    group: NDArray[Any], collided: NDArray[Any], args: tuple[Any, ...], num_colours: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Split groups that share a hash by the multisets themselves, in their lexicographic order."""
    rank = np.zeros(len(group), np.int64)  # within the group
    space = np.empty(int(np.diff(args[0]).max(initial=1)), np.int64)
    for g in collided:
        multisets: dict[tuple[int, ...], list[int]] = {}
        for v in np.flatnonzero(group == g).tolist():
            multiset = sorted_neighbourhood(*(*args, num_colours, v, space))
            multisets.setdefault(tuple(multiset.tolist()), []).append(v)
        for k, (_, members) in enumerate(sorted(multisets.items())):
            rank[members] = k
    return _runs(group * np.int64(rank.max() + 1) + rank, np.lexsort([rank, group]))


def hash_neighbourhoods(
    row_ptr: NDArray[Any], neighbour: NDArray[Any], edge_code: NDArray[Any], colour: NDArray[Any]
) -> NDArray[Any]:
    """A 64-bit hash of each node's multiset of neighbours."""
    out = np.empty(len(colour), np.uint64)
    over_rows(neighbourhood_hash, len(colour), PER_EDGE * len(neighbour), row_ptr, neighbour, edge_code, colour, out)
    return out


def node_keys(hashes: NDArray[Any], colour: NDArray[Any], num_colours: int) -> NDArray[Any]:
    """One number to sort by: the colour in the high bits, as much of the hash as fits below."""
    bits = max(num_colours - 1, 0).bit_length()
    key = hashes >> np.uint64(bits)
    if bits:
        key |= colour.astype(np.uint64) << np.uint64(64 - bits)
    return key


def encode(name: str, values: ArrayLike, length: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """(code of each row, distinct rows in ascending order): rows[code] gives the values back."""
    array = np.asarray(values)
    if array.ndim not in (1, 2) or len(array) != length:
        raise InputError(f"{name}: expected {length} labels or rows of features, found shape {array.shape}")
    if array.dtype == object:
        raise InputError(f"{name}: expected integers, strings or rows of numbers, found mixed objects")
    if np.issubdtype(array.dtype, np.floating):
        if array.ndim == 1:
            raise InputError(
                f"{name}: expected integer or text labels, or rows of features (n, d), found {array.dtype}"
            )
        if not np.isfinite(array).all():
            row, column = np.argwhere(~np.isfinite(array))[0]
            raise InputError(f"{name}, row {row}, column {column}: expected a number, found {array[row, column]}")
        array = array + 0.0  # −0.0 and 0.0 are one value
    elif array.ndim == 1 and array.dtype.kind in "iu" and len(array):
        low = int(array.min())
        if int(array.max()) - low <= 4 * len(array):  # a small range of integers needs no sort
            shifted = array.astype(np.int64) - low
            present = np.bincount(shifted) > 0
            return (np.cumsum(present, dtype=np.int32) - 1)[shifted], np.flatnonzero(present) + low
    rows, code = np.unique(array, axis=0, return_inverse=True)
    return code.reshape(-1).astype(np.int32), rows


def initial_values_of(graphs: Graphs, initial: Initial | ArrayLike) -> ArrayLike:
    """What the nodes start from: one label or feature row for each."""
    if not isinstance(initial, str):
        return initial
    if initial == "uniform":
        return np.zeros(graphs.num_nodes, np.int64)
    if initial == "degree":
        return graphs.degree
    if initial == "label" and graphs.node_label is not None:
        return graphs.node_label
    if initial == "features" and graphs.x is not None:
        return graphs.x
    if initial in ("label", "features"):
        raise InputError(f"initial: the graphs have no node {initial}{'s' * (initial == 'label')}")
    raise InputError(f"initial: expected uniform, degree, label, features or an array, found {initial!r}")


def edge_values_of(graphs: Graphs, edge_labels: bool | ArrayLike) -> ArrayLike:
    """What the edges are labelled with: one label or feature row for each."""
    if edge_labels is not True:
        return edge_labels
    for given in (graphs.edge_label, graphs.edge_attr):
        if given is not None:
            return given
    raise InputError("edge_labels: the graphs have neither edge labels nor edge features")


def _first_of_each(code: NDArray[Any]) -> NDArray[Any]:
    first = np.empty(code.max(initial=-1) + 1, np.int32)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    return first
