"""`wlhn embed`: the points it writes are those of the library."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from running import wlhn

from wlhn import Hierarchy, diffhypcon, quality, refine, sala, sarkar
from wlhn.data import load
from wlhn.embeddings import random_gin


@pytest.fixture(scope="module")
def hierarchy():
    return refine(load("MUTAG").graphs, 1, "label")


@pytest.mark.parametrize("method", ["sarkar", "sala", "diffhypcon"])
def test_points_and_figures_are_those_of_the_library(tmp_path: Path, hierarchy: Hierarchy, method: str) -> None:
    out = tmp_path / "points.npz"
    more = [] if method == "sarkar" else ["--dimension", 5]
    ran = wlhn("embed", "MUTAG", "--method", method, "-T", 1, "--tau", 1.5, "--seed", 3, "--out", out, "--json", *more)
    expected = {
        "sarkar": lambda: sarkar(hierarchy.tree, 1.5),
        "sala": lambda: sala(hierarchy.tree, 5, 1.5),
        "diffhypcon": lambda: diffhypcon(hierarchy.tree, random_gin(hierarchy, 5, 3), 1.5),
    }[method]()
    document = json.loads(ran.out)
    assert document["quality"]["correlation"] == pytest.approx(quality(expected).correlation)
    assert document["tree_nodes"] == 41
    with np.load(out) as file:
        assert np.array_equal(file["r"], expected.r)
        assert np.array_equal(file["direction"], expected.e)
        assert np.array_equal(file["point"], expected.points)
        assert np.array_equal(file["parent"], hierarchy.tree.parent)
        assert file["depth"].tolist() == [-1] + [0] * 7 + [1] * 33
        assert file["colour"].tolist() == [-1, *range(7), *range(33)]


def test_a_table_for_other_programs(tmp_path: Path, hierarchy: Hierarchy) -> None:
    out = tmp_path / "points.csv"
    assert wlhn("embed", "MUTAG", "--method", "sarkar", "-T", 1, "--out", out).code == 0
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expected = sarkar(hierarchy.tree)
    assert list(rows[0]) == ["depth", "colour", "parent", "r", "direction_0", "direction_1", "point_0", "point_1"]
    assert [float(row["r"]) for row in rows] == expected.r.tolist()
    assert [[float(row["point_0"]), float(row["point_1"])] for row in rows] == expected.points.tolist()


def test_one_colour_at_the_start_is_the_root(tmp_path: Path) -> None:
    out = tmp_path / "points.npz"
    ran = wlhn("embed", "karate", "--initial", "uniform", "-T", 1, "--out", out)
    assert "by sala in 128 dimensions, τ = 1" in ran.out
    with np.load(out) as file:
        assert file["depth"][:2].tolist() == [0, 1]


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    for arguments in (["--tau", -1], ["--method", "x"], ["--dimension", 0, "--method", "sarkar"]):
        assert wlhn("embed", "MUTAG", "--out", tmp_path / "p.npz", *arguments).code == 2
    assert wlhn("embed", "MUTAG", "--out", tmp_path / "p.json").code == 2
    assert not list(tmp_path.iterdir())


def test_a_stream_is_the_file_and_standard_output_holds_nothing_else(tmp_path: Path) -> None:
    asked = ["embed", "MUTAG", "--method", "sarkar", "-T", 1, "--out"]
    assert wlhn(*asked, tmp_path / "points.csv").code == 0
    ran = wlhn(*asked, "-")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == (tmp_path / "points.csv").read_text().splitlines()
    ran = wlhn(*asked, "-", "--json")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "--json has no effect with --out -" in ran.err
