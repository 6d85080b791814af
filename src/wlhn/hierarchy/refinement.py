"""Weisfeiler-Leman colour refinement, exact and canonical.

A node's colour at depth t + 1 stands for the pair (its colour at depth t, the multiset of its neighbours' colours at
depth t). Colours of one depth are numbered 0, 1, … in an order that depends on what they stand for, never on the order
of nodes or graphs: at depth 0 by value, then by parent, then by a fixed hash of the multiset, and, should two multisets
share a hash, by the multisets themselves. Each round sorts the nodes by (parent, hash) and then compares every node
with the first of its run, so that a collision is found and resolved rather than trusted. A node that is alone with its
colour stays alone: a round has to do with the others.

A directed graph is refined as an undirected one with labelled edges: each edge u → v makes u an *in-neighbour* of v and
v an *out-neighbour* of u. With edge labels, the code c of the label becomes 2c for in-neighbours and 2c + 1 for
out-neighbours. So hashing, comparing, storing and looking up are those of labelled edges.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.graphs import Graphs, as_graphs
from wlhn.hierarchy.hierarchy import Hierarchy, Signature
from wlhn.loops import refinement as loops
from wlhn.loops.equality import check_runs
from wlhn.loops.late_rounds import late_round
from wlhn.loops.parallel import over_rows
from wlhn.loops.sorting import sort
from wlhn.options.checks import check_whole

Initial = Literal["uniform", "degree", "label", "features"]
ALL_BITS = 2**64 - 1
LATE = 4  # rounds after which few nodes change, …
MANY = 16  # … if there may be more than these: with fewer it is not worth compiling another loop
PER_JUMP = 16  # a jump through memory is worth that many numbers in a row


def refine(
    graphs: Any,
    rounds: int | None = None,
    initial: Initial | ArrayLike = "uniform",
    edge_labels: bool | ArrayLike = False,
    directed: bool = False,
) -> Hierarchy:
    """The WL hierarchy of a graph or a collection of graphs (anything `as_graphs` takes).

    Args:
        graphs: n nodes in all.
        rounds: so many rounds, or None: as many as it takes until no colour splits.
        initial: `"uniform"`, `"degree"` (edges that enter), `"label"` (node labels), `"features"` (rows of x), or an
            array of labels (n,) or feature rows (n, d).
        edge_labels: whether neighbours count together with the label of the edge they come by. True takes the graphs'
            own (labels, else rows of edge_attr), an array gives one label or row for each edge, in the order of
            `Graphs.neighbour`.
        directed: whether a node sees the nodes its edges lead to as well, apart from those its edges come from. Without
            it, it sees the latter alone, which for edges that stand in both directions is the same.

    >>> import networkx as nx
    >>> hierarchy = refine(nx.path_graph(5))
    >>> hierarchy.num_colours, hierarchy.colours[-1].tolist()
    ([1, 2, 3, 3], [0, 2, 1, 2, 0])
    >>> refine(nx.path_graph(3, nx.DiGraph), 1, directed=True).num_colours  # first, middle and last
    [1, 3]
    """
    graphs = as_graphs(graphs)
    if rounds is not None:
        check_whole("rounds", rounds, 0)
    start, initial_values = encode("initial", initial_values_of(graphs, initial), graphs.num_nodes)
    edge_code, edge_values = np.empty(0, np.int32), None
    if edge_labels is not False:
        edge_code, edge_values = encode("edge_labels", edge_values_of(graphs, edge_labels), graphs.num_edges)
    if directed:
        graphs, edge_code = graphs.in_both_directions(edge_code)

    colours, parents = [start], [np.zeros(len(initial_values), np.int32)]
    representatives = [_representatives(start, len(initial_values))]
    while rounds is None or len(colours) <= rounds:
        known = len(parents[-1])
        if len(parents) > 1 and known == len(parents[-2]):  # stable: nothing will ever split again
            if rounds is None:
                break
            colour, parent, representative = colours[-1], np.arange(known, dtype=np.int32), representatives[-1]
        else:
            late = len(colours) > LATE and (rounds is None or rounds > MANY)
            made = refine_late(graphs, edge_code, colours[-1], parents[-1]) if late else None
            colour, parent, representative = made or refine_once(graphs, edge_code, colours[-1], known)
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
        directed=directed,
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
    shared = np.zeros(num_colours, bool)
    loops.mark_shared(colour, np.zeros(num_colours, bool), shared)
    nodes = np.flatnonzero(shared[colour]).astype(np.int32)
    few = colour.astype(np.uint8) if num_colours <= 256 else colour  # bytes: more of them fit the cache
    args = (graphs.row_ptr, graphs.neighbour, edge_code, few, num_colours)
    key, nodes = sort(keys(nodes, *args, hash_mask), nodes)
    head = np.concatenate([key[:1] == key[:1], key[1:] != key[:-1]])
    false = np.zeros(len(nodes), bool)
    over_rows(check_runs, len(nodes), PER_JUMP * graphs.num_edges, nodes, head, *args, false)
    if false.any():
        _resolve(nodes, head, false, args)
    return _number(colour, shared, nodes, head)


def refine_late(
    graphs: Graphs, edge_code: NDArray[Any], colour: NDArray[Any], above: NDArray[Any], hash_mask: int = ALL_BITS
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
    """One round after another (`above` has the parent of each colour), with the result of `refine_once`: faster where
    little changes, as on a path. None where a full round is needed.
    """
    new, parent, first = (np.empty(len(colour), np.int32) for _ in range(3))
    around = (graphs.row_ptr, graphs.neighbour, edge_code, colour, above)
    made = late_round(*around, key_bits(len(above)), np.uint64(hash_mask), new, parent, first)
    return (new, parent[:made].copy(), first[:made].copy()) if made else None


def _resolve(nodes: NDArray[Any], head: NDArray[Any], false: NDArray[Any], args: tuple[Any, ...]) -> None:
    """Split runs that share a hash by the multisets themselves, in their lexicographic order (in place)."""
    start = np.append(np.flatnonzero(head), len(nodes))
    space = np.empty(int(np.diff(args[0]).max(initial=1)), np.int64)
    for run in np.unique(np.searchsorted(start, np.flatnonzero(false), side="right")):
        first, last = start[run - 1], start[run]
        multisets: dict[tuple[int, ...], list[int]] = {}
        for v in nodes[first:last].tolist():
            multisets.setdefault(tuple(loops.sorted_neighbourhood(*(*args, v, space)).tolist()), []).append(v)
        members = [multisets[multiset] for multiset in sorted(multisets)]
        nodes[first:last] = np.concatenate(members)
        head[first + np.cumsum([0, *map(len, members[:-1])])] = True


def _number(
    colour: NDArray[Any], shared: NDArray[Any], nodes: NDArray[Any], head: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Each run of nodes gets a colour, and so does each colour that was not shared: in the order of their parents."""
    above = colour[nodes[head]]  # of each run
    first_child, name, new = (np.empty(len(a), np.int32) for a in (shared, above, colour))
    parent = np.empty(len(above) + len(shared) - np.count_nonzero(shared), np.int32)
    loops.number_children(shared, above, first_child, name, parent)
    over_rows(loops.name_nodes, len(colour), PER_JUMP * len(colour), first_child, colour, new)
    run = np.cumsum(head, dtype=np.int32) - np.int32(1)
    over_rows(loops.rename_nodes, len(nodes), PER_JUMP * len(nodes), name, run, nodes, new)
    return new, parent, _representatives(new, len(parent))


