"""similar and explore as a user meets them: streams hold the table alone, nothing is ignored in silence."""

import csv
import io
import json
import shlex
import shutil
from pathlib import Path

import pytest
from running import wlhn

from wlhn.files import only_writer, write_json
from wlhn.runs.run_folder import seal


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


def test_explore_finds_the_data_of_a_run_again_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the path it was trained on from anywhere; a namesake, or data that have changed, are never shown instead."""
    monkeypatch.chdir(tmp_path)
    table = "id,smiles,toxic\n" + "".join(f"m{k},{'C' * (1 + k % 4)}{'ON'[k % 2]},{k % 2}\n" for k in range(20))
    for place in ("first/karate.csv", "second/karate.csv"):  # a known name too
        Path(place).parent.mkdir()
        Path(place).write_text(table)
    settings = ["--epochs", "1", "--hidden-channels", "8", "--num-layers", "1", "--out", "run"]
    assert wlhn("train", "first/karate.csv", *settings).code == 0
    monkeypatch.chdir("second")
    Path("karate.csv").write_text(table.replace("m3,CCCCN", "m3,CCCCCCN"))
    ran = wlhn("explore", "../run", "--out", "page.html")
    assert ran.code == 0, ran.err

    def refused(sentence: str) -> None:
        ran = wlhn("explore", "../run", "--out", "other.html")
        assert (ran.code, ran.err.count("\n"), Path("other.html").exists()) == (2, 1, False), ran.err
        assert sentence in ran.err
        assert "name the data with --data" in ran.err

    source = tmp_path / "first" / "karate.csv"
    source.write_text(Path("karate.csv").read_text())
    refused(f"what is now at {source} is not what it was trained on")
    source.unlink()
    refused("what it was trained on cannot be read")
    assert wlhn("explore", "../run", "--data", "karate.csv", "--out", "other.html").code == 0


def test_explore_of_a_run_that_does_not_keep_the_path_goes_by_the_name(mutag_run: Path, tmp_path: Path) -> None:
    old = shutil.copytree(mutag_run, tmp_path / "old")
    config = json.loads((old / "config.json").read_text())
    del config["path"]
    write_json(old / "config.json", config)
    seal(old)
    assert wlhn("explore", old, "--out", tmp_path / "page.html").code == 0
    write_json(old / "config.json", config | {"data": "karate"})
    seal(old)
    ran = wlhn("explore", old, "--out", tmp_path / "other.html")
    assert ran.code == 2
    assert "is not what it was trained on" in ran.err


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
    rest = [["score"], ["explain", "--graph", "m3"], ["similar", "--graph", "m3"], ["embed", "--out", "points.npz"]]
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
    for command in (["embed", "run", "nothing.csv", "--out", "none.npz"], ["explore", "nothing.csv"]):
        ran = wlhn(*command, "--skip-invalid")
        assert (ran.code, ran.err.count("error: ")) == (2, 1), ran.err
        assert "give" in ran.err.splitlines()[-1]


def test_a_run_that_is_not_finished_is_called_so(tmp_path: Path) -> None:
    with only_writer(tmp_path / "run", "a training"):
        ran = wlhn("explore", tmp_path / "run", "--out", tmp_path / "page.html")
    assert ran.code == 2
    assert "no finished run here" in ran.err
