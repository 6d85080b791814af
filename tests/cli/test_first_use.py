"""The first use after an install says what takes so long, once; later ones say nothing."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import wlhn.loops
from wlhn.cli.common import first_use
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


@pytest.fixture
def nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, on a machine with two processors."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(wlhn.loops, "partner", None)
    return tmp_path


def test_a_helper_that_cannot_start_leaves_the_command_alone(
    nowhere_else: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(nowhere_else / "no-python"))
    first_use._say_so("train")
    assert wlhn.loops.partner is None
    assert not list(nowhere_else.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(nowhere_else / "no-folder"))
    first_use._say_so("train")
    assert wlhn.loops.partner is None


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
def test_a_stopped_helper_does_not_hold_up_the_end(nowhere_else: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_exit: list[Any] = []
    monkeypatch.setattr("atexit.register", lambda *call: at_exit.append(call))
    first_use._say_so("train")
    assert wlhn.loops.partner is not None
    ((stop, helper, folder),) = at_exit
    helper.send_signal(signal.SIGSTOP)
    stop(helper, folder)
    assert helper.returncode is not None
    assert wlhn.loops.partner is None
    assert not list(nowhere_else.iterdir())
