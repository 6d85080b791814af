"""Progress of long work on standard error: a bar in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

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
    pace = _Pace(unit)
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as bar:
        task = bar.add_task("", total=None, rate="", note="")
        yield lambda done, total, note: bar.update(task, completed=done, total=total, rate=pace.rate(done), note=note)


def _lines(what: str, unit: str) -> Advance:
    pace, last = _Pace(unit), 0.0

    def advance(done: int, total: int, note: str) -> None:
        nonlocal last
        rate, now = pace.rate(done), time.monotonic()
        if not last:
            last = now
        elif now - last >= SECONDS_BETWEEN_LINES:
            last = now
            typer.echo(f"{what}: {done} of {total}, {rate}, {pace.remaining(done, total)} left, {note}", err=True)

    return advance


class _Pace:
    """How fast work goes, from the first call on, or from where a count that fell back says that new work began."""

    def __init__(self, unit: str) -> None:
        self.unit, self.start, self.first, self.last = unit, time.monotonic(), 0, -1

    def per_second(self, done: int) -> float:
        if self.last < 0 or done < self.last:
            self.start, self.first = time.monotonic(), done
        self.last = done
        return (done - self.first) / max(time.monotonic() - self.start, 1e-9)

    def rate(self, done: int) -> str:
        speed = self.per_second(done)
        return f"{speed:.1f} {self.unit}/s" if speed >= 1 or not speed else f"{1 / speed:.1f} s/{self.unit}"

    def remaining(self, done: int, total: int) -> str:
        speed = self.per_second(done)
        return f"{(total - done) / speed:.0f} s" if speed else "unknown time"
