"""Loops compiled ahead of need are those that training needs; two processes share them, and none is compiled twice."""

import subprocess
import sys
import time
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target

import wlhn.loops
from wlhn.hyperbolic import polar
from wlhn.loops import ahead, rows

NEEDED = """
import tempfile
from collections import defaultdict
from wlhn.loops import adam, ahead, collation, gin, levels, rows, sums

LETTERS = {"int64": "i", "int32": "h", "float64": "d", "float32": "f", "bool": "b"}

def word(kind):
    return LETTERS[str(kind.dtype)] + str(kind.ndim) if hasattr(kind, "ndim") else LETTERS[str(kind)]

from wlhn.cli.app import app
try:
    app(["train", "MUTAG", "--epochs", "2", "--json", "--out", tempfile.mkdtemp() + "/run"])
except SystemExit as left:
    assert not left.code
used = defaultdict(list)
for module in (adam, collation, gin, levels, rows, sums):
    for name, loop in vars(module).items():
        if getattr(loop, "__module__", "") == module.__name__ and name not in ("careful_norm", "make_unit"):
            for each in getattr(loop, "signatures", ()):
                used[module.__name__.rpartition(".")[2] + "." + name].append(" ".join(map(word, each)))
wrong = [f'    "{name}": {kinds},' for name, kinds in used.items() if kinds != [ahead.LOOPS.get(name)]]
assert not wrong, "training needs these loops for just these types\\n" + "\\n".join(wrong)
assert set(used) == set(ahead.LOOPS), set(ahead.LOOPS) - set(used)
"""


def test_training_needs_just_these_loops_for_just_these_types() -> None:
    ran = subprocess.run([sys.executable, "-c", NEEDED], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]


def test_each_loop_has_as_many_types_as_arguments() -> None:
    for name in ahead.LOOPS:
        module, function = name.split(".")
        loop = getattr(import_module(f"wlhn.loops.{module}"), function)
        assert len(ahead.argument_types(name)) == len(signature(loop.py_func).parameters), name


def test_the_second_process_loads_no_torch(tmp_path: Path) -> None:
    for name in ahead.LOOPS:
        (tmp_path / name).touch()  # all taken: nothing to do
    modules = {f"wlhn.loops.{name.split('.')[0]}" for name in ahead.LOOPS}
    code = f"import {', '.join(modules)}, sys; from wlhn.loops.ahead import main; from pathlib import Path\n"
    code += f"main(Path({str(tmp_path)!r})); assert 'torch' not in sys.modules"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert rows.NEAREST == polar.NEAREST


def test_a_loop_that_the_partner_is_compiling_is_awaited_while_another_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours, *rest = ahead.LOOPS
    for name in (theirs, *rest):
        assert ahead.take(tmp_path, name)
    compiled: list[str] = []

    def compile_and_let_the_partner_finish(name: str) -> None:
        compiled.append(name)
        found = partner.compiled_loop(name, ahead.argument_types(name), lambda: "loaded")
        assert found is None  # ours: not awaited in turn
        (tmp_path / f"{theirs}.done").touch()

    monkeypatch.setattr(ahead, "compile_ahead", compile_and_let_the_partner_finish)
    partner = ahead.Partner(tmp_path, process(poll=None))
    assert partner.compiled_loop(theirs, ahead.argument_types(theirs), lambda: "loaded") == "loaded"
    assert compiled == [ours]


def test_what_is_nobodys_is_left_to_whoever_asks_and_a_dead_partner_is_not_awaited(tmp_path: Path) -> None:
    first, second, *_ = ahead.LOOPS
    partner = ahead.Partner(tmp_path, process(poll=0))
    assert partner.compiled_loop("refinement.gather", (), lambda: "loaded") is None
    assert partner.compiled_loop(first, ahead.argument_types(first)[:-1], lambda: "loaded") is None  # other types
    assert partner.compiled_loop(first, ahead.argument_types(first), lambda: "loaded") is None
    assert not ahead.take(tmp_path, first)
    assert ahead.take(tmp_path, second)
    assert partner.compiled_loop(second, ahead.argument_types(second), lambda: None) is None


def test_what_cannot_be_compiled_while_waiting_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, *rest = ahead.LOOPS
    assert ahead.take(tmp_path, theirs)
    tried: list[str] = []

    def fail(name: str) -> None:
        tried.append(name)
        if name == rest[-1]:
            (tmp_path / f"{theirs}.done").touch()
        raise TypeError("a loop has other arguments than the table says")

    monkeypatch.setattr(ahead, "compile_ahead", fail)
    partner = ahead.Partner(tmp_path, process(poll=None))
    assert partner.compiled_loop(theirs, ahead.argument_types(theirs), lambda: "loaded") == "loaded"
    assert tried == rest


def test_a_partner_that_is_stopped_is_awaited_once_and_not_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ahead.LOOPS:
        assert ahead.take(tmp_path, name)
    partner = ahead.Partner(tmp_path, process(poll=None))
    monkeypatch.setattr(ahead, "LONGEST_WAIT", 0.1)
    monkeypatch.setattr(wlhn.loops, "partner", partner)
    monkeypatch.setattr(FunctionCache, "_load_overload", lambda *_: None)  # numba's cache has nothing
    began = time.monotonic()
    assert rows.unit._cache.load_overload(ahead.argument_types("rows.unit"), cpu_target.target_context) is None
    assert 0.1 <= time.monotonic() - began < 10
    assert wlhn.loops.partner is None


def process(poll: int | None) -> Any:
    return SimpleNamespace(poll=lambda: poll)
