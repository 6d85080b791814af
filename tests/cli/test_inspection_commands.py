"""similar and explore as a user meets them: streams hold the table alone, nothing is ignored in silence."""

import csv
import io
import json
from pathlib import Path

from running import wlhn


def test_the_table_of_similar_goes_to_a_file_or_a_stream(mutag_run: Path, tmp_path: Path) -> None:
    asked = ["similar", mutag_run, "MUTAG", "--graph", "3", "--top", "4"]
    expected = json.loads(wlhn(*asked, "--json").out)["nearest"]
    ran = wlhn(*asked, "--out", "-", "--json")
    assert [json.loads(line) for line in ran.out.splitlines()] == expected
    streamed = list(csv.DictReader(io.StringIO(wlhn(*asked, "--out", "-").out)))
    assert [row["id"] for row in streamed] == [row["id"] for row in expected]
    assert [float(row["distance"]) for row in streamed] == [row["distance"] for row in expected]
    ran = wlhn(*asked, "--out", tmp_path / "near.csv")
    assert "nearest to graph 3" in ran.out
    assert list(csv.DictReader((tmp_path / "near.csv").read_text().splitlines())) == streamed


def test_rounds_beside_a_run_are_refused_as_the_run_has_its_own(mutag_run: Path, tmp_path: Path) -> None:
    ran = wlhn("explore", mutag_run, "--rounds", "2", "--out", tmp_path / "page.html")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "--rounds 2: the run in" in ran.err
    assert not (tmp_path / "page.html").exists()


def test_training_leaves_a_model_card(mutag_run: Path) -> None:
    card = (mutag_run / "README.md").read_text()
    assert "library_name: wlhn" in card
    assert "## Scores" in card
