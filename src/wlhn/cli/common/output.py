"""What commands print: results as tables or JSON on standard output, progress of long work on standard error (a bar in
a terminal, a plain line now and then elsewhere).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wlhn.documents import to_json
from wlhn.evaluation.progress import Pace
from wlhn.words import counted

if TYPE_CHECKING:
    from wlhn.training.scores import Scores

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text, for scripts.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all that is random: splits, weights, generated data.")]
DataRoot = Annotated[
    Path | None,
    typer.Option(envvar="WLHN_DATA", help="Folder with data sets, searched before the cache and the network."),
]

Out = Annotated[
    Path | None,
    typer.Option(
        help="Also write the table: .csv, .jsonl, .parquet; - streams CSV (with --json, JSON lines) and nothing else.",
    ),
]

WIDE = 200  # columns where nobody is looking at a terminal
MANY = 12  # classes; of more, no table says which was taken for which
console = Console(highlight=False, soft_wrap=True)


def note(message: str) -> None:
    """A line about what is going on, on standard error: standard output is for results."""
    typer.echo(message, err=True)


@contextmanager
def working(on: str) -> Iterator[None]:
    """Show what is being worked on: a spinner in a terminal, a line elsewhere."""
    errors = Console(stderr=True)
    if not errors.is_terminal:
        note(on)
        yield
        return
    with errors.status(on):
        yield


def print_json(document: Any) -> None:
    """A document, dataclasses in it as objects and paths as texts."""
    typer.echo(json.dumps(to_json(document), indent=2, allow_nan=False, default=os.fspath))


def write_rows(out: Path, rows: Sequence[dict[str, Any]], as_json: bool) -> bool:
    """Write rows to a file, or for "-" to standard output, which then holds nothing else: whether it was that."""
    from wlhn.runs.tables import write_stream, write_table

    if str(out) == "-":
        write_stream(sys.stdout, [rows], as_json=as_json)
        return True
    write_table(out, [rows])
    note(f"{counted(len(rows), 'row')} written to {out}.")
    return False


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table: words to the left, as is the first column, and numbers to the right."""
    table, rows = Table(header_style="bold"), list(rows)
    for k, column in enumerate(columns):
        words = k == 0 or any(str(row[k])[:1].isalpha() for row in rows)
        table.add_column(escape(column), justify="left" if words else "right", overflow="fold")
    for row in rows:
        table.add_row(*(escape(f"{cell:,}" if isinstance(cell, int) else str(cell)) for cell in row))
    typer.echo(title)  # not the table's own title, which wraps at the table's width
    Console(width=None if console.is_terminal else WIDE).print(table)


def print_records(title: str, records: Sequence[object]) -> None:
    """Dataclasses as a table, a column for each name that they have in JSON, but for those that all leave empty."""
    rows = [to_json(record) for record in records]
    names = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    print_table(
        title, [name.replace("_", " ") for name in names], [[text(row[name]) for name in names] for row in rows]
    )


def print_values(title: str, heading: str, values: Mapping[str, Any]) -> None:
    """Values below each other, with their names; those that are None are left out."""
    rows = [(name.replace("_", " "), text(value)) for name, value in values.items() if value is not None]
    print_table(title, (heading, "value"), rows)


def text(value: Any) -> str:
    """A value for people: numbers with four digits, or with commas between thousands.

    >>> text(1234567), text(0.00012345), text(2320.91), text([0.5, 1]), text(True)
    ('1,234,567', '0.0001234', '2,320.9', '0.5, 1', 'True')
    """
    if isinstance(value, list | tuple):
        return ", ".join(map(text, value))
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if type(value) is int else str(value)


def scores_in_a_line(scores: Scores, without: str = "") -> str:
    """All metrics in a line, but for one that was said already."""
    from wlhn.training.metrics import METRICS

    values = {name: value for name, value in scores.metrics.items() if value is not None and name != without}
    return ", ".join(f"{METRICS[name].name} {METRICS[name].shown(value)}" for name, value in values.items())


def print_classes(scores: Scores, items: str) -> None:
    """Class by class, precision and recall, and what its items were taken for."""
    if not scores.classes:
        return
    few = len(scores.classes) <= MANY
    taken = [f"as {each.name}" for each in scores.classes] if few else []
    rows = [
        (each.name, each.items, f"{each.precision:.3f}", f"{each.recall:.3f}", *(row if few else ()))
        for each, row in zip(scores.classes, scores.confusion, strict=True)
    ]
    title = f"{scores.items} {items} by class" + ", and what they were taken for" * few
    print_table(title, ("class", items, "precision", "recall", *taken), rows)


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
