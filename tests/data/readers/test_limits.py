"""What grows while it is read stops at the limit, in one sentence and with little memory; links lead nowhere."""

import gzip
import tracemalloc
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from wlhn.data import load, read_mask_split
from wlhn.data.readers.limits import read_limit
from wlhn.errors import InputError

SENTENCE = r"WLHN_READ_LIMIT=\d+G raises the limit"


def grown(folder: Path, form: str) -> Path:
    """A small file that would become large."""
    match form:
        case "edges.csv.gz":
            text = b"from,to\n" + b"1,2\n" * 8_000_000
        case "molecules.csv.gz":
            text = b"smiles,y\n" + b"C,1\n" * 8_000_000
        case "long.csv":
            (folder / form).write_text("smiles,y\nCC,0\n" + "C" * 300_000 + ",1\n")
            return folder / form
        case "edges.parquet":
            pd.DataFrame({"source": [1] * 3_000_000, "target": [2] * 3_000_000}).to_parquet(folder / form)
            return folder / form
        case "g.gml" | "g.graphml":
            (folder / form).write_bytes(b" " * 5_000_000)
            return folder / form
        case _:
            raise AssertionError(form)
    (folder / form).write_bytes(gzip.compress(text))
    return folder / form


@pytest.mark.parametrize(
    "form", ["edges.csv.gz", "molecules.csv.gz", "long.csv", "edges.parquet", "g.gml", "g.graphml"]
)
def test_what_grows_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    path = grown(tmp_path, form)
    monkeypatch.setenv("WLHN_READ_LIMIT", "256M")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=SENTENCE) as error:
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 256 << 20
    finally:
        tracemalloc.stop()
    assert "\n" not in str(error.value)


def test_the_limit_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(gzip.compress(b"from,to\n" + b"1,2\n" * 1_000_000))
    monkeypatch.setenv("WLHN_READ_LIMIT", "16M")
    with pytest.raises(InputError, match=SENTENCE):
        load(path)
    monkeypatch.setenv("WLHN_READ_LIMIT", "1G")
    assert load(path).graphs.num_nodes == 2
    monkeypatch.setenv("WLHN_READ_LIMIT", "much")
    with pytest.raises(InputError, match="WLHN_READ_LIMIT=much: must be a size such as 500M or 16G"):
        read_limit()


def test_tables_that_would_be_wide_and_empty_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attribute for every node, or two columns of many categories, need the square of what they say."""
    graph = nx.empty_graph(1200)
    for node in graph:
        graph.nodes[node][f"only {node}"] = 1
    nx.write_graphml(graph, tmp_path / "wide.graphml")
    (tmp_path / "edges.csv").write_text("u,v\n")
    rows = "".join(f"{k},a{k // 3},b{k // 3},{k % 2}\n" for k in range(3000))
    (tmp_path / "nodes.csv").write_text("id,p,q,y\n" + rows)
    monkeypatch.setenv("WLHN_READ_LIMIT", "32M")
    for path in (tmp_path / "wide.graphml", tmp_path):
        with pytest.raises(InputError, match=SENTENCE):
            load(path)


def test_masks_and_column_numbers_do_not_grow_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WLHN_READ_LIMIT", "16M")
    np.savez_compressed(tmp_path / "s.npz", **{f"{part}_mask": np.zeros(2_000_000, bool) for part in ("train", "val")})
    with pytest.raises(InputError, match=SENTENCE):
        read_mask_split(tmp_path / "s.npz")
    folder = tmp_path / "g"
    folder.mkdir()
    (folder / "out1_graph_edges.txt").write_text("a\tb\n")
    header, nodes = "node_id\tfeature\tlabel\n", folder / "out1_node_feature_label.txt"
    nodes.write_text(header + "".join(f"{k}\t{k},1000000\t0\n" for k in range(9)))
    with pytest.raises(InputError, match=SENTENCE):
        load(folder)
    nodes.write_text(f"{header}0\t1,{'9' * 30}\t0\n")
    with pytest.raises(InputError, match="features must be 0/1 columns"):
        load(folder)
    nodes.write_text(f"{header}0\t1,0\t{'9' * 30}\n")
    with pytest.raises(InputError, match="line 2: must be node, features and label"):
        load(folder)


def test_deep_nesting_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "deep.gml").write_text("graph [ " + "a [ " * 100_000 + "] " * 100_000 + "]")
    with pytest.raises(InputError, match=r"deep.gml: is nested too deeply"):
        load(tmp_path / "deep.gml")
    (tmp_path / "deep.graphml").write_text("<graphml>" + "<a>" * 100_000)
    with pytest.raises(InputError, match=r"deep.graphml"):
        load(tmp_path / "deep.graphml")
    (tmp_path / "deep.edgelist").write_text("a b " + "{" * 100_000 + "\n")
    with pytest.raises(InputError, match=r"deep.edgelist, line 1: expected attributes"):
        load(tmp_path / "deep.edgelist")


@pytest.mark.parametrize("name", ["nodes.csv", "targets.csv", "g.edgelist", "S_A.txt", "raw/edge.csv.gz", "raw"])
def test_links_out_of_a_data_folder_are_refused(tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("topsecret\nline two\n")
    folder = tmp_path / "data"
    (folder / name).parent.mkdir(parents=True)
    for other, text in {"nodes.csv": "id,y\n0,a\n", "edges.csv": "u,v\n", "a.edgelist": "x y\n"}.items():
        (folder / other).write_text(text)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path if name == "raw" else secret)
    with pytest.raises(InputError, match="a symbolic link that leads out of the folder") as error:
        load(folder)
    assert "topsecret" not in str(error.value)
    assert "secret" not in str(error.value).replace(str(tmp_path), "")


def test_links_within_a_folder_and_to_it_are_followed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    nx.write_graphml(nx.path_graph(3), folder / "a.graphml")
    (folder / "b.graphml").symlink_to(folder / "a.graphml")
    (tmp_path / "link").symlink_to(folder)
    assert len(load(tmp_path / "link")) == 2
