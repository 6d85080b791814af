"""A table's part of RESULTS.md: ours beside the paper's in one look, and what WLHN's row says against the paper's.

Every number links to the item's own page (`wlhn.experiments.details`). What was learned is said by people, in
`results/ITEM/NOTES.md`, whose first paragraph is shown here.
"""

from __future__ import annotations

from pathlib import Path

from wlhn.experiments.outcomes import Cell, published_number, read_cells
from wlhn.experiments.table import Column, Row, Table, item_key, read_table
from wlhn.report.markdown import Block, TableBlock, anchor
from wlhn.words import listed

OURS = "wlhn"  # the row that the paper is about
NOTES = "NOTES.md"
PAGE = "README.md"
NOT_RUN = "Not run."

Cells = dict[tuple[str, str], Cell]


def table_section(item: str, results: Path, link: str) -> list[Block]:
    """The section of a table whose cells are evaluations."""
    table, key = read_table(item), item_key(item)
    own = [column for column in table.columns if column.item == key]  # what another table shows is not shown again
    cells = {place: cell for place, cell in read_cells(table, results).items() if cell.column in own}
    elsewhere = [column.key for column in table.columns if column not in own]
    said = [table.about] + ([f"{listed(elsewhere)} are in a table above."] if elsewhere else [])
    run = [column for column in own if any(column == cell.column for cell in cells.values())]
    if not run:
        return [f"## {table.title}", " ".join([*said, NOT_RUN])]
    if missing := [column.key for column in own if column not in run]:
        said.append(f"Not run: {listed(missing)}.")
    page = f"{link}/{key}/{PAGE}"
    said.append(f"[Every cell in detail]({page}).")
    return [f"## {table.title}", " ".join(said), _overview(table, run, cells, page), *what_was_learned(results / key)]


def what_was_learned(folder: Path) -> list[Block]:
    """The first paragraph of what people wrote about an item, if they did, in one line."""
    path = folder / NOTES
    return [" ".join(path.read_text(encoding="utf-8").strip().split("\n\n")[0].split())] if path.exists() else []


def _overview(table: Table, shown: list[Column], cells: Cells, page: str) -> TableBlock:
    # Variants of a model are on the item's own page, but for those that were chosen from another grid.
    models = [row for row in table.rows if row.key == row.model or row.grid]
    rows = [row for row in models if any((c.key, row.key) in cells for c in shown)]
    lines = [
        [_bold(row), *(_both(cells.get((c.key, row.key)), row, c, table.digits, page) for c in shown)] for row in rows
    ]
    closing = []
    ours = [cells.get((c.key, OURS)) for c in shown]
    if any(ours):
        against = ("–" if cell is None else f"{cell.verdict}, {cell.extent}" for cell in ours)
        closing.append(["WLHN against the paper, splits × runs", *against])
    if table.best_published:
        best = (table.best_published.get(c.key) for c in shown)
        closing.append(["best published, same folds", *("–" if b is None else f"{b[0]} ({b[1]})" for b in best)])
    return TableBlock(["ours (paper)", *(c.key for c in shown)], lines, closing)


def _bold(row: Row) -> str:
    return f"**{row.name}**" if row.key == OURS else row.name


def _both(cell: Cell | None, row: Row, column: Column, digits: int, page: str) -> str:
    number = published_number(row.paper.get(column.key))
    word = row.paper.get(column.key)
    theirs = f" ({number[0]:.{digits}f})" if number else f" ({word})" if word else ""
    if cell is None:
        return f"–{theirs}"
    spread = "" if cell.std is None else f" ± {cell.std:.{digits}f}"
    return f"[{cell.mean:.{digits}f}]({page}#{anchor(column.key)}){spread}{cell.marks}{theirs}"