def _representatives(colour: NDArray[Any], num_colours: int) -> NDArray[Any]:
    first = np.empty(num_colours, np.int32)
    loops.first_of_each(colour, first)
    return first


def keys(
    nodes: NDArray[Any],
    row_ptr: NDArray[Any],
    neighbour: NDArray[Any],
    edge_code: NDArray[Any],
    colour: NDArray[Any],
    num_colours: int,
    hash_mask: int = ALL_BITS,
) -> NDArray[Any]:
    """A number for each of these nodes, ascending by colour; nodes of one colour and equal neighbours have the same."""
    out = np.empty(len(nodes), np.uint64)
    work, bits = PER_JUMP * len(neighbour), key_bits(num_colours)
    args = (row_ptr, neighbour, edge_code, colour, num_colours, bits, np.uint64(hash_mask), out)
    over_rows(loops.node_keys, len(nodes), work, nodes, *args)
    return out


def ascending_keys(parent: NDArray[Any], signature: Signature, width: int, labelled: bool) -> NDArray[Any]:
    """What the colours of one depth of a tree ascend by, `width` colours being in the depth before."""
    return loops.signature_keys(parent, *signature, labelled, key_bits(width), np.uint64(ALL_BITS))


def key_bits(num_colours: int) -> int:
    """Bits of a key that hold the colour."""
    return max(num_colours - 1, 0).bit_length()


