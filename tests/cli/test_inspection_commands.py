"""similar and explore as a user meets them: streams hold the table alone, nothing is ignored in silence."""

import csv
import io
import json
import shlex
from pathlib import Path

import pytest
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


def test_data_with_a_molecule_that_cannot_be_read_can_be_asked_about_throughout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `train` printed as the next command works, and so do all that follow."""
    monkeypatch.chdir(tmp_path)
    rows = [f"m{k},{'C' * (1 + k % 4)}{'ON'[k % 2]},{k % 2}" for k in range(20)]
    Path("a table.csv").write_text("\n".join(["id,smiles,toxic", *rows, "bad,C1CC,0"]) + "\n")
    settings = ["--skip-invalid", "--epochs", "1", "--hidden-channels", "8", "--num-layers", "1", "--out", "run"]
    trained = wlhn("train", "a table.csv", *settings)
    assert trained.code == 0, trained.err
    following = trained.out.splitlines()[-1]
    assert following.split()[:2] == ["wlhn", "predict"]
    rest = [["score"], ["explain", "--graph", "m3"], ["similar", "--graph", "m3"]]
    commands = [shlex.split(following)[1:], ["explore", "run", "--data", "a table.csv", "--skip-invalid"]]
    for name, *more in rest:
        commands.append([name, "run", "a table.csv", "--skip-invalid", *more])
    for command in commands:
        ran = wlhn(*command)
        assert ran.code == 0, ran.err
        assert "a table: 1 molecule could not be read, the first bad: RDKit refuses 'C1CC'" in ran.err
    assert Path("predictions.csv").read_text().splitlines()[-1] == "bad,,,"
    Path("nothing.csv").write_text("id,smiles,toxic\nbad,C1CC,0\nworse,C1C,1\n")
    ran = wlhn("predict", "run", "nothing.csv", "--skip-invalid", "--out", "p.csv")
    assert ran.code == 0, ran.err
    assert "The 2 that could not be read have an empty answer." in ran.out
