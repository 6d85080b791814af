"""`wlhn kernel`: what it writes is what the library computes, without pickle, and nothing after bad input."""

import json
from pathlib import Path

import numpy as np
import pytest
from running import wlhn
from scipy import sparse

from wlhn import OptimalAssignmentKernel, TreeWasserstein, WLFeatures, WLKernel
from wlhn.data import load
from wlhn.kernels import dense


@pytest.mark.parametrize(
    ("arguments", "kernel"),
    [
        (["--kind", "wl", "--depth", 2], WLKernel(2)),
        (["--kind", "oa", "-T", 3, "--edge-labels"], OptimalAssignmentKernel(3, edge_labels=True)),
        (["--kind", "oa", "-T", 1, "--weights", "1,0.5"], OptimalAssignmentKernel(1, weights=[1, 0.5])),
        (["--kind", "wl", "--no-normalise", "--start", "degree"], WLKernel(normalise=False, start="degree")),
        (["--kind", "wasserstein", "--start", "label,degree"], TreeWasserstein(start=["label", "degree"])),
        (["--kind", "wasserstein", "--gamma", 0.5], TreeWasserstein(gamma=0.5)),
    ],
)
def test_the_file_has_the_matrix_of_the_library(tmp_path: Path, arguments: list[object], kernel: WLKernel) -> None:
    mutag, out = load("MUTAG"), tmp_path / "new folder" / "K.npz"
    document = json.loads(wlhn("kernel", "MUTAG", *arguments, "--out", out, "--json").out)
    expected = kernel.fit_transform(mutag)
    with np.load(out, allow_pickle=False) as file:
        np.testing.assert_array_equal(file["matrix"], expected)
        np.testing.assert_array_equal(file["y"], mutag.y)
        assert file["graph_ids"].tolist() == [str(k) for k in range(188)]
        assert json.loads(str(file["meta"]))["colours"] == kernel.hierarchy_.num_colours == document["colours"]
    assert document["out"] == str(out)
    assert document["shape"] == [188, 188]
    assert document["largest"] == expected.max()
    assert document["mean"] == pytest.approx(expected[~np.eye(188, dtype=bool)].mean())


def test_features_and_their_names(tmp_path: Path) -> None:
    out = tmp_path / "F.npz"
    ran = wlhn(
        "kernel", "MUTAG", "--kind", "features", "-T", 2, "--code", "thermometer", "--min-graphs", 2, "--out", out
    )
    assert ran.code == 0, ran.err
    features = WLFeatures(2, code="thermometer", min_graphs=2)
    rows = features.fit_transform(load("MUTAG"))
    np.testing.assert_array_equal(sparse.load_npz(out).toarray(), rows.toarray())
    about = json.loads((tmp_path / "F.json").read_text())
    assert about["names"] == features.get_feature_names_out().tolist()
    assert about["y"] == load("MUTAG").y.tolist()


def test_directions_of_files_are_read_where_they_count(tmp_path: Path) -> None:
    (tmp_path / "roads.csv").write_text("source,target\na,b\nb,c\n")
    for flags, colours in ([], [1, 2]), (["--directed"], [1, 3]):
        document = json.loads(
            wlhn("kernel", tmp_path / "roads.csv", "--start", "uniform", "-T", 1, *flags, "--json").out
        )
        assert document["colours"] == colours
        assert document["directed"] == bool(flags)


def test_numbers_that_do_not_count_are_told(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,age,club\na,3.5,x\nb,4.5,y\n")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    assert "--start features" in wlhn("kernel", tmp_path).err
    assert "--start features" not in wlhn("kernel", tmp_path, "--start", "degree").err


def test_several_targets_stand_beside_features_and_one_file_is_not_there_without_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, out = tmp_path / "molecules.csv", tmp_path / "F.npz"
    table.write_text("smiles,toxic,bitter\nCCO,1,0\nCCN,0,\nCC,1,1\n")
    given = [table, "--role", "toxic=target", "--role", "bitter=target", "--start", "features", "--kind", "features"]

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("wlhn.cli.kernel.write_json", broken)
        assert wlhn("kernel", *given, "--out", out).code
    assert list(tmp_path.iterdir()) == [table]
    ran = wlhn("kernel", *given, "--out", out)
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "F.json").read_text())["y"] == [[1, 0], [0, None], [1, 1]]
    assert sparse.load_npz(out).shape[0] == 3


