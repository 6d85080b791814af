"""The user's own graphs: what goes into files comes back; roles are inferred, shown, and can be set."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import collections, edge_list

from wlhn.data import as_dataset, encoding, load
from wlhn.data.display import node_names
from wlhn.data.memory import graphs_in_memory
from wlhn.errors import InputError
from wlhn.graphs import Graphs, to_networkx, to_pyg

NODES = "id,kind,size,age,colour,klass\nx,a,1.5,3,red,yes\ny,b,2.5,4,blue,no\nz,a,0.5,5,red,yes\n"
EDGES = "from,to,how,weight\nx,y,road,0.5\nz,x,rail,1.5\n"


def tables(folder: Path, nodes: str = NODES, edges: str = EDGES) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(edges)
    return folder


@given(
    collections(symmetric=True, multi=False, decorated=False, min_nodes=1),
    st.sampled_from(["graphml", "gml", "edgelist"]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_graph_files_round_trip(tmp_path_factory: pytest.TempPathFactory, graphs: Graphs, ending: str) -> None:
    folder = tmp_path_factory.mktemp("g")
    for k, graph in enumerate(to_networkx(graphs)):
        path = folder / f"g{k}.{ending}"
        if ending == "edgelist":
            path.write_text("".join(f"{v}\n" for v in graph) + "".join(f"{u} {v}\n" for u, v in graph.edges))
        else:
            {"graphml": nx.write_graphml, "gml": nx.write_gml}[ending](graph, path)
    (folder / "targets.csv").write_text("file,y\n" + "".join(f"g{k},{k % 2}\n" for k in reversed(range(len(graphs)))))
    dataset = load(folder, self_loops=True)
    assert edge_list(dataset.graphs) == edge_list(graphs)
    assert dataset.graphs.node_ptr.tolist() == graphs.node_ptr.tolist()
    assert [int(dataset.classes[k]) for k in dataset.y] == [k % 2 for k in range(len(graphs))]


def test_attributes_of_graphml_become_label_and_features(tmp_path: Path) -> None:
    graph = nx.path_graph(["a", "b", "c"])
    nx.set_node_attributes(graph, {"a": "C", "b": "N", "c": "C"}, "element")
    nx.set_node_attributes(graph, {"a": 0.5, "b": 1.5, "c": 2.5}, "charge")
    nx.write_graphml(graph, tmp_path / "m.graphml")
    dataset = load(tmp_path / "m.graphml")
    assert dataset.graphs.ids(0) == ["a", "b", "c"]
    assert dataset.graphs.node_label.tolist() == [0, 1, 0]  # type: ignore[union-attr]
    assert dataset.graphs.x.tolist() == [[0.5], [1.5], [2.5]]  # type: ignore[union-attr]
    assert (dataset.task, dataset.y.shape) == ("none", (1, 0))
    assert encoding(dataset).encode(dataset.graphs).shape == (3, 3)


@pytest.mark.parametrize("ending", ["graphml", "gml"])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_attributes_of_edges_become_labels_and_features(tmp_path: Path, kind: type[nx.Graph], ending: str) -> None:
    """In both directions where edges have none; what some lack is a gap; codes are those of earlier data."""
    write = {"graphml": nx.write_graphml, "gml": nx.write_gml}[ending]
    for k, hows in enumerate((["met", "wed"], ["wed", "sued"])):
        graph = kind()
        graph.add_edge("a", "b", how=hows[0], weight=0.5, since=1990)
        graph.add_edge("c", "b", how=hows[1], weight=2.5)
        graph.add_edge("c", "c", how=hows[0], weight=1.5, since=1991)
        write(graph, tmp_path / f"{k}.{ending}")
    old = load(tmp_path / f"0.{ending}", self_loops=True)
    roles = {column.name: (column.role, column.kind, column.edge) for column in old.columns}
    assert roles["how"] == ("feature", "categories", True)
    assert roles["weight"] == ("feature", "numeric", True)
    assert roles["since"] == ("feature", "numeric", True)
    assert any("'since' of 1 of 3 edges" in note for note in old.notes)
    place = {name: k for k, name in enumerate(old.graphs.ids(0))}
    listed = [("a", "b", 0, 0.5, 1990), ("c", "b", 1, 2.5, -1), ("c", "c", 0, 1.5, 1991)]
    if kind is not nx.DiGraph:
        listed += [("b", "a", 0, 0.5, 1990), ("b", "c", 1, 2.5, -1)]
    known = replace(old.graphs, edge_attr=np.nan_to_num(old.graphs.edge_attr, nan=-1))  # type: ignore[call-overload]
    assert edge_list(known) == sorted((place[u], place[v], label, *x) for u, v, label, *x in listed)
    new = load(tmp_path / f"1.{ending}", like=old.columns, self_loops=True).graphs
    assert set(new.edge_label.tolist()) == {1, -1}  # type: ignore[union-attr]
    roles_of = {"how": "ignored", "weight": "category", "since": "ignored"}
    chosen = load(tmp_path / f"0.{ending}", roles=roles_of).graphs  # type: ignore[arg-type]
    assert chosen.edge_attr is None
    assert chosen.edge_label is not None


def test_what_gml_nests_is_left_out(tmp_path: Path) -> None:
    node = 'node [ id {} label "{}" graphics [ x 1.0 y 2.0 ] ]'
    edge = 'edge [ source 0 target 1 value 3 graphics [ fill "red" ] ]'
    (tmp_path / "g.gml").write_text(f"graph [ {node.format(0, 'a')} {node.format(1, 'b')} {edge} ]")
    graphs = load(tmp_path / "g.gml").graphs
    assert graphs.x is None
    assert edge_list(graphs) == [(0, 1, 3.0), (1, 0, 3.0)]


def test_node_tables(tmp_path: Path) -> None:
    dataset = load(tables(tmp_path / "g"))
    roles = {column.name: (column.role, column.kind) for column in dataset.columns}
    assert roles == {
        "id": ("id", "text"),
        "kind": ("feature", "categories"),
        "size": ("feature", "numeric"),
        "age": ("feature", "numeric"),
        "colour": ("feature", "categories"),
        "klass": ("target", "categories"),
        "from": ("from", "text"),
        "to": ("to", "text"),
        "how": ("feature", "categories"),
        "weight": ("feature", "numeric"),
    }
    graphs = dataset.graphs
    assert graphs.ids(0) == ["x", "y", "z"]
    # two categorical columns: 0/1 columns in their place beside the numbers
    assert graphs.x.tolist() == [[1, 0, 1.5, 3, 0, 1], [0, 1, 2.5, 4, 1, 0], [1, 0, 0.5, 5, 0, 1]]  # type: ignore[union-attr]
    assert edge_list(graphs) == [(0, 1, 1, 0.5), (0, 2, 0, 1.5), (1, 0, 1, 0.5), (2, 0, 0, 1.5)]
    assert (dataset.classes, dataset.y.tolist()) == (("no", "yes"), [1, 0, 1])
    directed = load(tmp_path / "g", directed=True)
    assert edge_list(directed.graphs) == [(0, 1, 1, 0.5), (2, 0, 0, 1.5)]


def test_roles_can_be_set(tmp_path: Path) -> None:
    roles = {"size": "target", "klass": "ignored", "age": "category", "colour": "ignored", "kind": "ignored"}
    dataset = load(tables(tmp_path / "g"), roles=roles)  # type: ignore[arg-type]
    assert dataset.task == "regression"
    assert dataset.y.tolist() == [1.5, 2.5, 0.5]
    assert dataset.graphs.node_label.tolist() == [0, 1, 2]  # type: ignore[union-attr]
    assert dataset.graphs.x is None


def test_features_of_whole_graphs_are_refused_and_those_of_nodes_are_not(tmp_path: Path) -> None:
    for name in "ab":
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, {0: 1, 1: 2, 2: 3}, "age")
        nx.write_graphml(graph, tmp_path / f"{name}.graphml")
    (tmp_path / "targets.csv").write_text("file,age,mass,kind\na,1,2.5,x\nb,2,3.5,y\n")
    with pytest.raises(InputError, match=r"targets\.csv, column 'mass': a feature of whole graphs.*mass=ignored"):
        load(tmp_path, roles={"kind": "target", "mass": "feature"})
    dataset = load(tmp_path, roles={"kind": "target", "age": "category"})
    assert dataset.graphs.node_label is not None


def test_new_data_are_read_like_the_old(tmp_path: Path) -> None:
    """Categories keep their codes, an unseen one is a row of zeros, and the target may be missing."""
    one_kind = "id,kind,klass\nx,a,yes\ny,b,no\nz,c,yes\n"
    old = load(tables(tmp_path / "old", one_kind))
    new = load(tables(tmp_path / "new", "id,kind\nx,c\ny,d\nz,b\n"), like=old.columns)
    assert new.task == "none"
    assert encoding(old).encode(new.graphs).tolist() == [[0, 0, 1], [0, 0, 0], [0, 1, 0]]
    partly = load(tables(tmp_path / "partly", "id,kind,klass\nx,a,yes\ny,a,yes\nz,a,yes\n"), like=old.columns)
    assert (partly.classes, partly.y.tolist()) == (("no", "yes"), [1, 1, 1])
    known = load(tables(tmp_path / "e")).columns
    ends = load(tables(tmp_path / "ends", edges="from,to,how\nx,y,zip\n"), like=known)
    assert ends.graphs.edge_label.tolist() == [-1, -1]  # type: ignore[union-attr]
    with pytest.raises(
        InputError, match="has no column 'size', which the training data have; its columns are id, kind"
    ):
        load(tables(tmp_path / "ends", one_kind), like=known)
    more = load(tables(tmp_path / "more", "id,kind,klass,mood\nx,a,yes,9\n", "from,to\n"), like=old.columns)
    assert more.graphs.x is None
    assert "column 'mood': not in the training data" in more.summary


def test_ids_are_what_stands_there(tmp_path: Path) -> None:
    """A zero in front, "NA" and text beside numbers make no difference between the two tables."""
    folder = tables(tmp_path / "g", "id,y\n01,0\n1,1\nNA,0\n2.0,1\n", "u,v\n01,1\n1,NA\n")
    graphs = load(folder).graphs
    assert graphs.ids(0) == ["01", 1, "NA", "2.0"]
    assert edge_list(graphs) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert load(tables(tmp_path / "plain", "id,y\n0,0\n1,1\n", "u,v\n0,1\n")).graphs.node_ids is None


def test_a_gap_in_graphml_is_told(tmp_path: Path) -> None:
    graph = nx.path_graph(["a", "b"])
    graph.nodes["a"]["charge"] = 1.5
    nx.write_graphml(graph, tmp_path / "m.graphml")
    dataset = load(tmp_path / "m.graphml")
    assert np.isnan(dataset.graphs.x).tolist() == [[False], [True]]  # type: ignore[arg-type]
    assert any("'charge' of 1 of 2 rows (the training mean and an indicator)" in note for note in dataset.notes)


def test_split_column(tmp_path: Path) -> None:
    nodes = "id,split,y\nx,train,0\ny,val,1\nz,test,0\n"
    split = load(tables(tmp_path / "g", nodes)).splits[0]
    assert (split.train.tolist(), split.valid.tolist(), split.test.tolist()) == ([0], [1], [2])


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        (NODES, EDGES + "x,q,road,1\n", r"edges.csv, line 4: node 'q' is not in .*nodes.csv"),
        (NODES, "from\nx\n", r"edges.csv: which of the columns from are the two ends of an edge"),
        (NODES + "x,a,1,1,red,no\n", EDGES, r"nodes.csv, line 5: node 'x' is listed twice"),
        (NODES + "w,a,inf,1,red,no\n", EDGES, r"nodes.csv, line 5, column 'size': expected a finite number"),
        (NODES + ",a,1,1,red,no\n", EDGES, r"nodes.csv, line 5, column 'id': the value is missing"),
        (NODES + "w,a,1,1,red,no,7\n", EDGES, r"nodes.csv: .*line 5"),
        (NODES, "from,to\nx,y,1\n", r"edges.csv, line 2: expected 2 fields as in the header, found more"),
        ("", EDGES, r"nodes.csv: is empty; it needs a header line"),
    ],
)
def test_bad_tables_are_named_by_line(tmp_path: Path, nodes: str, edges: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(tables(tmp_path / "g", nodes, edges))


def test_bad_graph_folders(tmp_path: Path) -> None:
    (tmp_path / "a.edgelist").write_text("1 2\n")
    (tmp_path / "targets.csv").write_text("file,y\nb,1\n")
    with pytest.raises(InputError, match=r"targets.csv: has no line for the graph a.edgelist"):
        load(tmp_path)
    (tmp_path / "targets.csv").write_text("file,y\na,1\nb,1\n")
    with pytest.raises(InputError, match=r"targets.csv, line 3: there is no graph file 'b'"):
        load(tmp_path)
    (tmp_path / "targets.csv").write_text("file,y\na,1\n")
    with pytest.raises(InputError, match=r"role of column 'z': no such column"):
        load(tmp_path, roles={"z": "target"})
    (tmp_path / "a.edgelist").write_bytes(b"1 2\n\xff 3\n")
    with pytest.raises(InputError, match=r"a.edgelist, line 2: expected text"):
        load(tmp_path)
    (tmp_path / "b.graphml").write_text("<graphml>\n<graph>\n<node")
    with pytest.raises(InputError, match=r"b.graphml, line 3: is not GraphML"):
        load(tmp_path / "b.graphml")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="must be a TU, geom-gcn or OGB folder"):
        load(tmp_path / "empty")


@given(
    st.sampled_from(["g.graphml", "g.gml", "g.edgelist", "nodes.csv", "edges.csv"]),
    st.binary(max_size=20),
    st.integers(0, 300),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path: Path, name: str, noise: bytes, place: int) -> None:
    folder = tables(tmp_path / "t")
    path = folder / name
    if name.startswith("g."):
        graph = nx.path_graph(["a", "b"])
        writers = {"g.graphml": nx.write_graphml, "g.gml": nx.write_gml}
        writers.get(name, lambda g, p: Path(p).write_text("a b\n"))(graph, path)
    content = path.read_bytes()
    path.write_bytes(content[:place] + noise + content[place + len(noise) :])
    with suppress(InputError):
        load(path if name.startswith("g.") else folder)


def test_text_labels_in_memory_are_categories() -> None:
    """As if the codes had been written by hand; new graphs have the codes of the old."""
    water = nx.Graph()
    water.add_nodes_from([("o", {"label": "O"}), ("h", {"label": "H"}), ("g", {"label": "H"})])
    water.add_edges_from([("o", "h"), ("o", "g")], label="single")
    salt = nx.Graph()
    salt.add_nodes_from([(0, {"label": "Na"}), (1, {"label": "Cl"})])
    salt.add_edge(0, 1, label="ionic")
    dataset = as_dataset([water, salt], ["wet", "dry"])
    assert [(c.name, c.values, c.edge) for c in dataset.columns] == [
        ("label", ("Cl", "H", "Na", "O"), False),
        ("label", ("ionic", "single"), True),
    ]
    assert dataset.graphs.node_label.tolist() == [3, 1, 1, 2, 0]  # type: ignore[union-attr]
    assert dataset.graphs.edge_label.tolist() == [1, 1, 1, 1, 0, 0]  # type: ignore[union-attr]
    assert node_names(dataset).tolist() == ["O", "H", "H", "Na", "Cl"]
    assert water.nodes["o"]["label"] == "O"
    salt.nodes[0]["label"] = "K"
    again, _ = graphs_in_memory([salt], dataset.columns)
    assert again.node_label.tolist() == [-1, 0]  # type: ignore[union-attr]
    del salt.nodes[0]["label"]
    with pytest.raises(InputError, match="missing for others"):
        as_dataset([water, salt])


def test_graphs_in_memory() -> None:
    graphs = [nx.path_graph(3), nx.cycle_graph(4)]
    assert as_dataset(graphs, ["tree", "cycle"]).y.tolist() == [1, 0]
    assert as_dataset(graphs, [0.5, 1.5]).task == "regression"
    assert as_dataset(graphs).task == "none"
    assert as_dataset(nx.karate_club_graph(), np.arange(34) % 3, level="node").classes == (0, 1, 2)
    import torch

    pyg = to_pyg(load("MUTAG").graphs)[:3]
    for k, data in enumerate(pyg):
        data.y = torch.tensor([k % 2])
    dataset = as_dataset(pyg)
    assert dataset.y.tolist() == [0, 1, 0]
    assert dataset.inputs == ("label",)
    masks = {name: torch.arange(17) % 3 == k for k, name in enumerate(("train_mask", "val_mask", "test_mask"))}
    node = as_dataset(pyg[0].update({"y": torch.arange(17) % 2} | masks), level="node")
    assert node.y.tolist() == [k % 2 for k in range(17)]
    assert node.splits[0].valid.tolist() == [1, 4, 7, 10, 13, 16]


def test_a_line_stands_for_one_file(tmp_path: Path) -> None:
    nx.write_gml(nx.path_graph(3), tmp_path / "g0.gml")
    nx.write_graphml(nx.path_graph(4), tmp_path / "g0.graphml")
    (tmp_path / "targets.csv").write_text("file,y\ng0,1\n")
    with pytest.raises(InputError, match=r"targets.csv, line 2: 'g0' is both g0.gml and g0.graphml; keep one"):
        load(tmp_path)
    (tmp_path / "targets.csv").write_text("file,y\ng0.graphml,1\ng0.gml,0\n")
    assert load(tmp_path).y.tolist() == [0, 1]


def test_ids_that_repeat_are_named_with_their_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"node '0.0' is listed twice in column 'size'; .* `--role NAME=id`"):
        load(tables(tmp_path / "g", "size,y\n0.0,1\n0.0,2\n"))


def test_spaces_around_ids_mean_nothing(tmp_path: Path) -> None:
    spaced = load(tables(tmp_path / "g", "id,y\na ,1\n b,2\n", "from,to\na,b \n"))
    assert (spaced.graphs.node_ids, spaced.graphs.num_edges) == (["a", "b"], 2)


def test_packed_graph_files_are_refused(tmp_path: Path) -> None:
    nx.write_gml(nx.path_graph(3), tmp_path / "a.gml")
    nx.write_graphml(nx.path_graph(3), tmp_path / "b.graphml.gz")
    for place in (tmp_path, tmp_path / "b.graphml.gz"):
        with pytest.raises(InputError, match=r"b.graphml.gz: .* unpack it"):
            load(place)
