"""What figures share: their files (`figure.json` has the numbers behind the pictures) and their section in a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wlhn.experiments.sections import NOT_RUN, what_was_learned
from wlhn.experiments.table import command_for, read_paper
from wlhn.files import read_json
from wlhn.report.markdown import Block, Pictures, TableBlock

NUMBERS = "figure.json"


def in_both_formats(path: Path) -> tuple[Path, Path]:
    """The picture's names as SVG and as PNG.

    >>> [path.name for path in in_both_formats(Path("tree"))]
    ['tree.svg', 'tree.png']
    """
    return path.with_suffix(".svg"), path.with_suffix(".png")


def figure_section(
    item: str,
    results: Path,
    link: str,
    pictures: Sequence[str],
    tables: Callable[[dict[str, Any], dict[str, Any]], list[Block]],
    fields: Sequence[str] = (),
) -> list[Block]:
    """Title, what it is, the numbers as tables, the pictures; `fields` of the numbers that the tables need too."""
    paper, path = read_paper(item), results / item / NUMBERS
    title, about = f"## {paper['title']}", f"{paper['about']} {command_for(item)}."
    if not path.exists():
        return [title, f"{about} {NOT_RUN}"]
    numbers = read_json(path, ("version", "dimension", "tau", "seeds", "correlation", *fields))
    drawn = f"{len(numbers['seeds'])} draws of the weights, version {numbers['version']}"
    made = f"d = {numbers['dimension']}, τ = {numbers['tau']:g}, {drawn}."
    return [
        title,
        f"{about} {made}",
        *tables(numbers, paper),
        *what_was_learned(results / item),
        Pictures(pictures, results / item, f"{link}/{item}"),
    ]


def correlation_table(numbers: dict[str, Any], paper: dict[str, Any]) -> list[Block]:
    """Pearson's correlation with the WL distance: mean, smallest and largest over seeds."""
    published = {name: f"{value:.2f}" for name, value in paper["correlation"].items()}
    rows = [
        [name, f"{np.mean(values):.2f}", f"{min(values):.2f} to {max(values):.2f}", published.get(name, "–")]
        for name, values in numbers["correlation"].items()
    ]
    header = ["correlation with the WL distance", "ours, mean", "over seeds", "paper"]
    return [TableBlock(header, rows)]
