"""The WL hierarchy as a value: who has which colour at which depth, and how colours descend from each other.

A colour is named by its depth t and its number, 0 … num_colours[t] − 1; the children of a colour lie side by side.
The hierarchy's tree has a root above the colours of depth 0, unless these are a single one, which then is the root
(the paper counts IMDB-BINARY's hierarchy so: 1 + 65 + 2,931 = 2,997 nodes).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy import storage
from wlhn.hierarchy.tree import Tree
from wlhn.loops.refinement import signatures
from wlhn.notebook import html_table

IntArray = NDArray[np.integer[Any]]


class Signature(NamedTuple):
    """What the colours of one depth stand for beside their parents: counted neighbours, row by row."""

    ptr: IntArray  # (colours + 1,)
    colour: IntArray  # colours of the depth before
    edge: IntArray  # edge labels as codes, all 0 without edge labels; if directed, 2 · code, and + 1 for out-neighbours
    times: IntArray


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
    start: str  # how depth 0 was made: uniform, degree, label, features, or from a given array
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
        sizes = [self.count(t) for t in range(self.depth + 1)]
        rows = [(t, len(size), int(size.max(initial=0)), int((size == 1).sum())) for t, size in enumerate(sizes)]
        graphs = f"{self.num_graphs:,} graph{'s' * (self.num_graphs != 1)}"
        title = f"Hierarchy of {self.num_nodes:,} nodes in {graphs}, start {self.start}"
        return html_table(title, ("depth", "colours", "nodes of the largest", "colours of one node"), rows)

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
        u, v = self._checked(u), self._checked(v)
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

    def _checked(self, node: ArrayLike) -> IntArray:
        node = np.asarray(node)
        if node.size and (node.min() < 0 or node.max() >= self.num_nodes):
            raise InputError(f"expected nodes 0 to {self.num_nodes - 1}, found {node.min()} to {node.max()}")
        return node

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one file, without pickle: numpy arrays in a zip (.npz)."""
        meta = {"depth": self.depth, "start": self.start, "directed": self.directed}
        arrays: dict[str, Any] = {"node_ptr": self.node_ptr, "initial_values": self.initial_values}
        if self.edge_values is not None:
            arrays["edge_values"] = self.edge_values
        if self.node_ids is not None:
            arrays["node_ids"] = storage.encode_ids(self.node_ids)
        for t, (colour, parent) in enumerate(zip(self.colours, self.parents, strict=True)):
            arrays |= {f"colours_{t}": colour, f"parents_{t}": parent}
            if t:
                arrays |= {f"{name}_{t}": a for name, a in zip(Signature._fields, self.signature(t), strict=True)}
        storage.save(path, meta, arrays)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Hierarchy:
        """Read what `save` wrote."""
        return storage.load(path, _from_arrays)


def _from_arrays(meta: dict[str, Any], arrays: dict[str, Any]) -> Hierarchy:
    depths = range(meta["depth"] + 1)
    return Hierarchy(
        node_ptr=arrays["node_ptr"],
        colours=tuple(arrays[f"colours_{t}"] for t in depths),
        parents=tuple(arrays[f"parents_{t}"] for t in depths),
        start=meta["start"],
        initial_values=arrays["initial_values"],
        edge_values=arrays.get("edge_values"),
        directed=meta.get("directed", False),
        node_ids=storage.decode_ids(arrays["node_ids"]) if "node_ids" in arrays else None,
        _signatures={t: Signature(*(arrays[f"{n}_{t}"] for n in Signature._fields)) for t in depths[1:]},
    )


def wl_distance(space: Hierarchy | Tree, a: ArrayLike, b: ArrayLike) -> IntArray:
    """The WL distance, pair by pair: of graph nodes in a hierarchy, of tree nodes in a tree.

    >>> import networkx as nx, wlhn
    >>> hierarchy = wlhn.refine(nx.path_graph(4), 1)
    >>> wl_distance(hierarchy, 0, [1, 2, 3]).tolist(), wl_distance(hierarchy.tree, 0, 1).tolist()
    ([2, 2, 0], 1)
    """
    return space.distance(a, b)
