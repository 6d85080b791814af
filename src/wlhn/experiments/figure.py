"""What figures share: their files (`figure.json` has the numbers behind the pictures) and their section in a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wlhn.experiments.again import again
from wlhn.experiments.sections import what_was_learned
from wlhn.experiments.table import read_paper
from wlhn.files import read_json
from wlhn.report.markdown import markdown_table

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
    table: Callable[[dict[str, Any], dict[str, Any]], str],
    fields: Sequence[str] = (),
) -> str:
    """Title, what it is, the numbers as a table, the pictures; `fields` of the numbers that the table needs too."""
    paper = read_paper(item)
    parts = [f"## {paper['title']}", f"{paper['about']} {again(item)}."]
    path = results / item / NUMBERS
    if not path.exists():
        return "\n\n".join([*parts, "Not run."])
    numbers = read_json(path, ("version", "dimension", "tau", "seeds", "correlation", *fields))
    parts.append(table(numbers, paper))
    parts += what_was_learned(results / item)
    parts.append(" ".join(f"[{name}]({link}/{item}/{name}.svg)" for name in pictures))
    return "\n\n".join(parts)


def correlation_table(numbers: dict[str, Any], paper: dict[str, Any]) -> str:
    """Pearson's correlation with the WL distance: mean, smallest and largest over seeds."""
    published = {name: f"{value:.2f}" for name, value in paper["correlation"].items()}
    rows = [
        [name, f"{np.mean(values):.2f}", f"{min(values):.2f} to {max(values):.2f}", published.get(name, "–")]
        for name, values in numbers["correlation"].items()
    ]
    header = ["correlation with the WL distance", "ours, mean", "over seeds", "paper"]
    drawn = f"{len(numbers['seeds'])} draws of the weights, version {numbers['version']}"
    about = f"d = {numbers['dimension']}, τ = {numbers['tau']:g}, {drawn}."
    return f"{about}\n\n{markdown_table(header, rows)}"
