"""The notebooks run from top to bottom on data that come along or are made there, and hold no stale output."""

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    document = json.loads(notebook.read_text(encoding="utf-8"))
    assert (document["nbformat"], document["metadata"]["kernelspec"]["language"]) == (4, "python")
    return [cell for cell in document["cells"] if cell["cell_type"] == kind]


def test_there_is_one_for_each_story() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["molecules", "node-roles", "own-graphs"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_tells_its_story(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for k, cell in enumerate(cells(notebook, "code")):
        assert not cell["outputs"]
        exec(compile("".join(cell["source"]), f"{notebook.name}, cell {k}", "exec"), names)
    assert len(capsys.readouterr().out.splitlines()) > 2
    assert len(cells(notebook, "markdown")) >= 4
