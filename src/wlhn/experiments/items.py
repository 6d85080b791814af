"""What can be reproduced, by name: how it is run, and what is said of its results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wlhn.errors import InputError
from wlhn.experiments.cells import reproduce_table
from wlhn.experiments.check import check_cells
from wlhn.experiments.depths import depth_table, depths_section, reproduce_depths
from wlhn.experiments.details import table_details
from wlhn.experiments.epochs import reproduce_times, times_section
from wlhn.experiments.large_tree import distances_section, reproduce_distances
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.sections import PAGE, table_section
from wlhn.experiments.small_tree import hierarchy_section, reproduce_hierarchy
from wlhn.experiments.table import Table, is_file, item_key, read_table
from wlhn.files import replacing
from wlhn.options.checks import check_choice

PARTS = ("datasets", "models", "grid", "splits", "final_runs", "seed", "workers", "retry_failed")
FLAGS = {"datasets": "--dataset", "models": "--model", "workers": "--jobs or --executor"}
NOT_CHECKED = ("grid", "splits", "final_runs", "seed", "retry_failed")  # a check does what is stored, and keeps no jobs


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper."""

    run: Callable[[str, Request], Iterator[Finished]]
    section: Callable[[str, Path, str], str]  # (item, folder of results, that folder in links) → Markdown
    takes: tuple[str, ...] = PARTS  # what of a `Request` it knows how to follow
    table: Callable[[str], Table] | None = None  # its cells, where it has some


TABLE = Item(reproduce_table, table_section, table=read_table)

ITEMS: dict[str, Item] = {
    "table-structural": TABLE,
    "table-nodes": TABLE,
    "table-graphs": TABLE,
    "table-molecules": TABLE,
    "table-time": Item(reproduce_times, times_section, takes=("datasets",)),
    "table-feature-noise": TABLE,
    "table-structure-noise": TABLE,
    "figure-hierarchy": Item(reproduce_hierarchy, hierarchy_section, takes=("seed",)),
    "figure-distances": Item(reproduce_distances, distances_section, takes=("seed",)),
    "figure-oversmoothing": Item(reproduce_depths, depths_section, table=depth_table),
}

PREFACE = """# Results

The tables and figures of *Weisfeiler and Leman go Hyperbolic* (AISTATS 2023), as far as they have been run here. This
page and those it links to are written by `wlhn report` from the result files and from what people noted beside them.
Settings are selected on validation items alone. Cells are our mean ± standard deviation over splits, with the paper's
mean in brackets; † marks a part of the protocol (fewer splits or runs than the paper's). Variants of a model are on the
pages that the numbers link to. The verdict on WLHN's row
compares the two means by the standard error of their difference, from both spreads; below three splits there is none.
`wlhn reproduce ITEM` makes a table, `wlhn reproduce ITEM --check 1` tells whether the code at hand still gives it."""


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


def item_named(item: str) -> Item:
    """A table or figure of the paper by its name, or a table in a JSON file."""
    if is_file(item):
        return TABLE
    check_choice("item", item, *ITEMS)
    return ITEMS[item]


def write_report(results: Path, out: Path, own_tables: Sequence[str] = ()) -> None:
    """RESULTS.md from a folder of results, and a page with the details of each table beside its results.

    Tables of the user's come after the paper's. The same files give the same bytes.
    """
    link = Path(os.path.relpath(results, out.parent)).as_posix()
    items = ITEMS | {name: item_named(name) for name in own_tables}
    for item, entry in items.items():
        folder = results / item_key(item)
        if entry.table is not None and folder.is_dir():
            with replacing(folder / PAGE) as draft:
                draft.write_text(table_details(item, entry.table(item), results), encoding="utf-8")
    sections = [entry.section(item, results, link) for item, entry in items.items()]
    with replacing(out) as draft:
        draft.write_text("\n\n".join([PREFACE, *sections]) + "\n", encoding="utf-8")
