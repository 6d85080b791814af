"""Large graphs from tables of edges: the graph of the whole file, whatever the pieces it is read in."""

import gzip
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import pytest
from strategies import edge_list

from wlhn.data import load
from wlhn.data.readers.edge_tables import read_edge_table
from wlhn.data.readers.tables import ReadOptions
from wlhn.errors import InputError
from wlhn.graphs import Graphs

pytest.importorskip("pyarrow")


def written(path: Path, frame: pd.DataFrame) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.suffixes else ",")
    return path


def edge_values(graphs: Graphs, values: Any) -> dict[tuple[int, int], float]:
    """The value of each edge, by its ends."""
    return {(int(u), int(v)): value for (u, v), value in zip(graphs.edge_index.T, values.tolist(), strict=True)}


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
@pytest.mark.parametrize("names", [lambda v: v, lambda v: 7 * v - 50, lambda v: f"node {v % 3} {v}"])
@pytest.mark.parametrize("rows", [7, 1000])
def test_the_graph_is_that_of_the_edges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, names: object, rows: int
) -> None:
    monkeypatch.setattr("wlhn.data.readers.pieces.ROWS", rows)
    graph = nx.barabasi_albert_graph(60, 2, seed=1)
    edges = [(names(u), names(v)) for u, v in graph.edges]  # type: ignore[operator]
    frame = pd.DataFrame(edges, columns=["Source", "Target"]).assign(weight=0.5)
    dataset = load(written(tmp_path / f"friends.{ending}", frame))
    ids = dataset.graphs.ids(0)
    assert {frozenset((ids[u], ids[v])) for u, v in dataset.graphs.edge_index.T} == {frozenset(e) for e in edges}
    assert dataset.graphs.num_edges == 2 * len(edges)
    assert (dataset.name, dataset.level, dataset.task) == ("friends", "node", "none")
    assert ids == (sorted(ids) if isinstance(ids[0], int) else list(dict.fromkeys(v for edge in edges for v in edge)))
    assert [(c.name, c.role) for c in dataset.columns][2] == ("weight", "feature")


def test_of_an_undirected_edge_that_is_listed_twice_the_first_stands_both_ways(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,y\na,1\nb,2\nc,2\n")
    lines = ("from,to,bond,length", "a,b,single,1", "b,c,double,2", "b,a,double,3", "b,c,single,4")
    (tmp_path / "edges.csv").write_text("\n".join(lines))
    read = load(tmp_path)
    assert edge_values(read.graphs, read.graphs.edge_label) == {(0, 1): 1, (1, 0): 1, (1, 2): 0, (2, 1): 0}
    lengths = edge_values(read.graphs, read.graphs.edge_attr[:, 0])  # type: ignore[index]
    assert lengths == {(0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 1): 2}
    assert "2 duplicate edges dropped" in read.notes


def test_a_role_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,code,y\na,1,1\nb,2,2\n")
    (tmp_path / "edges.csv").write_text("from,to\na,b\n")
    with pytest.raises(InputError, match=r"role of column 'code': must be one of .*, found 'catgory'"):
        load(tmp_path, roles={"code": "catgory"})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("1 2 A", "2 1 1", [1, 0, 0]), ("01 02 A", "02 01 01", [1, 0, 0]), ("1 2 3", "1 2 X", [0, 1, -1])],
)
def test_categories_mean_the_same_whatever_else_a_table_has(
    old: str, new: str, expected: list[int], tmp_path: Path
) -> None:
    """Without A, a column of codes looks like numbers; with X, one of numbers looks like text."""
    for folder, codes in (("old", old), ("new", new)):
        (tmp_path / folder).mkdir()
        one, two, three = codes.split()
        (tmp_path / folder / "nodes.csv").write_text(f"id,code,y\na,{one},no\nb,{two},yes\nc,{three},no\n")
        (tmp_path / folder / "edges.csv").write_text(f"from,to,code2\na,b,{one}\nb,c,{two}\na,c,{three}\n")
    known = load(tmp_path / "old", roles={"code": "category", "code2": "category"})
    again = load(tmp_path / "new", like=known.columns)
    assert again.graphs.node_label.tolist() == expected  # type: ignore[union-attr]
    found = edge_values(again.graphs, again.graphs.edge_label)
    assert [found[0, 1], found[1, 2], found[0, 2]] == expected


