"""Random collections of graphs for property tests."""

from typing import Any

import hypothesis.strategies as st
import numpy as np

from wlhn.graphs import Graphs


@st.composite
def collections(
    draw: st.DrawFn, *, symmetric: bool = False, multi: bool = False, decorated: bool = True, min_nodes: int = 0
) -> Graphs:
    """One to four graphs of up to six nodes, with loops, isolated nodes and (mostly) all kinds of columns."""
    sizes = draw(st.lists(st.integers(min_nodes, 6), min_size=1, max_size=4))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    edges: list[tuple[int, int]] = []
    for size, start in zip(sizes, starts.tolist(), strict=False):
        nodes = st.integers(0, max(size - 1, 0))
        drawn = draw(st.lists(st.tuples(nodes, nodes), max_size=12, unique=not multi)) if size else []
        edges += [(u + start, v + start) for u, v in drawn]
    labels = draw(st.lists(st.integers(-3, 3), min_size=len(edges), max_size=len(edges)))
    if symmetric:  # both directions of an edge carry one label
        chosen = {(min(e), max(e)): label for e, label in zip(edges, labels, strict=True)}
        both = [*chosen.items(), *((e[::-1], label) for e, label in chosen.items() if e[0] != e[1])]
        edges, labels = [e for e, _ in both], [label for _, label in both]
    n, m = int(starts[-1]), len(edges)
    columns: dict[str, Any] = {}
    if decorated:
        seed = draw(st.integers(0, 2**16))
        random = np.random.default_rng(seed)
        columns = {
            "node_label": random.integers(-5, 5, n),
            "x": random.normal(size=(n, 2)).astype(np.float32),
            "edge_label": np.array(labels, dtype=np.int64),
            "edge_attr": np.array(labels, dtype=np.float32).reshape(-1, 1) / 2,
            "node_ids": draw(st.sampled_from([None, [f"v{k}" for k in range(n)]])),
        }
    index = np.array(edges, dtype=np.int64).reshape(m, 2).T
    return Graphs.from_edges(index, node_ptr=starts, **columns)


def edge_list(graphs: Graphs) -> list[tuple[int, ...]]:
    """Edges with their labels and attributes, sorted: what must survive any way through another form."""
    parts: list[Any] = [*graphs.edge_index]
    if graphs.edge_label is not None:
        parts.append(graphs.edge_label)
    if graphs.edge_attr is not None:
        parts += list(graphs.edge_attr.T)
    return sorted(zip(*(part.tolist() for part in parts), strict=True))
