"""The first use after an install: loops are compiled. It is said, and for training two processes share the work."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import typer

import wlhn.loops


def announce_compiling(command: str) -> None:
    """Should loops have to be compiled in this process, say so on standard error, in one line."""
    wlhn.loops.before_compiling = partial(_say_so, command)
    # numba colours messages for itself while it tries types, and nobody here reads them: 4 % of compiling
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")


def begin_compiling() -> None:
    """If numba's cache is empty, begin before the first loop is needed: while torch is imported and data are read."""
    from wlhn.loops.collation import mark_new  # which is among the first to be compiled ahead

    cached = any(Path(mark_new.stats.cache_path or "").glob("collation.mark_new-*.nbi"))
    if wlhn.loops.before_compiling is not None and not cached:
        wlhn.loops.before_compiling()
        wlhn.loops.before_compiling = None


def _say_so(command: str) -> None:
    typer.echo("Compiling the loops this needs, once after an install or an update: it takes some seconds.", err=True)
    if command == "train" and (os.cpu_count() or 1) > 1:
        with suppress(Exception):  # without help it takes longer, that is all
            _start_partner()


def _start_partner() -> None:
    from wlhn.loops.ahead import Partner

    folder, quiet = tempfile.mkdtemp(prefix="wlhn-loops-"), subprocess.DEVNULL
    command_line = [sys.executable, "-m", "wlhn.loops.ahead", folder]
    try:
        helper = subprocess.Popen(command_line, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    wlhn.loops.partner = Partner(Path(folder), helper)
    atexit.register(_stop, helper, folder)


def _stop(helper: subprocess.Popen[bytes], folder: str) -> None:
    wlhn.loops.partner = None
    helper.kill()  # also one that is stopped, which would not hear a request to terminate
    helper.wait()
    shutil.rmtree(folder, ignore_errors=True)
