"""What commands share: options, tables, JSON, errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from wlhn.training.scores import Scores

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for scripts instead of text.")]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of all that is random: splits, weights, generated data.")
]
DataRoot = Annotated[
    Path | None,
    typer.Option("--data-root", envvar="WLHN_DATA", help="Folder with data sets; looked at before cache and network."),
]

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
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
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


def write_rows(out: Path, rows: Sequence[dict[str, Any]], as_json: bool) -> bool:
    """Write rows to a file, or for "-" to standard output, which then holds nothing else: whether it was that."""
    from wlhn.runs.tables import write_stream, write_table

    if str(out) == "-":
        write_stream(sys.stdout, [rows], as_json=as_json)
        return True
    write_table(out, [rows])
    note(f"{len(rows)} rows written to {out}.")
    return False


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table: words to the left, as is the first column, and numbers to the right."""
    table, rows = Table(header_style="bold"), list(rows)
    for k, column in enumerate(columns):
        words = k == 0 or any(str(row[k])[:1].isalpha() for row in rows)
        table.add_column(column, justify="left" if words else "right", overflow="fold")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row))
    typer.echo(title)  # not the table's own title, which wraps at the table's width
    Console(width=None if console.is_terminal else WIDE).print(table)


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
    taken = [escape(f"as {each.name}") for each in scores.classes] if few else []
    rows = [
        (escape(each.name), each.items, f"{each.precision:.3f}", f"{each.recall:.3f}", *(row if few else ()))
        for each, row in zip(scores.classes, scores.confusion, strict=True)
    ]
    title = f"{scores.items} {items} by class" + ", and what they were taken for" * few
    print_table(title, ("class", items, "precision", "recall", *taken), rows)
