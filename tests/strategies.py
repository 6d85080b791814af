"""Random inputs shared by all tests: collections of graphs with everything that can be odd about them, and trees."""

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from wlhn import Graphs, Tree


@st.composite
def collections(draw: st.DrawFn, max_graphs: int = 4, max_nodes: int = 8) -> Graphs:
    """Directed graphs with self-loops, multi-edges, isolated nodes, node and edge labels; some without nodes."""
    sizes = draw(st.lists(st.integers(0, max_nodes), min_size=1, max_size=max_graphs))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ends = [st.tuples(st.integers(a, b - 1), st.integers(a, b - 1)) for a, b in pairwise(starts.tolist()) if a < b]
    edges = draw(st.lists(st.one_of(ends), max_size=4 * max_nodes)) if ends else []
    if draw(st.booleans()):  # undirected: each edge in both directions
        edges += [(v, u) for u, v in edges if u != v]
    labels = draw(st.lists(st.integers(-1, 1), min_size=len(edges), max_size=len(edges)))
    nodes = draw(st.lists(st.integers(5, 7), min_size=int(starts[-1]), max_size=int(starts[-1])))
    return Graphs.from_edges(
        np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        node_ptr=starts,
        node_label=np.array(nodes, dtype=np.int64),
        edge_label=np.array(labels, dtype=np.int64),
    )


def within_graphs(graphs: Graphs, rng: np.random.Generator) -> Any:
    """A random order of the nodes that keeps each in its graph."""
    return np.lexsort([rng.random(graphs.num_nodes), graphs.graph_of_node])


def random_tree(n: int, rng: np.random.Generator, bushy: float = 1.0) -> Tree:
    """A random recursive tree, level by level; small `bushy` makes it deep."""
    parent = np.array([-1, *(int(v * rng.random() ** bushy) for v in range(1, n))])
    depth = np.zeros(n, int)
    for v in range(1, n):
        depth[v] = depth[parent[v]] + 1
    order = np.argsort(depth, kind="stable")
    rank = np.argsort(order)
    return Tree(np.array([-1, *rank[parent[order[1:]]]]))
