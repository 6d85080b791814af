"""Rooted trees and their metric: the number of edges on the path between two nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.loops.refinement import tree_depth

if TYPE_CHECKING:
    import networkx as nx

IntArray = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree: node 0 is the root, every other node comes after its parent, depths never fall.

    >>> import networkx as nx
    >>> tree = Tree.from_networkx(nx.balanced_tree(2, 2))
    >>> tree.depth.tolist(), tree.distance([3, 3, 0], [4, 6, 6]).tolist()
    ([0, 1, 1, 2, 2, 2, 2], [2, 4, 2])
    """

    parent: IntArray  # (nodes,); the root has −1
    names: tuple[Any, ...] | None = None  # what the nodes are called elsewhere

    def __post_init__(self) -> None:
        parent = self.parent
        if not len(parent) or parent[0] != -1:
            raise InputError("tree: node 0 must be the root, with parent −1")
        if (parent[1:] < 0).any():
            raise InputError(f"tree: node {1 + int(np.flatnonzero(parent[1:] < 0)[0])} is a second root")
        after_its_parent = (parent[1:] < np.arange(1, len(parent))).all()
        if not after_its_parent or (np.diff(self.depth) < 0).any():
            raise InputError("tree: nodes must come level by level, each after its parent")

    @staticmethod
    def from_networkx(graph: nx.Graph, root: Any = None) -> Tree:
        """A networkx tree; directed edges point away from the root, an undirected tree starts at its first node."""
        import networkx as nx

        if not len(graph):
            raise InputError("tree: it has no nodes; give at least one")
        if root is not None and root not in graph:
            raise InputError(f"tree: the root {root!r} is not one of its nodes")
        if root is None:
            sources = [v for v in graph if graph.in_degree(v) == 0] if graph.is_directed() else [next(iter(graph))]
            if len(sources) != 1:
                raise InputError(f"tree: expected one root, found {len(sources)}" + (" (a cycle)" * (not sources)))
            root = sources[0]
        if graph.number_of_edges() >= len(graph):
            raise InputError("tree: has a cycle")
        names, index, parent = [root], {root: 0}, [-1]
        for u, v in nx.bfs_edges(graph, root):
            index[v] = len(names)
            names.append(v)
            parent.append(index[u])
        if len(names) < len(graph):
            raise InputError(f"tree: {len(graph) - len(names)} nodes cannot be reached from the root {root!r}")
        return Tree(np.array(parent, dtype=np.int64), tuple(names))

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def depth(self) -> IntArray:
        return tree_depth(self.parent)

    @cached_property
    def levels(self) -> list[slice]:
        """The nodes of each depth, a slice each."""
        bounds = np.searchsorted(self.depth, np.arange(self.depth[-1] + 2))
        return [slice(int(a), int(b)) for a, b in pairwise(bounds)]

    @cached_property
    def num_children(self) -> IntArray:
        return np.bincount(self.parent[1:], minlength=len(self))

    @cached_property
    def _ancestors(self) -> IntArray:
        """Row k: the ancestor 2^k levels up (the root's is the root)."""
        rows = [np.maximum(self.parent, 0)]
        while 2 ** len(rows) <= self.depth[-1]:
            rows.append(rows[-1][rows[-1]])
        return np.stack(rows)

    def ancestor(self, node: ArrayLike, levels: ArrayLike) -> IntArray:
        """The ancestor this many levels up, for each node; beyond the root, the root."""
        node = np.asarray(node)
        node, levels = np.broadcast_arrays(node, np.minimum(levels, self.depth[node]))
        for k, row in enumerate(self._ancestors):
            node = np.where((levels >> k) & 1, row[node], node)
        return node

    def lca(self, a: ArrayLike, b: ArrayLike) -> IntArray:
        """The lowest common ancestor of each pair, by doubling: O(log depth) steps, memory of the pairs alone."""
        a, b = np.broadcast_arrays(check_nodes(a, len(self)), check_nodes(b, len(self)))
        a = self.ancestor(a, np.maximum(self.depth[a] - self.depth[b], 0))
        b = self.ancestor(b, np.maximum(self.depth[b] - self.depth[a], 0))
        for row in self._ancestors[::-1]:
            apart = row[a] != row[b]
            a, b = np.where(apart, row[a], a), np.where(apart, row[b], b)
        return np.where(a == b, a, np.maximum(self.parent[a], 0))

    def distance(self, a: ArrayLike, b: ArrayLike) -> IntArray:
        """The number of edges between a and b, for each pair."""
        a, b = check_pairs(a, b, len(self))
        return self.depth[a] + self.depth[b] - 2 * self.depth[self.lca(a, b)]

    def all_distances(self) -> IntArray:
        """All pairs at once, (nodes, nodes): a node is one further from everything than its parent, but from its own.

        >>> Tree(np.array([-1, 0, 0])).all_distances().tolist()
        [[0, 1, 1], [1, 0, 2], [1, 2, 0]]
        """
        out = np.zeros((len(self), len(self)), np.int32)
        for v in range(1, len(self)):
            out[v, :v] = out[self.parent[v], :v] + 1
            out[:v, v] = out[v, :v]
        return out


def check_nodes(node: ArrayLike, count: int, where: str = "tree") -> IntArray:
    """Positions of nodes, of which there are so many."""
    node = np.asarray(node)
    if not node.size:
        return node.astype(np.int64)
    if node.dtype.kind not in "iu":
        raise InputError(f"{where}: expected positions of nodes, 0 to {count - 1}, found {node.ravel()[0].item()!r}")
    if node.min() < 0 or node.max() >= count:
        raise InputError(f"{where}: expected nodes 0 to {count - 1}, found {node.min()} to {node.max()}")
    return node


def check_pairs(a: ArrayLike, b: ArrayLike, count: int, where: str = "tree") -> tuple[IntArray, IntArray]:
    """Positions of nodes, pair by pair: as many on both sides, or one for all of the others."""
    a, b = check_nodes(a, count, where), check_nodes(b, count, where)
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise InputError(f"{where}: expected as many nodes on both sides, found {a.shape} and {b.shape}") from None
    return a, b
