"""The hierarchy as a value: its tree, its distances, its counts, and itself again from disk."""

import json
from contextlib import suppress
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import collections

from wlhn import Graphs, Hierarchy, InputError, assign, refine, wl_distance


def networkx_tree(hierarchy: Hierarchy) -> nx.Graph:
    """The hierarchy's tree, put together from colours and parents alone: nodes (depth, colour), a root above."""
    tree = nx.Graph()
    for t, parents in enumerate(hierarchy.parents):
        for colour, parent in enumerate(parents.tolist()):
            tree.add_edge((t, colour), (t - 1, parent))
    if hierarchy.num_colours[0] == 1:
        tree.remove_node((-1, 0))
    return tree


@given(collections())
@settings(max_examples=40)
def test_distances_are_shortest_paths_in_the_tree(graphs: Graphs) -> None:
    for initial in ("uniform", "label"):
        hierarchy = refine(graphs, 3, initial)
        paths = dict(nx.all_pairs_shortest_path_length(networkx_tree(hierarchy)))
        n, T = graphs.num_nodes, hierarchy.depth
        u, v = np.meshgrid(np.arange(n), np.arange(n))
        last = hierarchy.colours[T].tolist()
        truth = [[paths[T, last[a]][T, last[b]] for a in range(n)] for b in range(n)]
        assert wl_distance(hierarchy, u, v).tolist() == truth
        where = [(t, c) for t in range(T + 1) for c in range(hierarchy.num_colours[t])]
        at = np.array([hierarchy.offsets[t] + c for t, c in where], dtype=int)
        truth = [[paths[a][b] for a in where] for b in where]
        assert wl_distance(hierarchy.tree, at, at[:, None]).tolist() == truth
        assert hierarchy.tree.all_distances()[np.ix_(at, at)].tolist() == truth


@given(collections())
def test_counts_add_up(graphs: Graphs) -> None:
    hierarchy = refine(graphs, 2, "label")
    for t in range(3):
        ptr, colour, count = hierarchy.count_per_graph(t)
        for g in range(len(graphs)):
            here = hierarchy.colours[t][graphs.node_ptr[g] : graphs.node_ptr[g + 1]]
            names, times = np.unique(here, return_counts=True)
            assert colour[ptr[g] : ptr[g + 1]].tolist() == names.tolist()
            assert count[ptr[g] : ptr[g + 1]].tolist() == times.tolist()


def test_a_signature_says_what_a_colour_stands_for() -> None:
    star = nx.star_graph(3)
    nx.set_edge_attributes(star, {(0, 1): 4, (0, 2): 4, (0, 3): 9}, "label")
    hierarchy = refine(star, 1, "degree", edge_labels=True)
    hub = int(hierarchy.colours[1][0])
    ptr, colour, edge, times = hierarchy.signature(1)
    row = slice(ptr[hub], ptr[hub + 1])
    assert colour[row].tolist() == [0, 0]
    assert hierarchy.edge_values is not None
    assert hierarchy.edge_values[edge[row]].tolist() == [4, 9]
    assert times[row].tolist() == [2, 1]


def test_nodes_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="hierarchy: expected nodes 0 to 2, found 3 to 3"):
        refine(nx.path_graph(3), 1).distance(0, 3)


def assert_equal(a: Hierarchy, b: Hierarchy) -> None:
    assert (a.depth, a.start, a.directed, a.node_ids) == (b.depth, b.start, b.directed, b.node_ids)
    assert a.num_edge_codes == b.num_edge_codes
    assert np.array_equal(a.node_ptr, b.node_ptr)
    assert np.array_equal(a.initial_values, b.initial_values)
    assert (a.edge_values is None) == (b.edge_values is None)
    for t in range(a.depth + 1):
        assert np.array_equal(a.colours[t], b.colours[t])
        assert np.array_equal(a.parents[t], b.parents[t])
        if t:
            assert all(np.array_equal(x, y) for x, y in zip(a.signature(t), b.signature(t), strict=True))


@given(graphs=collections(), labelled=st.booleans(), directed=st.booleans())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_saved_and_loaded_is_the_same(tmp_path: Path, graphs: Graphs, labelled: bool, directed: bool) -> None:
    fitted = refine(graphs, 2, "label", labelled, directed)
    fitted.save(tmp_path / "h.npz")
    loaded = Hierarchy.load(tmp_path / "h.npz")
    assert_equal(fitted, loaded)
    loaded.save(tmp_path / "again.npz")  # without the graphs in memory
    assert_equal(fitted, Hierarchy.load(tmp_path / "again.npz"))
    again = assign(loaded, graphs)
    assert all(np.array_equal(x, y) for x, y in zip(again.colours, fitted.colours, strict=True))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.npz", "h.npz"]


