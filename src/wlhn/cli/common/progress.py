"""Progress of long work on standard error: a bar in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from wlhn.evaluation.progress import Pace

SECONDS_BETWEEN_LINES = 10.0

Advance = Callable[[int, int, str], None]


@contextmanager
def progress(what: str, unit: str) -> Iterator[Advance]:
    """A function advance(done, total, note) to call as work comes along; the rate counts from its first call."""
    if sys.stderr.isatty():
        with _bar(what, unit) as advance:
            yield advance
    else:
        yield _lines(what, unit)


@contextmanager
def _bar(what: str, unit: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    pace = Pace(unit)
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as bar:
        task = bar.add_task("", total=None, rate="", note="")
        yield lambda done, total, note: bar.update(task, completed=done, total=total, rate=pace.rate(done), note=note)


def _lines(what: str, unit: str) -> Advance:
    pace, last = Pace(unit), 0.0

    def advance(done: int, total: int, note: str) -> None:
        nonlocal last
        rate, now = pace.rate(done), time.monotonic()
        if not last:
            last = now
        elif now - last >= SECONDS_BETWEEN_LINES:
            last = now
            typer.echo(f"{what}: {done} of {total}, {rate}, {pace.remaining(done, total)} left, {note}", err=True)

    return advance
