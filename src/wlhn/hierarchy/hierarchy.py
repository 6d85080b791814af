"""The WL hierarchy as a value: who has which colour at which depth, and how colours descend from each other.

A colour is named by its depth t and its number, 0 … num_colours[t] − 1; the children of a colour lie side by side.
The hierarchy's tree has a root above the colours of depth 0, unless these are a single one, which then is the root
(the paper counts IMDB-BINARY's hierarchy so: 1 + 65 + 2,931 = 2,997 nodes).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.graphs import Graphs
from wlhn.hierarchy import storage
from wlhn.hierarchy.tree import Tree, check_pairs
from wlhn.loops.refinement import signatures
from wlhn.notebook import html_table
from wlhn.words import counted

IntArray = NDArray[np.integer[Any]]


class Signature(NamedTuple):
    """What the colours of one depth stand for beside their parents: counted neighbours, row by row."""

    ptr: IntArray  # (colours + 1,)
    colour: IntArray  # colours of the depth before
    edge: IntArray  # edge labels as codes, all 0 without edge labels; if directed, 2 · code, and + 1 for out-neighbours
    times: IntArray

    def row(self, colour: int) -> Iterator[tuple[int, int, int]]:
        """(colour, edge, times) of the counted neighbours of one colour, one after the other."""
        here = slice(self.ptr[colour], self.ptr[colour + 1])
        return zip(self.colour[here].tolist(), self.edge[here].tolist(), self.times[here].tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Colours of all nodes at depths 0 … T. Made by `refine`, by `load`, or from other parts of this package.

    >>> import networkx as nx, wlhn
    >>> star = wlhn.refine(nx.star_graph(3), rounds=1)
    >>> star
    Hierarchy(4 nodes, colours per depth [1, 2])
    >>> star.distance([0, 1], [1, 2]).tolist()
    [2, 0]
    """

    node_ptr: IntArray  # (graphs + 1,)
    colours: tuple[IntArray, ...]  # T + 1 arrays (nodes,)
    parents: tuple[IntArray, ...]  # T + 1 arrays (colours,); those of depth 0 are 0, the root
    start: str  # how depth 0 was made: uniform, degree, label, features, categories (some of x), or from a given array
    initial_values: NDArray[Any]  # (colours of depth 0, …): the value each stands for
    edge_values: NDArray[Any] | None = None  # the value each edge code stands for
    directed: bool = False  # whether in- and out-neighbours count apart
    node_ids: Any = None
    representatives: tuple[IntArray, ...] = field(default=(), repr=False)  # one node of each colour
    source: Graphs | None = field(default=None, repr=False)  # the graphs (as they were refined), while in memory
    edge_code: IntArray = field(default_factory=lambda: np.empty(0, np.int32), repr=False)
    _signatures: dict[int, Signature] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"Hierarchy({self.num_nodes} nodes, colours per depth {self.num_colours})"

    def _repr_html_(self) -> str:
        """What a notebook shows: colours depth by depth."""
        rows = [tuple(row.values()) for row in self.summary]
        title = f"Hierarchy of {self.num_nodes:,} nodes in {counted(self.num_graphs, 'graph')}, start {self.start}"
        return html_table(title, ("depth", "colours", "nodes of the largest", "colours of one node"), rows)

    @property
    def summary(self) -> list[dict[str, int]]:
        """Depth by depth: how many colours, nodes of the largest, and colours of a single node."""
        sizes = [self.count(t) for t in range(self.depth + 1)]
        return [
            {"depth": t, "colours": len(n), "largest": int(n.max(initial=0)), "single_nodes": int((n == 1).sum())}
            for t, n in enumerate(sizes)
        ]

    @property
    def depth(self) -> int:
        """T, the number of rounds."""
        return len(self.colours) - 1

    @property
    def num_nodes(self) -> int:
        return int(self.node_ptr[-1])

    @property
    def num_graphs(self) -> int:
        return len(self.node_ptr) - 1

    @cached_property
    def num_colours(self) -> list[int]:
        return [len(p) for p in self.parents]

    @property
    def num_edge_codes(self) -> int:
        """How many edge codes signatures may hold; 0 where neighbours differ in their colours alone."""
        labels = 0 if self.edge_values is None else len(self.edge_values)
        return 2 * max(labels, 1) if self.directed else labels

    def count(self, t: int) -> IntArray:
        """How many nodes have each colour of depth t."""
        return np.bincount(self.colours[t], minlength=self.num_colours[t])

    def count_per_graph(self, t: int) -> tuple[IntArray, IntArray, IntArray]:
        """(offsets, colour, count): graph g has colour[offsets[g] : offsets[g + 1]], ascending, count times each.

        >>> import networkx as nx, wlhn
        >>> [a.tolist() for a in wlhn.refine([nx.path_graph(2), nx.path_graph(3)], 1).count_per_graph(1)]
        [[0, 1, 3], [0, 0, 1], [2, 2, 1]]
        """
        if self.num_graphs == 1:
            count = self.count(t)
            present = np.flatnonzero(count)
            return np.array([0, len(present)]), present.astype(np.int32), count[present].astype(np.int32)
        graph = np.repeat(np.arange(self.num_graphs), np.diff(self.node_ptr))
        width = max(self.num_colours[t], 1)
        pair, count = np.unique(graph * np.int64(width) + self.colours[t], return_counts=True)
        ptr = np.searchsorted(pair, np.arange(self.num_graphs + 1, dtype=np.int64) * width)
        return ptr, (pair % width).astype(np.int32), count.astype(np.int32)

    @property
    def stable_depth(self) -> int | None:
        """The first depth whose colours no longer split; None if that lies beyond T."""
        splits = [a < b for a, b in pairwise(self.num_colours)]
        return splits.index(False) if False in splits else None

    def signature(self, t: int) -> Signature:
        """What the colours of depth t ≥ 1 stand for: counted neighbours, written down when first asked for."""
        if t not in self._signatures:
            assert self.source is not None
            width = max(self.num_colours[t - 1], 1)
            args = (self.source.row_ptr, self.source.neighbour, self.edge_code, self.colours[t - 1], width)
            ptr, item, count = signatures(*args, self.representatives[t])
            edge, colour = np.divmod(item, width) if len(self.edge_code) else (np.zeros(len(item), np.int32), item)
            self._signatures[t] = Signature(ptr, colour.astype(np.int32), edge.astype(np.int32), count)
        return self._signatures[t]

    @cached_property
    def _root_is_colour(self) -> bool:
        return self.num_colours[0] == 1

    @cached_property
    def tree(self) -> Tree:
        """The tree of colours, level by level."""
        offset = self.offsets
        levels = [np.full(1, -1)] if not self._root_is_colour else []
        for t, parent in enumerate(self.parents):
            above = (0 if not self._root_is_colour else -1) if t == 0 else offset[t - 1]
            levels.append(parent.astype(np.int64) + above)
        return Tree(np.concatenate(levels))

    @cached_property
    def offsets(self) -> list[int]:
        """Colour c of depth t is node offsets[t] + c of the tree."""
        first = 0 if self._root_is_colour else 1
        return [first + int(n) for n in np.cumsum([0, *self.num_colours[:-1]])]

    def distance(self, u: ArrayLike, v: ArrayLike) -> IntArray:
        """The WL distance of graph nodes, pair by pair: the path in the tree between their colours at depth T."""
        u, v = check_pairs(u, v, self.num_nodes, "hierarchy")
        return 2 * (self.depth + 1 - sum((colour[u] == colour[v]).astype(np.int64) for colour in self.colours))

    def distance_histogram(self) -> IntArray:
        """How many unordered pairs of graph nodes are at WL distance 0, 2, …, 2(T + 1), without visiting them.

        >>> import networkx as nx, wlhn
        >>> wlhn.refine(nx.star_graph(3), rounds=1).distance_histogram().tolist()
        [3, 3, 0]
        """
        sizes = [np.array([self.num_nodes]), *(self.count(t) for t in range(self.depth + 1))]
        together = [int((size.astype(np.int64) * (size - 1) // 2).sum()) for size in sizes]  # depths −1, 0, …, T
        parted = [above - below for above, below in pairwise(together)]
        return np.array([together[-1], *reversed(parted)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one file, without pickle: numpy arrays in a zip (.npz)."""
        meta = {"depth": self.depth, "start": self.start, "directed": self.directed}
        arrays = self.tree_arrays() | {"node_ptr": self.node_ptr, "parents_0": self.parents[0]}
        arrays |= {f"colours_{t}": colour for t, colour in enumerate(self.colours)}
        if self.node_ids is not None:
            arrays["node_ids"] = storage.encode_ids(self.node_ids)
        storage.save(path, meta, arrays)

    def tree_arrays(self) -> dict[str, NDArray[Any]]:
        """The tree without nodes as plain arrays, for any file that holds such."""
        arrays = {"initial_values": self.initial_values}
        if self.edge_values is not None:
            arrays["edge_values"] = self.edge_values
        for t in range(1, self.depth + 1):
            arrays[f"parents_{t}"] = self.parents[t]
            arrays |= {f"{name}_{t}": part for name, part in self.signature(t)._asdict().items()}
        return arrays

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Hierarchy:
        """Read what `save` wrote."""
        meta, arrays = storage.load(path)
        return replace(
            tree_from_arrays(arrays, meta["depth"]),
            node_ptr=arrays["node_ptr"],
            colours=tuple(arrays[f"colours_{t}"] for t in range(meta["depth"] + 1)),
            start=meta["start"],
            directed=meta.get("directed", False),
            node_ids=meta["node_ids"],
        )


def tree_of_colours(
    parents: Sequence[IntArray],
    initial_values: NDArray[Any],
    edge_values: NDArray[Any] | None,
    signatures: dict[int, Signature],
) -> Hierarchy:
    """A hierarchy without nodes: colours and what they stand for."""
    return Hierarchy(
        node_ptr=np.zeros(1, np.int64),
        colours=(np.empty(0, np.int32),) * len(parents),
        parents=tuple(parents),
        start="given",
        initial_values=initial_values,
        edge_values=edge_values,
        _signatures=signatures,
    )


def tree_from_arrays(arrays: Mapping[str, NDArray[Any]], depth: int) -> Hierarchy:
    """What `Hierarchy.tree_arrays` gave.

    >>> import networkx as nx, wlhn
    >>> tree_from_arrays(wlhn.refine(nx.star_graph(3), 1).tree_arrays(), 1).num_colours
    [1, 2]
    """
    first, rounds = arrays["initial_values"], range(1, depth + 1)
    parents = [np.zeros(len(first), np.int32), *(arrays[f"parents_{t}"] for t in rounds)]
    signatures = {t: Signature(*(arrays[f"{name}_{t}"] for name in Signature._fields)) for t in rounds}
    return tree_of_colours(parents, first, arrays.get("edge_values"), signatures)


def wl_distance(space: Hierarchy | Tree, a: ArrayLike, b: ArrayLike) -> IntArray:
    """The WL distance, pair by pair: of graph nodes in a hierarchy, of tree nodes in a tree.

    >>> import networkx as nx, wlhn
    >>> hierarchy = wlhn.refine(nx.path_graph(4), 1)
    >>> wl_distance(hierarchy, 0, [1, 2, 3]).tolist(), wl_distance(hierarchy.tree, 0, 1).tolist()
    ([2, 2, 0], 1)
    """
    return space.distance(a, b)