def test_files_of_before_there_were_directions_are_undirected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = refine(nx.path_graph(5), 2)
    write = json.dumps
    with monkeypatch.context() as patch:
        patch.setattr("json.dumps", lambda meta, **more: write({k: v for k, v in meta.items() if k != "directed"}))
        fitted.save(tmp_path / "h.npz")
    with np.load(tmp_path / "h.npz") as file:
        assert "directed" not in json.loads(str(file["meta"]))
    assert_equal(Hierarchy.load(tmp_path / "h.npz"), fitted)


def test_large_arrays_stay_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.barabasi_albert_graph(300, 2, seed=0)
    fitted = refine(graph, 3)
    fitted.save(tmp_path / "h.npz")
    monkeypatch.setattr("wlhn.hierarchy.storage.MAPPED", 1000)
    mapped = Hierarchy.load(tmp_path / "h.npz")
    assert_equal(fitted, mapped)
    arrays = [a for a in (*mapped.colours, *mapped.parents, *mapped.signature(3)) if a.nbytes > 1000]
    assert arrays
    assert all(isinstance(a, np.memmap) and a.flags.aligned and not a.flags.writeable for a in arrays)
    again = assign(mapped, graph)
    assert all(np.array_equal(x, y) for x, y in zip(again.colours, fitted.colours, strict=True))
    with np.load(tmp_path / "h.npz") as file:  # still a file that numpy reads
        assert np.array_equal(file["colours_3"], fitted.colours[3])
    whole = bytearray((tmp_path / "h.npz").read_bytes())
    whole[whole.index(fitted.colours[3].tobytes()) + 7] ^= 1
    (tmp_path / "h.npz").write_bytes(whole)
    with pytest.raises(InputError, match="damaged"):
        Hierarchy.load(tmp_path / "h.npz")


def test_names_survive_the_disk(tmp_path: Path) -> None:
    graph = nx.Graph([("ä", ("b", (2, 3.5))), (np.int64(7), 8)])
    refine(graph, 1).save(tmp_path / "h.npz")
    assert Hierarchy.load(tmp_path / "h.npz").node_ids == ["ä", ("b", (2, 3.5)), 7, 8]


def test_names_that_cannot_be_written_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only names made of text"):
        refine(nx.Graph([(frozenset("a"), 1)]), 1).save(tmp_path / "h.npz")
    assert not list(tmp_path.iterdir())


def test_every_damage_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "h.npz"
    refine(nx.path_graph(5), 2, "degree").save(path)
    whole = path.read_bytes()
    good = Hierarchy.load(path)
    cut = [whole[:size] for size in range(0, len(whole), 97)]
    flipped = [whole[:k] + bytes([whole[k] ^ 0xFF]) + whole[k + 1 :] for k in range(0, len(whole), 5)]
    for content in [*cut, b"text", np.arange(3).tobytes()]:
        path.write_bytes(content)
        with pytest.raises(InputError, match="not a hierarchy that wlhn wrote, or damaged"):
            Hierarchy.load(path)
    for content in flipped:
        path.write_bytes(content)
        with suppress(InputError):
            assert_equal(Hierarchy.load(path), good)  # damage to what means nothing, such as a time stamp


def test_a_later_format_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wlhn.hierarchy.storage.FORMAT", 2)
    refine(nx.path_graph(2), 1).save(tmp_path / "h.npz")
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"h\.npz: is in format 2, and this version reads format 1"):
        Hierarchy.load(tmp_path / "h.npz")


def test_other_files_are_no_hierarchies(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    np.save(tmp_path / "array.npy", np.arange(3))
    for name in ("other.npz", "array.npy"):
        with pytest.raises(InputError, match="not a hierarchy"):
            Hierarchy.load(tmp_path / name)


@given(collections())
def test_histogram_counts_every_pair(graphs: Graphs) -> None:
    hierarchy = refine(graphs, 3, "label")
    u, v = np.triu_indices(graphs.num_nodes, k=1)
    assert hierarchy.distance_histogram().tolist() == np.bincount(hierarchy.distance(u, v) // 2, minlength=5).tolist()


def test_stable_depth() -> None:
    assert refine(nx.path_graph(9)).stable_depth == 4
    assert refine(nx.path_graph(9), 4).stable_depth is None
    assert refine(nx.cycle_graph(4), 3).stable_depth == 0


@pytest.mark.parametrize("space", ["hierarchy", "tree"])
def test_what_is_no_pair_of_nodes_is_one_sentence(space: str) -> None:
    hierarchy = refine(nx.path_graph(4), 1)
    where = hierarchy if space == "hierarchy" else hierarchy.tree
    for a, b, message in (
        ("a", "b", f"{space}: expected positions of nodes, 0 to .*, found 'a'"),
        (0.0, 1.0, "found 0.0"),
        ([0, 1], [], r"as many nodes on both sides, found \(2,\) and \(0,\)"),
        ([0, 1], [1, 2, 0], "as many nodes on both sides"),
    ):
        with pytest.raises(InputError, match=message):
            wl_distance(where, a, b)
    assert wl_distance(where, [], []).shape == (0,)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.npz: cannot be read \(No such file or directory\); name a file"):
        Hierarchy.load(tmp_path / "nowhere.npz")
