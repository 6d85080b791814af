"""Out of sample: new graphs against a fitted hierarchy. Known colours keep their numbers; unseen ones are −1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.graphs import as_graphs
from wlhn.hierarchy.directions import both_directions
from wlhn.hierarchy.hierarchy import Hierarchy, Signature
from wlhn.hierarchy.refinement import ALL_BITS, edge_values_of, encode, initial_values_of, key_bits, keys
from wlhn.loops.refinement import match_colours, signature_keys

IntArray = NDArray[np.integer[Any]]


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
    values = initial_values_of(graphs, hierarchy.start if initial is None else initial)
    colours: list[IntArray] = [look_up("initial", values, hierarchy.initial_values, graphs.num_nodes)]
    edge_code: IntArray = np.empty(0, np.int32)
    if hierarchy.edge_values is not None:
        values = edge_values_of(graphs, True if edge_labels is None else edge_labels)
        edge_code = look_up("edge_labels", values, hierarchy.edge_values, graphs.num_edges)
    if hierarchy.directed:
        graphs, edge_code = both_directions(graphs, edge_code)
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
    args = (row_ptr, neighbour, edge_code, colour, width)
    return match_colours(
        *args,
        keys(np.arange(len(colour)), *args),
        ascending_keys(parent, known, width, hierarchy.num_edge_codes > 0),
        parent,
        known.ptr,
        known.edge.astype(np.int64) * width + known.colour,
        known.times,
    )


def ascending_keys(parent: IntArray, signature: Signature, width: int, labelled: bool) -> NDArray[Any]:
    """What the colours of one depth of a tree ascend by, `width` colours being in the depth before."""
    return signature_keys(parent, *signature, labelled, key_bits(width), np.uint64(ALL_BITS))


def look_up(name: str, values: ArrayLike, known: NDArray[Any], length: int) -> IntArray:
    """The position of each row among the known rows, or −1."""
    code, rows = encode(name, values, length)
    if rows.shape[1:] != known.shape[1:] or (rows.dtype.kind in "US") != (known.dtype.kind in "US"):
        raise InputError(f"{name}: must be {_described(known)} as in the fit, found {_described(rows)}")
    both, place = np.unique(np.concatenate([known, rows]), axis=0, return_inverse=True)
    position = np.full(len(both), -1, np.int32)
    position[place[: len(known)]] = np.arange(len(known))
    return position[place[len(known) :]][code]


def _described(values: NDArray[Any]) -> str:
    kind = "text" if values.dtype.kind in "US" else "numbers"
    return f"{kind}, {values.shape[1]} in a row" if values.ndim == 2 else kind
