"""How often each graph has each colour: the one value that all kernels are made from.

N_t(G, c) is the number of nodes of graph G with colour c at depth t. Graphs are rows of a sparse matrix; its columns
are the colours of a fitted hierarchy, depth by depth, and, for new graphs, the colours that the hierarchy does not
have, again depth by depth. So a new graph keeps all that it is, and its similarity to itself is what it would have been
in the fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from wlhn.errors import InputError
from wlhn.hierarchy import Hierarchy
from wlhn.kernels.matching import match, prune
from wlhn.words import counted

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ColourCounts:
    """Counted colours of graphs.

    >>> import networkx as nx, wlhn
    >>> counts = ColourCounts.of(wlhn.refine([nx.path_graph(2), nx.path_graph(3)], 1))
    >>> counts
    ColourCounts(2 graphs, colours per depth [1, 2])
    >>> counts.matrix.toarray().tolist()
    [[2, 2, 0], [3, 2, 1]]
    """

    matrix: sparse.csr_array  # (graphs, columns) of int32; columns ascend in each row
    first: Array  # (T + 2,) the column of each depth's first colour, and where the colours of the hierarchy end
    first_unseen: Array  # (T + 2,) likewise of colours that are not in the hierarchy; the last is the number of columns

    @staticmethod
    def of(hierarchy: Hierarchy) -> ColourCounts:
        """The graphs that a hierarchy was made of."""
        parts = []
        for t, width in enumerate(hierarchy.num_colours):
            ptr, colour, count = hierarchy.count_per_graph(t)
            parts.append(sparse.csr_array((count, colour, ptr), shape=(hierarchy.num_graphs, width)))
        return _of_known(sparse.hstack(parts, format="csr"), hierarchy)

    @staticmethod
    def of_new(fitted: Hierarchy, new: Hierarchy) -> ColourCounts:
        """New graphs, from their own hierarchy: colours of a fitted one, and colours that it does not have.

        >>> import networkx as nx, wlhn
        >>> fitted, star = wlhn.refine(nx.path_graph(4), 1), nx.star_graph(3)
        >>> new = ColourCounts.of_new(fitted, wlhn.refine(star, 1))
        >>> new.matrix.toarray().tolist(), new.unseen.tolist()
        ([[4, 3, 0, 1]], [[0, 1]])
        """
        first = np.concatenate([[0], np.cumsum(fitted.num_colours)])
        first_unseen, columns = [int(first[-1])], []
        for t, known in enumerate(match(fitted, new)):
            unseen = known < 0
            columns.append(
                np.where(unseen, first_unseen[-1] + np.cumsum(unseen) - 1, first[t] + known.astype(np.int64))
            )
            first_unseen.append(first_unseen[-1] + int(unseen.sum()))
        parts = []
        for t, column in enumerate(columns):
            ptr, colour, count = new.count_per_graph(t)
            parts.append(sparse.csr_array((count, column[colour], ptr), shape=(new.num_graphs, first_unseen[-1])))
        matrix = _canonical(sum(parts[1:], start=parts[0]))  # no two of them have a column in common
        return ColourCounts(matrix, first, np.array(first_unseen))

    def __repr__(self) -> str:
        return f"ColourCounts({counted(len(self), 'graph')}, colours per depth {np.diff(self.first).tolist()})"

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def depth(self) -> int:
        """T, the number of rounds."""
        return len(self.first) - 2

    @property
    def num_known(self) -> int:
        """Columns that are colours of the hierarchy; the others come after them."""
        return int(self.first[-1])

    @cached_property
    def depth_of_column(self) -> Array:
        """(columns,) the depth of each colour."""
        depths = np.arange(self.depth + 1)
        return np.concatenate([np.repeat(depths, np.diff(self.first)), np.repeat(depths, np.diff(self.first_unseen))])

    @cached_property
    def num_nodes(self) -> Array:
        """(graphs,) nodes: each has one colour at each depth."""
        return np.asarray(self.matrix.sum(axis=1), dtype=np.int64) // (self.depth + 1)

    @cached_property
    def graph_of_entry(self) -> Array:
        """(entries of the matrix,) the graph of each."""
        return np.repeat(np.arange(len(self)), np.diff(self.matrix.indptr))

    def sum_over_colours(self, values: Array, weights: ArrayLike | None) -> Array:
        """(graphs,) the sum of a value for each entry of the matrix, times the weights of their depths."""
        weighted = self.column_weights(weights)[self.matrix.indices] * values
        return np.bincount(self.graph_of_entry, weights=weighted, minlength=len(self))

    @property
    def unseen(self) -> Array:
        """(graphs, T + 1): how many different colours of a graph the hierarchy does not have, depth by depth."""
        there = self.matrix.indices >= self.num_known
        place = self.graph_of_entry[there] * (self.depth + 1) + self.depth_of_column[self.matrix.indices[there]]
        return np.bincount(place, minlength=len(self) * (self.depth + 1)).reshape(len(self), self.depth + 1)

    def select(self, graphs: ArrayLike) -> ColourCounts:
        """These graphs, in this order; the columns stay."""
        return replace(self, matrix=self.matrix[np.asarray(graphs)])

    def pruned(self, hierarchy: Hierarchy, min_graphs: int = 1) -> tuple[Hierarchy, ColourCounts]:
        """(the tree of those colours that so many of these graphs have, the graphs counted in it).

        With a colour, its parent and its neighbours are in the same graphs: so it is a tree.

        >>> import networkx as nx, wlhn
        >>> fitted = wlhn.refine([nx.path_graph(3), nx.star_graph(3)], 1)
        >>> ColourCounts.of(fitted).select([0]).pruned(fitted)
        (Hierarchy(0 nodes, colours per depth [1, 2]), ColourCounts(1 graph, colours per depth [1, 2]))
        """
        there = np.bincount(self.matrix.indices, minlength=self.num_known) >= min_graphs
        tree, old = prune(hierarchy, np.split(there, self.first[1:-1]))
        columns = np.concatenate([first + colours for first, colours in zip(self.first, old, strict=False)])
        return tree, _of_known(self.matrix[:, columns], tree)

    def column_weights(self, weights: ArrayLike | None) -> Array:
        """(columns,) the weight of each colour, from one for each depth; all 1 without.

        >>> import networkx as nx, wlhn
        >>> ColourCounts.of(wlhn.refine(nx.star_graph(3), 1)).column_weights([1, 0.5]).tolist()
        [1.0, 0.5, 0.5]
        """
        return checked_weights(weights, self.depth)[self.depth_of_column]

    def to_arrays(self) -> dict[str, Array]:
        """Plain arrays, for any file that holds such."""
        m = self.matrix
        return {
            "ptr": m.indptr.astype(np.int64),
            "colour": m.indices.astype(np.int64),
            "count": m.data.astype(np.int32),
            "first": self.first.astype(np.int64),
            "first_unseen": self.first_unseen.astype(np.int64),
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array]) -> ColourCounts:
        """What `to_arrays` gave.

        >>> import networkx as nx, wlhn
        >>> ColourCounts.from_arrays(ColourCounts.of(wlhn.refine(nx.star_graph(3), 1)).to_arrays())
        ColourCounts(1 graph, colours per depth [1, 2])
        """
        missing = {"ptr", "colour", "count", "first", "first_unseen"} - set(arrays)
        if missing:
            raise InputError(f"colour counts: the array '{min(missing)}' is missing")
        shape = (len(arrays["ptr"]) - 1, int(arrays["first_unseen"][-1]))
        matrix = sparse.csr_array((arrays["count"], arrays["colour"], arrays["ptr"]), shape=shape)
        return ColourCounts(_canonical(matrix), np.asarray(arrays["first"]), np.asarray(arrays["first_unseen"]))


def checked_weights(weights: ArrayLike | None, depth: int) -> Array:
    """(T + 1,) weights of depths, all 1 if none are given.

    >>> checked_weights(None, 2).tolist()
    [1.0, 1.0, 1.0]
    """
    given = np.ones(depth + 1) if weights is None else np.asarray(weights, dtype=float)
    if given.shape != (depth + 1,):
        raise InputError(
            f"weights: expected {depth + 1} numbers, one for each depth from 0 to {depth}, found {given.size}"
        )
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise InputError(f"weights: expected finite numbers of 0 or more, and not all 0, found {given.tolist()}")
    return given


def _of_known(matrix: Any, tree: Hierarchy) -> ColourCounts:
    """Counts of which each column is a colour of a tree."""
    first = np.concatenate([[0], np.cumsum(tree.num_colours)])
    return ColourCounts(_canonical(matrix), first, np.full(len(first), first[-1]))


def _canonical(matrix: Any) -> sparse.csr_array:
    """Columns ascending in each row, int32 counts."""
    matrix = sparse.csr_array(matrix).astype(np.int32, copy=False)
    matrix.sort_indices()
    return matrix
