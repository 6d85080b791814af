"""`wlhn hierarchy`: its figures, its file, and nothing half-written."""

import json
from pathlib import Path

import numpy as np
import pytest
from running import wlhn

from wlhn import Hierarchy, refine
from wlhn.data import load


@pytest.mark.dataset("IMDB-BINARY")
def test_the_paper_counts_2997_tree_nodes() -> None:
    ran = wlhn("hierarchy", "IMDB-BINARY", "--initial", "uniform", "--rounds", 2, "--json")
    document = json.loads(ran.out)
    assert document["tree_nodes"] == 2_997
    assert document["colours"] == [1, 65, 2_931]


def test_figures_of_mutag() -> None:
    document = json.loads(wlhn("hierarchy", "MUTAG", "--json").out)
    fitted = refine(load("MUTAG").graphs, None, "label")
    assert document["initial"] == "label"  # where there are labels
    assert document["colours"] == fitted.num_colours
    assert document["stable_depth"] == fitted.depth - 1
    assert document["tree_nodes"] == 1 + sum(fitted.num_colours)
    assert [row["largest"] for row in document["depths"]] == [
        int(fitted.count(t).max()) for t in range(fitted.depth + 1)
    ]
    pairs = {int(k): count for k, count in document["wl_distance"]["pairs"].items()}
    assert sum(pairs.values()) == 3371 * 3370 // 2
    assert document["wl_distance"]["mean"] == pytest.approx(
        sum(k * count for k, count in pairs.items()) / sum(pairs.values())
    )
    sizes = [row["nodes"] for row in document["largest_classes"]]
    assert sizes == sorted(fitted.count(fitted.depth).tolist(), reverse=True)[:10]


def test_without_labels_it_starts_from_degrees() -> None:
    assert json.loads(wlhn("hierarchy", "karate", "--json").out)["initial"] == "degree"


def test_without_labels_it_starts_from_categories(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles,y\nCO,0\nCN,1\n")
    document = json.loads(wlhn("hierarchy", tmp_path / "m.csv", "-T", 0, "--json").out)
    assert document["initial"] == "features"
    assert document["colours"] == [3]

    nodes = tmp_path / "g" / "nodes.csv"
    nodes.parent.mkdir()
    nodes.write_text("id,size,colour,shape,y\n0,0.5,red,round,a\n1,0.7,red,square,b\n2,0.9,red,square,a\n")
    (tmp_path / "g" / "edges.csv").write_text("from,to\n0,1\n1,2\n")
    saved = tmp_path / "h.npz"
    document = json.loads(wlhn("hierarchy", tmp_path / "g", "-T", 0, "--out", saved, "--json").out)
    assert document["initial"] == "categories"
    assert document["colours"] == [2]
    assert Hierarchy.load(saved).start == "categories"


def test_edge_labels_tell_more_apart() -> None:
    counts = [
        json.loads(wlhn("hierarchy", "MUTAG", "-T", 2, "--json", *more).out)["colours"]
        for more in ([], ["--edge-labels"])
    ]
    assert counts[0][-1] < counts[1][-1]


def test_directions_tell_more_apart(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("source,target\na,b\na,c\nb,d\n")
    plain, directed = (
        json.loads(wlhn("hierarchy", tmp_path / "links.csv", "--initial", "uniform", "--json", *more).out)
        for more in ([], ["--directed", "--out", tmp_path / "h.npz"])
    )
    assert (plain["directed"], directed["directed"]) == (False, True)
    assert (plain["colours"][-1], directed["colours"][-1]) == (2, 4)  # a path of four nodes, and a walk out of a
    assert Hierarchy.load(tmp_path / "h.npz").directed


def test_text_names_the_figures() -> None:
    ran = wlhn("hierarchy", "MUTAG", "--rounds", 1)
    assert ran.code == 0
    assert "MUTAG: 41 tree nodes from 3,371 nodes, start label" in ran.out
    assert "WL distance of two nodes" in ran.out
    assert "refining 3,371 nodes" in ran.err  # progress, apart from the result


def test_the_file_is_the_hierarchy(tmp_path: Path) -> None:
    out = tmp_path / "new folder" / "mutag.npz"
    document = json.loads(wlhn("hierarchy", "MUTAG", "-T", 2, "--out", out, "--json").out)
    assert document["out"] == str(out)
    loaded, fitted = Hierarchy.load(out), refine(load("MUTAG").graphs, 2, "label")
    assert loaded.num_colours == fitted.num_colours
    assert all(np.array_equal(a, b) for a, b in zip(loaded.colours, fitted.colours, strict=True))


@pytest.mark.parametrize("arguments", [["MUTAG", "--initial", "nothing"], ["nowhere"], ["MUTAG", "-T", "-3"]])
def test_bad_input_writes_nothing(tmp_path: Path, arguments: list[str]) -> None:
    assert wlhn("hierarchy", *arguments, "--out", tmp_path / "h.npz").code == 2
    assert not list(tmp_path.iterdir())


def test_files_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    ran = wlhn("hierarchy", "MUTAG", "--out", tmp_path / "h.txt")
    assert (ran.code, ran.err) == (2, f"error: {tmp_path}/h.txt: the name must end in .npz\n")
    (tmp_path / "folder.npz").mkdir()
    assert wlhn("hierarchy", "MUTAG", "--out", tmp_path / "folder.npz").code == 2
    (tmp_path / "file").write_text("")
    ran = wlhn("hierarchy", "MUTAG", "--out", tmp_path / "file" / "h.npz")
    assert ran.code == 2
    assert ran.err.count("error: ") == 1


def test_a_damaged_data_set_is_named(tmp_path: Path) -> None:
    (tmp_path / "BAD_A.txt").write_text("1, 2\n2, x\n")
    (tmp_path / "BAD_graph_indicator.txt").write_text("1\n1\n")
    ran = wlhn("hierarchy", tmp_path)
    assert ran.code == 2
    assert "error: " in ran.err
    assert "Traceback" not in ran.err
