"""The tables and figures of the paper by name: how each is run, and the report on what came of them.

The report is RESULTS.md, a page with the details of each table beside its results, and all of it as one HTML page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wlhn.errors import InputError
from wlhn.evaluation.progress import PROGRESS
from wlhn.experiments.cells import part_name, run_cells
from wlhn.experiments.check import check_cells, stored_portably
from wlhn.experiments.depths import depth_table, depths_section, reproduce_depths
from wlhn.experiments.epochs import reproduce_times, times_section
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.sections import NOTES, PAGE, table_details, table_section
from wlhn.experiments.table import Table, is_file, item_key, read_table
from wlhn.experiments.trees import figure_section, reproduce_distances, reproduce_hierarchy
from wlhn.files import write_text
from wlhn.options.checks import check_choice
from wlhn.report.html import folded, html_body, html_page
from wlhn.report.live import LivePage, live_page
from wlhn.report.markdown import Block, anchor, markdown
from wlhn.words import listed

PARTS = ("datasets", "models", "grid", "splits", "final_runs", "seed", "workers", "retry_failed")
FLAGS = {"datasets": "--dataset", "models": "--model", "workers": "--jobs or --executor"}
NOT_CHECKED = ("grid", "splits", "final_runs", "seed", "retry_failed")  # a check does what is stored, and keeps no jobs


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper."""

    run: Callable[[str, Request], Iterator[Finished]]
    section: Callable[[str, Path, str], list[Block]]  # (item, folder of results, that folder in links) → its blocks
    takes: tuple[str, ...] = PARTS  # what of a `Request` it knows how to follow
    table: Callable[[str], Table] | None = None  # its cells, where it has some


TABLE = Item(lambda item, request: run_cells(read_table(item), request), table_section, table=read_table)

ITEMS: dict[str, Item] = {
    "table-structural": TABLE,
    "table-nodes": TABLE,
    "table-graphs": TABLE,
    "table-molecules": TABLE,
    "table-time": Item(reproduce_times, times_section, takes=("datasets",)),
    "table-feature-noise": TABLE,
    "table-structure-noise": TABLE,
    "figure-hierarchy": Item(reproduce_hierarchy, figure_section, takes=("seed",)),
    "figure-distances": Item(reproduce_distances, figure_section, takes=("seed",)),
    "figure-oversmoothing": Item(reproduce_depths, depths_section, table=depth_table),
}


def reproduce(item: str, request: Request) -> Iterator[Finished]:
    """Run a table or figure of the paper, or a table of the user's, or the part of it that is asked for.

    Cells that are done are not done again.
    """
    entry = item_named(item)
    plain = Request(request.folder)
    for part in PARTS:
        name = FLAGS.get(part, f"--{part.replace('_', '-')}")
        if part not in entry.takes and getattr(request, part) != getattr(plain, part):
            raise InputError(f"{name} has no effect on {item}; leave it out")
        if part in NOT_CHECKED and request.check and getattr(request, part) != getattr(plain, part):
            raise InputError(f"{name} has no effect with --check, which runs what is stored; leave it out")
    if request.check:
        if entry.table is None:
            raise InputError(f"--check has no effect on {item}, which is a measurement or a drawing; leave it out")
        return check_cells(entry.table(item), request)
    return entry.run(item, request)


def wants_portable(item: str, request: Request) -> bool:
    """Whether a check needs `--portable`, as the results had it that it is about."""
    table = item_named(item).table
    return request.check is not None and table is not None and stored_portably(table(item), request)


def watched(item: str, request: Request) -> AbstractContextManager[LivePage]:
    """The page about a table under way, `results/ITEM/progress.html`; of a part of it, with the part in its name.

    A check writes nothing, and a measurement or a drawing has no jobs: then there is none.
    """
    entry = item_named(item)
    if entry.table is None or request.check:
        return live_page(None, item)
    table, path = entry.table(item), Path(PROGRESS)
    asked = "-".join((path.stem, *map(anchor, (*request.datasets, *request.models))))[:100]
    parts = [part_name(column, row) for column, row in table.cells(request.datasets, request.models)]
    return live_page(request.folder / item_key(item) / f"{asked}{path.suffix}", table.title, parts)


def item_named(item: str) -> Item:
    """A table or figure of the paper by its name, or a table in a JSON file."""
    if is_file(item):
        return TABLE
    check_choice("item", item, *ITEMS)
    return ITEMS[item]


TITLE = "# Results"
PREFACE = (
    "The tables and figures of *Weisfeiler and Leman go Hyperbolic* (AISTATS 2023), as far as they have been run here, "
    "written by `wlhn report` from the result files and from what people noted beside them. A cell has our mean ± "
    "standard deviation over splits, and the paper's mean in brackets. † marks a part of the protocol (fewer splits or "
    "runs than the paper's). Settings are selected on validation items alone, from the grid of candidates `lean` "
    "unless a cell names another (*fair*, *wide*: what each tries stands with the details). If a model was run with "
    "both, the cell shows the named grid even where `lean` did better. Each number links to its details, among them "
    "the other grid's number and variants of the model.",
    "The verdict on WLHN's row compares the two means by the standard error (s.e.) of their difference, from both "
    "spreads. A difference of at most one s.e. is called 'as published'. With fewer than three splits (or, on a single "
    "split, fewer than three runs) there is no verdict. `wlhn reproduce ITEM` makes a table, `wlhn reproduce ITEM "
    "--check 1` tells whether the code at hand still gives it.",
)
MARKS = {
    "‡": "‡ marks numbers from an earlier version of their grid: its command now tries other settings.",
    "§": "§ marks folds that were drawn by seed, because the published ones were not under `WLHN_DATA`.",
}


def write_report(results: Path, out: Path, own_tables: Sequence[str] = (), html: Path | None = None) -> None:
    """RESULTS.md from a folder of results, and a page with the details of each table beside its results.

    Tables of the user's come after the paper's. `html` is the same again, details and notes included, as one page that
    needs nothing else. The same files give the same bytes.
    """
    link = Path(os.path.relpath(results, out.parent)).as_posix()
    items = ITEMS | {name: item_named(name) for name in own_tables}
    if not any((results / item_key(item)).is_dir() for item in items):
        wanted = listed(list(items), "or")
        raise InputError(f"{results}: no folder {wanted} in it; give the folder that `wlhn reproduce` wrote to")
    details = {item: _details(item, entry, results) for item, entry in items.items()}
    for item, blocks in details.items():
        if blocks:
            table = items[item].table
            assert table is not None
            about = [f"# {table(item).title}", table(item).about]
            write_text(results / item_key(item) / PAGE, markdown([*about, *blocks]))
    sections = {item: entry.section(item, results, link) for item, entry in items.items()}
    body = [block for blocks in sections.values() for block in blocks]
    shown = markdown(body)
    head = [TITLE, *PREFACE, *(meaning for mark, meaning in MARKS.items() if mark in shown)]
    write_text(out, markdown([*head, *body]))
    if html is not None:
        write_text(html, _one_page(head, sections, details, results))


def _details(item: str, entry: Item, results: Path) -> list[Block]:
    has_some = entry.table is not None and (results / item_key(item)).is_dir()
    return table_details(item, entry.table(item), results) if entry.table is not None and has_some else []


def _one_page(head: list[str], sections: dict[str, list[Block]], details: dict[str, list[Block]], results: Path) -> str:
    parts = [html_body(head)]
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
