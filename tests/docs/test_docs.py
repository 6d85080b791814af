"""The documentation tells the truth: its code runs, page by page, and it builds without a warning or a network."""

import importlib.util
import pkgutil
import re
import shlex
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wlhn.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.stem)
def test_code_of_a_page_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if page.stem == "molecules" and any(importlib.util.find_spec(name) is None for name in ("rdkit", "ogb")):
        pytest.skip("needs rdkit and ogb")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(text, str(page), "exec"), names)
            continue
        for line in text.splitlines():
            program, *arguments = shlex.split(line.removeprefix("$ "))
            if program == "wlhn":
                result = CliRunner().invoke(app, arguments)
                assert result.exit_code == 0, (line, result.output, result.exception)


def test_names_of_ours_that_pages_mention_exist() -> None:
    names = {name for page in PAGES for name in re.findall(r"`(wlhn(?:\.\w+)+)`", page.read_text())}
    assert "wlhn.hyperbolic.polar.step" in names
    assert [name for name in sorted(names) if pkgutil.resolve_name(name) is None] == []


def test_the_site_builds_strictly_and_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("material", reason="needs mkdocs-material")
    pytest.importorskip("mkdocstrings", reason="needs mkdocstrings")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path / "site"), strict=True))
    commands = (tmp_path / "site" / "commands" / "index.html").read_text()
    for name in ("train", "predict", "explain", "similar", "explore"):
        assert f"wlhn {name}" in commands
    pages = "".join(page.read_text() for page in (tmp_path / "site").rglob("*.html"))
    assert not re.search(r'<(script|link)[^>]+(src|href)="https?://(?!squidfunk)', pages)
