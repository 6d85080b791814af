"""A page as data: blocks that `wlhn.report.markdown` and `wlhn.report.html` write.

A block is Markdown (a heading, a paragraph, a list), a table, or pictures. Cells of tables are Markdown too.
"""

from __future__ import annotations

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