def encode(name: str, values: ArrayLike, length: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """(code of each row, distinct rows in ascending order): rows[code] gives the values back."""
    array = checked(name, values, length)
    if array.ndim == 1 and array.dtype.kind in "iu" and len(array):
        low, high = int(array.min()), int(array.max())
        if high - low <= 4 * len(array) and high < 2**63:  # a small range of integers needs no sort
            shifted = array.astype(np.int64) - low
            present = np.bincount(shifted) > 0
            return (np.cumsum(present, dtype=np.int32) - 1)[shifted], np.flatnonzero(present) + low
    elif array.ndim == 2 and array.shape[1] and array.dtype.kind in "iu":
        code: NDArray[Any] = np.zeros(length, np.int32)
        for column in array.T:  # rows in their lexicographic order, without comparing rows
            place, values = encode(name, column, length)
            code, _ = encode(name, code * np.int64(len(values)) + place, length)
        return code, array[_representatives(code, int(code.max(initial=-1)) + 1)]
    first, number = _numbered_rows(array) if array.dtype.kind == "f" else (slice(None), slice(None))
    rows, code = np.unique(array[first], axis=0, return_inverse=True)
    return code.reshape(-1)[number].astype(np.int32), rows


def checked(name: str, values: ArrayLike, length: int) -> NDArray[Any]:
    """Labels or rows of features, so many, in a form in which equal ones have the same bits."""
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
        return array + 0.0  # −0.0 and 0.0 are one value
    return array


def _numbered_rows(array: NDArray[Any]) -> tuple[Any, Any]:
    """(a position of each distinct row, the number of each row among these), in any order.

    Rows are told apart by a hash, as sorting rows takes a hundred times as long; should two rows share one, all rows
    count as distinct.
    """
    hashed = np.zeros(len(array), np.uint64)
    for column in array.T:
        bits = np.ascontiguousarray(column, np.float64).view(np.uint64)
        hashed = (hashed ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    _, first, number = np.unique(hashed, return_index=True, return_inverse=True)
    same = all(np.array_equal(column[first][number], column) for column in array.T)
    return (first, number) if same else (slice(None), slice(None))


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
        return _complete("x", graphs.x)
    if initial in ("label", "features"):
        raise InputError(f"initial: the graphs have no node {initial}{'s' * (initial == 'label')}")
    raise InputError(f"initial: must be uniform, degree, label, features or an array, found {initial!r}")


def edge_values_of(graphs: Graphs, edge_labels: bool | ArrayLike) -> ArrayLike:
    """What the edges are labelled with: one label or feature row for each."""
    if edge_labels is not True:
        return edge_labels
    for given in (graphs.edge_label, graphs.edge_attr):
        if given is not None:
            return _complete("edge_attr", given)
    if not graphs.num_edges:  # nor anything to label
        return np.empty(0, np.int64)
    raise InputError("edge_labels: the graphs have neither edge labels nor edge features")


def _complete(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Values of which none is missing: NaN equals nothing, not even itself."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        row, column = np.argwhere(np.isnan(np.atleast_2d(values)))[0]
        raise InputError(
            f"{name}, row {row}, column {column}: a number is missing; fill it in first (`wlhn.data.features` does)"
        )
    return values
