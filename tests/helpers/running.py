"""Run the command as a user does, in this process: exit code, standard output, standard error."""

import contextlib
import io
import sys
from typing import NamedTuple
from unittest import mock

from wlhn.cli import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def wlhn(*arguments: object) -> Ran:
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
