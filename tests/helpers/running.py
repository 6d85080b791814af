"""Run the command as a user does: in this process, or in one of its own where that is the point."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from wlhn.cli import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def wlhn(*arguments: object) -> Ran:
    """What came of a command, in this process."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["wlhn", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return Ran(code, out.getvalue(), err.getvalue())


HANGS = 1200  # seconds; on a busy machine a process alone takes minutes to start
COMMAND = (sys.executable, "-c", "import sys; from wlhn.cli import main; sys.argv[0] = 'wlhn'; main()")


@contextlib.contextmanager
def start(*arguments: object, cwd: Path | None = None) -> Iterator["subprocess.Popen[str]"]:
    """A command in a process and a session of its own, to be killed or interrupted; it does not outlive the block."""
    # A shell starts what it puts into the background deaf to Ctrl-C, and children inherit that.
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        start_new_session=True,
        preexec_fn=listen,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(holds: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    """Wait for something that a command does; if it ends or hangs instead, the test fails."""
    deadline = time.monotonic() + HANGS
    while not holds():
        if process.poll() is not None:
            raise AssertionError(f"ended with {process.returncode}: {process.communicate()[1]}")
        assert time.monotonic() < deadline
        time.sleep(0.005)