def test_columns_of_own_tables_have_names(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,age,height\na,1.5,7.25\nb,2.5,3.5\nc,1.5,9.5\n")
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    by_name, by_number = (
        json.loads(wlhn("kernel", tmp_path, "-T", 1, "--start", start, "--json").out) for start in ("age", "0")
    )
    assert by_name == by_number
    assert by_name["colours"] == [2, 2]


def test_missing_numbers_are_filled_as_is_said(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,age\na,1.5\nb,2.5\nc,\n")
    (tmp_path / "edges.csv").write_text("source,target,years\na,b,2.5\nb,c,\nc,a,0.5\n")
    given = ["--role", "age=feature", "--start", "age", "--edge-labels", "-T", 1, "--json"]
    for kind in ("oa", "features"):
        ran = wlhn("kernel", tmp_path, "--kind", kind, *given)
        assert ran.code == 0, ran.err
        assert "'age' of 1 of 3 rows (the training mean and an indicator)" in ran.err
        assert "'years' of 1 of 3 edges (the training mean and an indicator)" in ran.err
        assert json.loads(ran.out)["colours"] == [3, 3]


def test_text_names_the_figures() -> None:
    ran = wlhn("kernel", "MUTAG", "--depth", 1)
    assert ran.code == 0
    assert "MUTAG: 188 graphs, oa" in ran.out
    assert "7, 33" in ran.out
    assert "refining 3,371 nodes" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["MUTAG", "--kind", "rbf"], "kind: must be wl, oa, wasserstein or features, found 'rbf'"),
        (["MUTAG", "--start", "colour"], "start: must be uniform, degree, label, features or"),
        (["MUTAG", "--start", "label,4"], "start: no column 4 of node features here, the graphs have none"),
        (["karate", "--start", "label"], "start: the graphs have no node labels"),
        (["MUTAG", "--depth", "-1"], "depth: must be 0 or more, found -1"),
        (["MUTAG", "--weights", "1,x"], "weights: expected numbers with commas between, found '1,x'"),
        (["MUTAG", "--gamma", "1"], "--gamma belongs to --kind wasserstein"),
        (["MUTAG", "--kind", "wl", "--min-graphs", "2"], "--min-graphs belongs to --kind features"),
        (["karate", "--edge-labels"], "edge_labels: the graphs have neither"),
        (["nowhere"], "nowhere: neither a known data set nor a path"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(tmp_path: Path, arguments: list[str], message: str) -> None:
    ran = wlhn("kernel", *arguments, "--out", tmp_path / "K.npz")
    assert ran.code == 2
    assert f"error: {message}" in ran.err
    assert "Traceback" not in ran.err
    assert not list(tmp_path.iterdir())


def test_a_graph_without_nodes_is_named(tmp_path: Path) -> None:
    for name, lines in {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n3\n", "graph_labels": "0\n1\n0\n"}.items():
        (tmp_path / f"BAD_{name}.txt").write_text(lines)
    ran = wlhn("kernel", tmp_path)
    assert ran.code == 2
    assert ran.err.count("error: ") == 1


def test_a_matrix_too_large_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 1000}))
    ran = wlhn("kernel", "MUTAG")
    assert ran.code == 2
    assert "a matrix of 188 × 188 numbers takes 0.0 GB" in ran.err
    assert "--kind features" in ran.err
    assert "refining" not in ran.err
    assert wlhn("kernel", "MUTAG", "--kind", "features").code == 0


def test_molecules_under_another_name_are_compared(tmp_path: Path) -> None:
    table = tmp_path / "molecules.csv"
    table.write_text("name,structure\na,CCO\nb,CCO\nc,CCN\nd,C1CC\n")
    given = ["--role", "structure=smiles", "--role", "name=id", "--start", "features", "--skip-invalid"]
    ran = wlhn("kernel", table, *given, "--out", tmp_path / "K.npz")
    assert ran.code == 0, ran.err
    assert "1 molecule that RDKit refuses was skipped: d (line 5)" in ran.err
    with np.load(tmp_path / "K.npz") as kept:
        assert kept["graph_ids"].tolist() == ["a", "b", "c"]
        assert kept["matrix"][0, 1] == 1 > kept["matrix"][0, 2]
