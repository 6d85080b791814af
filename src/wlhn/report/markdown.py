"""Pages as data, and as Markdown; numbers as people read them.

A page is blocks, which this file and `wlhn.report.html` write. A block is Markdown (a heading, a paragraph, a list), a
table, or pictures. Cells of tables are Markdown too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TableBlock:
    """A table; where pages can sort, they sort `rows`, and `closing` rows stay below."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    closing: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Pictures:
    """SVG files in a folder, by name, and how the folder is called in links."""

    names: Sequence[str]
    folder: Path
    link: str


Block = str | TableBlock | Pictures


def markdown(blocks: Sequence[Block]) -> str:
    """A page; the first column of a table to the left, the others to the right.

    >>> print(markdown(["## Numbers", TableBlock(["a", "b"], [["x", "1"]])]), end="")
    ## Numbers
    <BLANKLINE>
    | a | b |
    | --- | ---: |
    | x | 1 |
    """
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case TableBlock(header, rows, closing):
            rule = ["---"] + ["---:"] * (len(header) - 1)
            return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows, *closing))
        case Pictures(names, _, link):
            return " ".join(f"[{name}]({link}/{name}.svg)" for name in names)
    return block


def literal(text: object) -> str:
    """Text from elsewhere (a name, an error) in one line that Markdown leaves as it is, in a cell too.

    >>> literal("a|b *c*")
    'a\\\\|b \\\\*c\\\\*'
    """
    return re.sub(r"([\\`*_\[\]<>|&~$#!])", r"\\\1", " ".join(str(text).split()))


def anchor(heading: str) -> str:
    """What links to a heading end in, where Markdown is shown on the web.

    >>> anchor("Cornell+feature-noise-0.1")
    'cornellfeature-noise-01'
    """
    kept = (c for c in heading.lower() if c.isalnum() or c in " -_")
    return "".join(kept).replace(" ", "-")


def plus_minus(mean: float, deviation: float | None, digits: int) -> str:
    """A mean with its standard deviation, where there is one.

    >>> plus_minus(86.04, 7.4, 1), plus_minus(34.59, None, 2)
    ('86.0 ± 7.4', '34.59')
    """
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def signed(value: float, digits: int) -> str:
    """A difference, with its sign; none is +0.

    >>> signed(-1.84, 1), signed(-0.04, 1)
    ('-1.8', '+0.0')
    """
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(42.4), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
