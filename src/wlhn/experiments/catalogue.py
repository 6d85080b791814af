"""The tables and figures of the paper by name: how each is run, and what is said of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from wlhn.errors import InputError
from wlhn.evaluation.progress import PROGRESS
from wlhn.experiments.cells import part_name, reproduce_table
from wlhn.experiments.check import check_cells, stored_portably
from wlhn.experiments.depths import depth_table, depths_section, reproduce_depths
from wlhn.experiments.epochs import reproduce_times, times_section
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.sections import table_section
from wlhn.experiments.table import Table, is_file, item_key, read_table
from wlhn.experiments.trees import figure_section, reproduce_distances, reproduce_hierarchy
from wlhn.options.checks import check_choice
from wlhn.report.live import LivePage, live_page
from wlhn.report.markdown import Block, anchor

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


TABLE = Item(reproduce_table, table_section, table=read_table)

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