def test_directions_loops_and_copies(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("u,v\n1,1\n1,2\n2,1\n1,2\n\n\n")
    assert edge_list(read_edge_table(path).graphs) == edge_list(Graphs.from_edges([[0, 1], [1, 0]]))
    assert "2 duplicate edges dropped" not in read_edge_table(path, ReadOptions(directed=True)).notes
    one_way = read_edge_table(path, ReadOptions(directed=True, self_loops=True)).graphs
    assert edge_list(one_way) == edge_list(Graphs.from_edges([[0, 0, 1], [0, 1, 0]]))


def test_a_name_is_what_stands_there(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("from,to\n7,007\nNA,7\n")
    assert read_edge_table(path).graphs.node_ids == [7, "007", "NA"]


@pytest.mark.parametrize("pieces", [2, 1000])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty; it needs a header line"),
        ("from,to\n1,2\n3,\n", "line 3, column 'to': the value is missing"),
        ("from,to\n1,2\n\n3,4\n5,6\n", "line 3, column 'from': the value is missing"),
        ("from,to\n1,2,3\n", "line 2: expected 2 fields as in the header, found more"),
    ],
)
def test_bad_tables_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, sentence: str, pieces: int
) -> None:
    monkeypatch.setattr("wlhn.data.readers.pieces.ROWS", pieces)
    path = tmp_path / "edges.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_edge_table(path)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no")
    packed = gzip.compress(b"from,to\n" + b"1,2\n" * 1000)
    (tmp_path / "b.csv.gz").write_bytes(packed[: len(packed) // 2])
    for name in ("a.parquet", "b.csv.gz"):
        with pytest.raises(InputError, match=name):
            load(tmp_path / name)


@pytest.mark.parametrize("there", [0, 1])
def test_rows_that_a_damaged_file_states_and_has_not_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: int
) -> None:
    import pyarrow.parquet as pq

    pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 1]}).to_parquet(tmp_path / "a.parquet")
    with pq.ParquetFile(tmp_path / "a.parquet") as file:
        rows = [batch.slice(0, there) for batch in file.iter_batches()]
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *given, **columns: iter(rows[:there]))
    with pytest.raises(InputError, match=rf"a\.parquet: is damaged, it has {there} of the 3 rows it states"):
        load(tmp_path / "a.parquet")


@pytest.mark.parametrize("rows", [1, 1000])
def test_edges_of_a_table_of_nodes_are_read_in_pieces_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr("wlhn.data.readers.pieces.ROWS", rows)
    (tmp_path / "nodes.csv").write_text("id,klass\na,0\nb,1\nc,0\n")
    (tmp_path / "edges.csv").write_text("from,to\nc,a\nb,c\n")
    assert load(tmp_path).graphs.edge_index.tolist() == [[2, 2, 1, 0], [0, 1, 2, 2]]
    (tmp_path / "edges.csv").write_text("from,to\nc,a\nb,x\n")
    with pytest.raises(InputError, match=r"edges.csv, line 3: node 'x' is not in .*nodes.csv; add it there"):
        load(tmp_path)


def test_an_index_that_pandas_left_in_a_table_is_no_column(tmp_path: Path) -> None:
    table = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}, index=["x", "y"])
    table.to_parquet(tmp_path / "edges.parquet")
    assert load(tmp_path / "edges.parquet").graphs.num_nodes == 3


