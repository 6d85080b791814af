"""The audit against networkx's WL hash and against brute force."""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import collections

from wlhn.data import Split, as_dataset, load
from wlhn.data.audit import Leak, audit
from wlhn.graphs import Graphs


def test_atlas_as_networkx_hashes_it() -> None:
    graphs = nx.graph_atlas_g()[1:]
    for graph in graphs:
        nx.set_node_attributes(graph, dict(graph.degree()), "d")
    result = audit(load("atlas"), rounds=3, initial="degree")
    for t in (0, 1, 3):
        groups = defaultdict(list)
        for graph in graphs:
            key = nx.weisfeiler_lehman_graph_hash(graph, node_attr="d", iterations=t) if t else None
            groups[key or tuple(sorted(d for _, d in graph.degree()))].append(nx.is_connected(graph))
        best = sum(max(Counter(values).values()) for values in groups.values())
        assert result.depths[t].classes == len(groups)
        assert result.depths[t].ceiling == pytest.approx(best / len(graphs))


@given(collections(symmetric=True, multi=False, decorated=False, min_nodes=1), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_nodes_by_brute_force(graphs: Graphs, seed: int) -> None:
    y = np.random.default_rng(seed).integers(0, 3, graphs.num_nodes)
    result = audit(as_dataset(graphs, y, level="node"), rounds=1)
    groups = defaultdict(list)
    for degree, target in zip(graphs.degree.tolist(), y.tolist(), strict=True):
        groups[degree].append(target)
    sizes = [len(g) for g in groups.values()]
    last = result.depths[1]
    assert last.classes == len(groups)
    assert last.alike == pytest.approx(sum(s for s in sizes if s > 1) / len(y))
    assert last.conflicting == pytest.approx(sum(len(g) for g in groups.values() if len(set(g)) > 1) / len(y))
    assert last.ceiling == pytest.approx(sum(max(Counter(g).values()) for g in groups.values()) / len(y))
    equal = sum(g[i] == g[j] for g in groups.values() for i in range(len(g)) for j in range(i))
    assert result.twins.pairs_equal == equal
    assert result.twins.pairs_equal + result.twins.pairs_conflicting == sum(s * (s - 1) // 2 for s in sizes)
    regression = audit(as_dataset(graphs, y + 0.5, level="node"), rounds=1)
    assert regression.depths[1].floor == pytest.approx(sum(np.var(g) * len(g) for g in groups.values()) / len(y))


def test_twins_across_folds() -> None:
    """Paths and triangles in turn; the first path has the triangles' label."""
    graphs = [nx.path_graph(3), nx.cycle_graph(3)] * 5
    splits = (Split(train=range(6, 10), valid=[4, 5], test=range(4)), Split(train=[0, 4, 6], valid=[], test=[2, 3]))
    dataset = replace(as_dataset(graphs, [1, 1] + [0, 1] * 4), splits=splits)
    result = audit(dataset)
    assert result.leaks == (
        Leak(fold=0, test=4, with_twin=4, with_equal_twin=3, with_conflicting_twin=1),
        Leak(fold=1, test=2, with_twin=1, with_equal_twin=1, with_conflicting_twin=1),
    )
    assert (result.twins.groups_agreeing, result.twins.groups_conflicting) == (1, 1)
    assert result.depths[-1].ceiling == 9 / 10


@pytest.mark.dataset("IMDB-BINARY")
def test_imdb_binary(data_root: Path) -> None:
    """579 of 1,000 graphs have a twin; degrees already decide all that WL can."""
    result = audit(load("IMDB-BINARY", data_root=data_root), rounds=2)
    assert (result.twins.items, result.depths[1].classes, result.depths[2].classes) == (579, 537, 537)
