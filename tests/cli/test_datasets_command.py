"""`wlhn datasets …`: every command, as text and as JSON, and bad input with exit code 2."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wlhn.cli.app import app
from wlhn.data import KNOWN, check, load, published, statistics

RUNNER = CliRunner()


def run(*arguments: str) -> str:
    result = RUNNER.invoke(app, ["datasets", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_list_names_everything_and_where_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WLHN_DATA", raising=False)
    rows = {row["name"]: row for row in json.loads(run("--json"))}
    assert set(KNOWN) <= set(rows)
    assert rows["MUTAG"]["found"] == "built in"
    assert Path(rows["MUTAG"]["path"]).is_dir()
    assert rows["COLLAB"]["found"] == "download"
    assert "COLLAB" in run()


def test_show_and_audit_of_what_is_built_in() -> None:
    shown = json.loads(run("show", "mutag", "--json"))
    assert shown["statistics"]["graphs"] == 188
    assert [column["role"] for column in shown["columns"]] == ["feature", "feature", "target"]
    assert "node_labels" in run("show", "MUTAG")
    assert json.loads(run("audit", "karate", "--json", "--rounds", "2"))["items"] == 34
    assert "accuracy ceiling" in run("audit", "karate")


def test_roles_are_shown_and_set(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,kind,size\na,x,1\nb,y,2\n")
    (tmp_path / "edges.csv").write_text("u,v\na,b\n")
    roles = {c["name"]: c["role"] for c in json.loads(run("show", str(tmp_path), "--json"))["columns"]}
    assert roles == {"id": "id", "kind": "feature", "size": "target", "u": "from", "v": "to"}
    chosen = json.loads(run("show", str(tmp_path), "--json", "--role", "kind=target", "--role", "size=feature"))
    assert chosen["classes"] == ["x", "y"]


def test_what_is_missing_and_what_was_inferred_is_shown(tmp_path: Path) -> None:
    rows = "".join(f"{k},{k % 3 or -1}\n" for k in range(12))
    (tmp_path / "nodes.csv").write_text("id,kind\n" + rows)
    (tmp_path / "edges.csv").write_text("u,v\n0,1\n")
    asked = RUNNER.invoke(app, ["datasets", "show", str(tmp_path)])
    assert "--missing=-1" in str(asked.exception)
    shown = run("show", str(tmp_path), "--missing=-1")
    assert "12 nodes, 8 with a target: 2 classes" in shown
    numbers = run("show", str(tmp_path), "--missing=", "--task", "regression")
    assert "12 nodes, all with a target: 1 regression target" in numbers


@pytest.mark.parametrize("arguments", [["show", "/etc/hostname"], ["check", "karate"]])
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str]) -> None:
    command = [sys.executable, "-c", "from wlhn.cli import main; main()", "datasets", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.dataset("tu", "geom-gcn", "ogb")
def test_every_figure_is_as_published_or_explained(data_root: Path) -> None:
    known = [name for name in KNOWN if published(name) and name not in ("ogbg-molpcba", "COLLAB", "REDDIT-MULTI-5K")]
    for name in known:
        verdicts = {c.figure: c.verdict for c in check(name, statistics(load(name, data_root=data_root)))}
        assert "differs" not in verdicts.values(), (name, verdicts)


@pytest.mark.dataset("COLLAB")
def test_collab(data_root: Path) -> None:
    """24.6 million lines, zip-LZMA, self-loops."""
    dataset = load("COLLAB", data_root=data_root)
    assert dataset.notes == ("2,837 self-loops dropped",)
    assert "differs" not in {c.verdict for c in check("COLLAB", statistics(dataset))}
