"""What commands share: options, tables, JSON, errors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for scripts instead of text.")]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of all that is random: splits, weights, generated data.")
]
DataRoot = Annotated[
    Path | None,
    typer.Option("--data-root", envvar="WLHN_DATA", help="Folder with data sets; looked at before cache and network."),
]

WIDE = 200  # columns where nobody is looking at a terminal
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


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table: the first column to the left, numbers to the right."""
    table = Table(header_style="bold")
    for k, column in enumerate(columns):
        table.add_column(column, justify="left" if k == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row))
    typer.echo(title)  # not the table's own title, which wraps at the table's width
    Console(width=None if console.is_terminal else WIDE).print(table)
