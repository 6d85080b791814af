"""A table's part of RESULTS.md: ours beside the paper's in one look, and what WLHN's row says against the paper's.

Every number links to the item's own page (`wlhn.experiments.details`). What was learned is said by people, in
`results/ITEM/NOTES.md`, whose first paragraph is shown here.
"""

from __future__ import annotations

from pathlib import Path

from wlhn.experiments.outcomes import Cell, published_number, read_cells
from wlhn.experiments.table import Column, Row, Table, item_key, read_table
from wlhn.report.markdown import anchor, listed, markdown_table

OURS = "wlhn"  # the row that the paper is about
NOTES = "NOTES.md"
PAGE = "README.md"

Cells = dict[tuple[str, str], Cell]


def table_section(item: str, results: Path, link: str) -> str:
    """The section of a table whose cells are evaluations."""
    table, key = read_table(item), item_key(item)
    own = [column for column in table.columns if column.item == key]  # what another table shows is not shown again
    cells = {place: cell for place, cell in read_cells(table, results).items() if cell.column in own}
    elsewhere = [column.key for column in table.columns if column not in own]
    shown = f" {listed(elsewhere)} are in a table above." if elsewhere else ""
    parts = [f"## {table.title}", f"{table.about}{shown} [Every cell in detail]({link}/{key}/{PAGE})."]
    if not cells:
        return "\n\n".join([*parts, "Not run."])
    parts.append(_overview(table, own, cells, f"{link}/{key}/{PAGE}"))
    return "\n\n".join([*parts, *what_was_learned(results / key)])


def what_was_learned(folder: Path) -> list[str]:
    """The first paragraph of what people wrote about an item, if they did."""
    path = folder / NOTES
    return [path.read_text(encoding="utf-8").strip().split("\n\n")[0]] if path.exists() else []


def _overview(table: Table, columns: list[Column], cells: Cells, page: str) -> str:
    shown = [c for c in columns if any((c.key, row.key) in cells for row in table.rows)]
    # Variants of a model are on the item's own page, but for those that were chosen from another grid.
    models = [row for row in table.rows if row.key == row.model or row.grid]
    rows = [row for row in models if any((c.key, row.key) in cells for c in shown)]
    lines = [
        [_bold(row), *(_both(cells.get((c.key, row.key)), row, c, table.digits, page) for c in shown)] for row in rows
    ]
    ours = [cells.get((c.key, OURS)) for c in shown]
    if any(ours):
        against = ("–" if cell is None else f"{cell.verdict}, {cell.extent}" for cell in ours)
        lines.append(["WLHN against the paper, splits × runs", *against])
    if table.best_published:
        best = (table.best_published.get(c.key) for c in shown)
        lines.append(["best published, same folds", *("–" if b is None else f"{b[0]} ({b[1]})" for b in best)])
    missing = [c.key for c in columns if c not in shown]
    more = f"\n\nNot run: {listed(missing)}." if missing else ""
    return markdown_table(["ours (paper)", *(c.key for c in shown)], lines) + more


def _bold(row: Row) -> str:
    return f"**{row.name}**" if row.key == OURS else row.name


def _both(cell: Cell | None, row: Row, column: Column, digits: int, page: str) -> str:
    number = published_number(row.paper.get(column.key))
    word = row.paper.get(column.key)
    theirs = f" ({number[0]:.{digits}f})" if number else f" ({word})" if word else ""
    if cell is None:
        return f"–{theirs}"
    spread = "" if cell.std is None else f" ± {cell.std:.{digits}f}"
    return f"[{cell.mean:.{digits}f}]({page}#{anchor(column.key)}){spread}{'' if cell.whole else '†'}{theirs}"
