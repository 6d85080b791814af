"""Out of sample: new graphs against a fitted hierarchy. Known colours keep their numbers; unseen ones are −1."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.graphs import as_graphs
from wlhn.hierarchy.hierarchy import Hierarchy
from wlhn.hierarchy.refinement import ascending_keys, checked, edge_values_of, encode, initial_values_of, keys
from wlhn.loops.refinement import match_colours

IntArray = NDArray[np.integer[Any]]
ROW_BY_ROW = 256  # up to this many rows, looking each one up is faster than finding the distinct ones first
Table = dict[Hashable, int]


@dataclass(frozen=True)
class _Ready:
    """Look-up tables of a hierarchy, built on first use."""

    tables: dict[tuple[str, str], Table] = field(default_factory=dict)  # of values, by their name and type
    signatures: dict[int, tuple[IntArray, IntArray]] = field(default_factory=dict)  # by depth: keys, items


_ready: WeakKeyDictionary[Hierarchy, _Ready] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Assignment:
    """Where the nodes of new graphs lie in a fitted hierarchy."""

    colours: tuple[IntArray, ...]  # T + 1 arrays (nodes,); −1 where the colour is not in the hierarchy
    left_at: IntArray  # (nodes,) the depth at which a node left the tree; T + 1 where it never did

    @property
    def known(self) -> list[float]:
        """The share of nodes still in the tree, depth by depth."""
        return [float((colour >= 0).mean()) if len(colour) else 1.0 for colour in self.colours]


def assign(
    hierarchy: Hierarchy, graphs: Any, initial: ArrayLike | None = None, edge_labels: ArrayLike | None = None
) -> Assignment:
    """Colours of new graphs in a fitted hierarchy.

    `initial` and `edge_labels` are needed only where the fit was given arrays instead of what the graphs hold.

    >>> import networkx as nx, wlhn
    >>> fitted = wlhn.refine(nx.path_graph(4), rounds=1)
    >>> new = wlhn.assign(fitted, nx.star_graph(3))
    >>> new.colours[1].tolist(), new.left_at.tolist()
    ([-1, 0, 0, 0], [1, 2, 2, 2])
    """
    graphs = as_graphs(graphs)
    if initial is None and hierarchy.start == "given":
        raise InputError("initial: the fit was given an array; give one for these graphs too")
    values, ready = initial_values_of(graphs, hierarchy.start if initial is None else initial), _ready_of(hierarchy)
    known_values, tables = hierarchy.initial_values, ready.tables
    colours: list[IntArray] = [look_up("initial", values, known_values, graphs.num_nodes, tables)]
    edge_code: IntArray = np.empty(0, np.int32)
    if hierarchy.edge_values is not None:
        values = edge_values_of(graphs, True if edge_labels is None else edge_labels)
        edge_code = look_up("edge_labels", values, hierarchy.edge_values, graphs.num_edges, tables)
    if hierarchy.directed:
        graphs, edge_code = graphs.in_both_directions(edge_code)
    for t in range(1, hierarchy.depth + 1):
        colours.append(colours_of_round(hierarchy, t, graphs.row_ptr, graphs.neighbour, edge_code, colours[-1]))
    left_at = sum((colour >= 0).astype(np.int64) for colour in colours)
    return Assignment(tuple(colours), np.asarray(left_at))


def colours_of_round(
    hierarchy: Hierarchy, t: int, row_ptr: IntArray, neighbour: IntArray, edge_code: IntArray, colour: IntArray
) -> IntArray:
    """The colours of depth t that nodes with these neighbours have, from their colours of the depth before; −1 where
    there is none.
    """
    width, known, parent = max(hierarchy.num_colours[t - 1], 1), hierarchy.signature(t), hierarchy.parents[t]
    signatures = _ready_of(hierarchy).signatures
    if t not in signatures:
        known_key = ascending_keys(parent, known, width, hierarchy.num_edge_codes > 0)
        signatures[t] = known_key, known.edge.astype(np.int64) * width + known.colour
    known_key, known_item = signatures[t]
    args = (row_ptr, neighbour, edge_code, colour, width)
    key = keys(np.arange(len(colour)), *args)
    return match_colours(*args, key, known_key, parent, known.ptr, known_item, known.times)


def _ready_of(hierarchy: Hierarchy) -> _Ready:
    if hierarchy not in _ready:
        _ready[hierarchy] = _Ready()
    return _ready[hierarchy]


def look_up(
    name: str,
    values: ArrayLike,
    known: NDArray[Any],
    length: int,
    tables: dict[tuple[str, str], Table] | None = None,
) -> IntArray:
    """The position of each row among the known rows, or −1; `tables` keeps what is made of the known ones.

    >>> look_up("labels", np.array([7, 8, 5]), np.array([5, 7]), 3).tolist()
    [1, -1, 0]
    """
    array, code = checked(name, values, length), None
    if len(array) > ROW_BY_ROW:
        code, array = encode(name, array, length)
    if array.shape[1:] != known.shape[1:] or (array.dtype.kind in "US") != (known.dtype.kind in "US"):
        raise InputError(f"{name}: must be {_described(known)} as in the fit, found {_described(array)}")
    kind, tables = None if known.dtype.kind in "US" else np.result_type(known, array), {} if tables is None else tables
    key = name, "text" if kind is None else kind.str
    table = tables.get(key)
    if table is None:
        table = tables[key] = {row: i for i, row in enumerate(_comparable(known, kind))}
    place = np.fromiter((table.get(row, -1) for row in _comparable(array, kind)), np.int32, len(array))
    return place if code is None else place[code]


def _comparable(rows: NDArray[Any], kind: np.dtype[Any] | None) -> Sequence[Hashable]:
    """What equal rows share: text in Python, whatever its width; numbers of one kind as they lie in memory."""
    if kind is None:
        text = np.char.decode(rows, "latin-1") if rows.dtype.kind == "S" else rows
        return text.tolist() if text.ndim == 1 else list(map(tuple, text.tolist()))
    array = np.ascontiguousarray(rows, kind)
    if kind.itemsize > 8:  # long doubles have padding bytes, which may be anything
        return list(map(tuple, array.tolist()))
    size, whole = kind.itemsize * int(np.prod(array.shape[1:])), array.tobytes()
    return [whole[i : i + size] for i in range(0, size * len(array), size)] if size else [b""] * len(array)


def _described(values: NDArray[Any]) -> str:
    kind = "text" if values.dtype.kind in "US" else "numbers"
    return f"{kind}, {values.shape[1]} in a row" if values.ndim == 2 else kind
