"""Random inputs shared by all tests: collections of graphs with everything that can be odd about them, and trees."""

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from wlhn import Graphs, Tree


@st.composite
def collections(
    draw: st.DrawFn,
    *,
    symmetric: bool | None = None,
    multi: bool = True,
    decorated: bool = True,
    min_nodes: int = 0,
    max_nodes: int = 8,
    max_graphs: int = 4,
) -> Graphs:
    """Graphs with self-loops, isolated nodes and none at all; directed or (`symmetric`) not, by lot if not told.

    `multi`: edges may stand there more than once; `decorated`: with node labels, features and edge labels.
    """
    sizes = draw(st.lists(st.integers(min_nodes, max_nodes), min_size=1, max_size=max_graphs))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    ends = [st.tuples(st.integers(a, b - 1), st.integers(a, b - 1)) for a, b in pairwise(starts.tolist()) if a < b]
    edges = draw(st.lists(st.one_of(ends), max_size=4 * max_nodes, unique=not multi)) if ends else []
    labels = draw(st.lists(st.integers(-1, 1), min_size=len(edges), max_size=len(edges)))
    if draw(st.booleans()) if symmetric is None else symmetric:  # each edge in both directions, with one label
        if not multi:
            once = {(min(edge), max(edge)): label for edge, label in zip(edges, labels, strict=True)}
            edges, labels = list(once), list(once.values())
        labels += [label for (u, v), label in zip(edges, labels, strict=True) if u != v]
        edges += [(v, u) for u, v in edges if u != v]
    n = int(starts[-1])
    columns: dict[str, Any] = {}
    if decorated:
        random = np.random.default_rng(draw(st.integers(0, 2**16)))
        columns = {
            "node_label": random.integers(5, 8, n),
            "x": random.normal(size=(n, 2)).astype(np.float32),
            "edge_label": np.array(labels, dtype=np.int64),
            "edge_attr": np.array(labels, dtype=np.float32).reshape(-1, 1) / 2,
            "node_ids": draw(st.sampled_from([None, [f"v{k}" for k in range(n)]])),
        }
    return Graphs.from_edges(np.array(edges, dtype=np.int64).reshape(-1, 2).T, node_ptr=starts, **columns)


def edge_list(graphs: Graphs) -> list[tuple[int, ...]]:
    """Edges with their labels and attributes, sorted: what must survive any way through another form."""
    parts: list[Any] = [*graphs.edge_index]
    if graphs.edge_label is not None:
        parts.append(graphs.edge_label)
    if graphs.edge_attr is not None:
        parts += list(graphs.edge_attr.T)
    return sorted(zip(*(part.tolist() for part in parts), strict=True))


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
