"""The report: RESULTS.md, a page with the details of each table beside its results, and all of it as one HTML page."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from wlhn.experiments.catalogue import ITEMS, Item, item_named
from wlhn.experiments.sections import NOTES, PAGE, table_details
from wlhn.experiments.table import item_key
from wlhn.files import write_text
from wlhn.report.html import folded, html_body, html_page
from wlhn.report.markdown import Block, markdown

TITLE = "# Results"
PREFACE = (
    "The tables and figures of *Weisfeiler and Leman go Hyperbolic* (AISTATS 2023), as far as they have been run here, "
    "written by `wlhn report` from the result files and from what people noted beside them. Settings are selected on "
    "validation items alone. A cell has our mean ± standard deviation over splits, and the paper's mean in brackets. "
    "† marks a part of the protocol (fewer splits or runs than the paper's), ‡ settings that the grid of that name has "
    "no longer. Each number links to its details, among them the variants of a model.",
    "The verdict on WLHN's row compares the two means by the standard error (s.e.) of their difference, from both "
    "spreads: up to one is called as published; below three splits (or runs, on a single one) there is none. `wlhn "
    "reproduce ITEM` makes a table, `wlhn reproduce ITEM --check 1` tells whether the code at hand still gives it.",
)


def write_report(results: Path, out: Path, own_tables: Sequence[str] = (), html: Path | None = None) -> None:
    """RESULTS.md from a folder of results, and a page with the details of each table beside its results.

    Tables of the user's come after the paper's. `html` is the same again, details and notes included, as one page that
    needs nothing else. The same files give the same bytes.
    """
    link = Path(os.path.relpath(results, out.parent)).as_posix()
    items = ITEMS | {name: item_named(name) for name in own_tables}
    details = {item: _details(item, entry, results) for item, entry in items.items()}
    for item, blocks in details.items():
        if blocks:
            table = items[item].table
            assert table is not None
            about = [f"# {table(item).title}", table(item).about]
            write_text(results / item_key(item) / PAGE, markdown([*about, *blocks]))
    sections = {item: entry.section(item, results, link) for item, entry in items.items()}
    write_text(out, markdown([TITLE, *PREFACE, *(block for blocks in sections.values() for block in blocks)]))
    if html is not None:
        write_text(html, _one_page(sections, details, results))


def _details(item: str, entry: Item, results: Path) -> list[Block]:
    has_some = entry.table is not None and (results / item_key(item)).is_dir()
    return table_details(item, entry.table(item), results) if entry.table is not None and has_some else []


def _one_page(sections: dict[str, list[Block]], details: dict[str, list[Block]], results: Path) -> str:
    parts = [html_body([TITLE, *PREFACE])]
    contents = {}
    for item, blocks in sections.items():
        key = item_key(item)
        contents[key] = str(blocks[0]).removeprefix("## ")
        parts.append(f'<section id="{key}">{html_body(blocks, _on_this_page)}')
        if details[item]:
            inside = html_body(details[item], partial(_within, key), f"{key}-", least_heading=3)
            parts.append(folded(f"{key}-details", "Every cell in detail", inside))
        if (notes := results / key / NOTES).exists():
            text = notes.read_text(encoding="utf-8")
            inside = html_body([text], _on_this_page, f"{key}-notes-", least_heading=3)
            parts.append(folded(f"{key}-notes", "What was tried, and what is known", inside))
        parts.append("</section>")
    return html_page("Results of wlhn", "\n".join(parts), contents)


def _on_this_page(href: str) -> str:
    """Where on the page that is which in a repository is another page: the details or notes of an item.

    >>> _on_this_page("results/table-graphs/README.md#mutag"), _on_this_page("results/table-graphs/NOTES.md")
    ('#table-graphs-mutag', '#table-graphs-notes')
    """
    found = re.fullmatch(rf"(?:.*/)?([^/]+)/({PAGE}|{NOTES})(?:#(.*))?", href)
    if found is None:
        return href
    key, page, place = found.groups()
    return f"#{key}-{place or 'details'}" if page == PAGE else f"#{key}-notes"


def _within(key: str, href: str) -> str:
    """The same for a link from the page of an item."""
    return _on_this_page(f"{key}/{href}") if "/" not in href else _on_this_page(href)