@pytest.mark.parametrize("other", ["years", "to"])
@pytest.mark.parametrize("ends", ["node1 node2", "start end", "Node_U Node_V", "a b", "FromNodeId ToNodeId", "src dst"])
def test_ends_are_found_by_their_names_wherever_they_stand(tmp_path: Path, other: str, ends: str) -> None:
    edges = pd.DataFrame([[7, "x", "y"], [8, "y", "z"]], columns=[other, *ends.split()])
    (tmp_path / "nodes.csv").write_text("id,y\nx,1\ny,2\nz,2\n")
    for order in (edges.columns, edges.columns[::-1]):
        written(tmp_path / "edges.csv", edges[order])
        read = load(tmp_path, directed=True)
        assert edge_values(read.graphs, read.graphs.edge_attr[:, 0]) == {(0, 1): 7, (1, 2): 8}  # type: ignore[index]
        assert not any("by position" in note for note in read.notes)


def test_ends_of_unknown_names_are_the_only_two_columns_or_asked_for(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,y\nx,1\ny,2\n")
    (tmp_path / "edges.csv").write_text("this,that\nx,y\n")
    read = load(tmp_path)
    assert read.graphs.num_edges == 2
    assert any("edges.csv: taken by position: 'this' as from and 'that' as to" in note for note in read.notes)
    (tmp_path / "edges.csv").write_text("kind,this,that\nx,x,y\n")
    with pytest.raises(InputError, match=r"of the columns kind, this and that .* `--role NAME=from --role NAME=to`"):
        load(tmp_path)
    with pytest.raises(InputError, match="two ends"):
        load(tmp_path, roles={"this": "from"})
    told = load(tmp_path, roles={"this": "from", "that": "to"})
    assert [c.name for c in told.columns if c.edge and c.is_feature] == ["kind"]
    assert not any("by position" in note for note in told.notes)


@pytest.mark.parametrize("broken", ["nodes", "edges"])
def test_a_table_without_a_header_is_refused(tmp_path: Path, broken: str) -> None:
    text = {"nodes": "id,y\n0,1\n1,2\n2,2\n", "edges": "from,to\n0,1\n1,2\n"}
    for name in text:
        lines = text[name].split("\n", 1)[1] if name == broken else text[name]
        (tmp_path / f"{name}.csv").write_text(lines)
    with pytest.raises(InputError, match=rf"{broken}.csv, line 1: has numbers where the names .* add a header"):
        load(tmp_path)


def test_duplicates_with_other_values_are_told_apart_from_copies(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,y\na,1\nb,2\nc,2\n")
    copies = ["a,b,1,x", "b,a,1,x", "b,c,,x", "c,b,,x"]
    (tmp_path / "edges.csv").write_text("\n".join(["from,to,years,kind", *copies]))
    said = load(tmp_path).notes
    assert "2 duplicate edges dropped" in said
    assert not any("other values" in note for note in said)
    (tmp_path / "edges.csv").write_text("\n".join(["from,to,years,kind", *copies, "a,b,7,x", "c,b,,z", "a,c,2,x"]))
    said = load(tmp_path).notes
    assert "4 duplicate edges dropped" in said
    assert any("2 dropped edges had other values" in note and "`--directed`" in note for note in said)


def test_names_of_edges_are_no_features(tmp_path: Path) -> None:
    """Unless two are alike, or the user says otherwise."""
    path = tmp_path / "roads.csv"
    path.write_text("Edge_ID,source,target,km\n7,a,b,1\n9,b,c,2\n")
    roads = load(path)
    assert roads.graphs.edge_attr is not None
    assert sorted(roads.graphs.edge_attr[:, 0].tolist()) == [1, 1, 2, 2]
    assert "roads.csv: 'Edge_ID' names edges, so it is ignored" in roads.notes
    told = load(path, roles={"Edge_ID": "feature"}).graphs.edge_attr
    assert told is not None
    assert told.shape == (4, 2)
    path.write_text("edge,source,target,km\n7,a,b,1\n7,b,c,2\n")
    repeated = load(path).graphs.edge_attr
    assert repeated is not None
    assert repeated.shape == (4, 2)
