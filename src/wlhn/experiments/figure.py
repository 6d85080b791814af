"""What figures share: their files (`figure.json` has the numbers behind the pictures) and their section in a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from wlhn.experiments.table import read_paper
from wlhn.files import read_json

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
) -> str:
    """Title, what it is, the numbers as a table, the pictures."""
    paper = read_paper(item)
    parts = [f"## {paper['title']}", f"`wlhn reproduce {item}`. {paper['about']}", *paper["notes"]]
    path = results / item / NUMBERS
    if not path.exists():
        return "\n\n".join([*parts, "Not run."])
    numbers = read_json(path)
    parts += [table(numbers, paper), f"Version {numbers['version']}."]
    parts += [f"![{name}]({link}/{item}/{name}.svg)" for name in pictures]
    return "\n\n".join(parts)
