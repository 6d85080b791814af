"""The first use after an install says what takes so long, once; later ones say nothing."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import wlhn.loops
from wlhn.cli.common.first_use import begin_compiling

SENTENCE = "Compiling the loops this needs, once after an install or an update: it takes some seconds."


def test_compiling_is_said_in_one_line_and_only_when_it_happens(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wlhn", "hierarchy", "karate", "--rounds", "0"]
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=env).stderr.splitlines()
        for _ in range(2)
    ]
    assert said[0].count(SENTENCE) == 1
    assert SENTENCE not in said[1]
    assert [line for line in said[0] if line != SENTENCE] == said[1]


def test_compiling_begins_before_it_is_needed_where_the_cache_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    loop = SimpleNamespace(stats=SimpleNamespace(cache_path=str(tmp_path)))
    monkeypatch.setattr("wlhn.loops.collation.mark_new", loop)
    for expected in ([], ["so"]):
        monkeypatch.setattr(wlhn.loops, "before_compiling", lambda: said.append("so"))
        there = tmp_path / "collation.mark_new-15.py311.nbi"
        there.touch() if not expected else there.unlink()
        begin_compiling()
        begin_compiling()  # once is enough
        assert said == expected
