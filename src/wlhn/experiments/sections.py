"""A table's section in RESULTS.md: an overview, where WLHN is worse than published and why, every cell's command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wlhn.errors import InputError
from wlhn.evaluation.grids import grid_document
from wlhn.experiments.again import opening
from wlhn.experiments.outcomes import Cell, against, published_number, read_cells
from wlhn.experiments.table import Column, Row, Table, read_table
from wlhn.report.markdown import duration, listed, markdown_table, plus_minus, signed

OURS = "wlhn"  # the row that the paper is about


def table_section(item: str, results: Path, link: str) -> str:
    """The section of a table whose cells are evaluations."""
    table = read_table(item)
    cells = read_cells(table, results)
    parts = opening(item, table.title, table.about, table.notes)
    if not cells:
        return "\n\n".join([*parts, "Not run."])
    parts += [_overview(table, cells), *_verdict(table, cells)]
    run = [c for c in table.columns if any(column == c.key for column, _ in cells)]
    parts += [_column(table, column, cells) for column in run]
    if len(run) < len(table.columns):
        parts.append(f"Not run at all: {listed([c.key for c in table.columns if c not in run])}.")
    return "\n\n".join(part for part in parts if part)


def _overview(table: Table, cells: dict[tuple[str, str], Cell]) -> str:
    """Ours over the paper's, in one look; only what was run, or what the paper has."""
    columns = [c for c in table.columns if any((c.key, row.key) in cells for row in table.rows)]
    rows = [row for row in table.rows if any((c.key, row.key) in cells for c in columns)]
    lines = [
        [row.name, *(_both(cells.get((c.key, row.key)), row.paper.get(c.key), table.digits) for c in columns)]
        for row in rows
    ]
    legend = "Ours / the paper's; – is not run or not in the paper, † a part of the protocol alone."
    return legend + "\n\n" + markdown_table(["", *(c.key for c in columns)], lines)


def _both(cell: Cell | None, paper: object, digits: int) -> str:
    ours = "–" if cell is None else f"**{cell.mean:.{digits}f}**{'' if cell.whole else '†'}"
    number = published_number(paper)
    theirs = f"{number[0]:.{digits}f}" if number else str(paper or "–")
    return f"{ours} / {theirs}"


def _verdict(table: Table, cells: dict[tuple[str, str], Cell]) -> list[str]:
    """In words: where WLHN is as good as published, and where not."""
    known = _against_paper(cells)
    good = [f"{cell.column.key}{_part(cell)}" for cell, _, behind in known if behind <= 1]
    lines = []
    if good:
        lines.append(f"WLHN is within one standard error of the paper's mean, or better, on {listed(good)}.")
    for cell, paper, behind in known:
        if behind > 1:
            lines.append(
                f"WLHN is worse than published on {cell.column.key}{_part(cell)}: {cell.mean:.{table.digits}f} against "
                f"{paper:.{table.digits}f}, {behind:.1f} standard errors. "
                + table.gaps.get(cell.column.key, "No explanation is recorded yet.")
            )
    return lines


def _against_paper(cells: dict[tuple[str, str], Cell]) -> list[tuple[Cell, float, float]]:
    """(cell, the paper's mean, by how many standard errors we are behind) of WLHN, where the paper has it."""
    return [
        (cell, cell.paper[0], cell.behind)
        for cell in cells.values()
        if cell.row.key == OURS and cell.paper is not None and cell.behind is not None
    ]


def _part(cell: Cell) -> str:
    return "" if cell.whole else " (a part of the protocol)"


def summary(tables: Mapping[str, Table], results: Path) -> str:
    """WLHN against the paper, over these tables, and what the grids in use say of themselves."""
    lines, grids = [], set()
    for item, table in tables.items():
        cells = read_cells(table, results)
        grids |= {cell.outcome.plan.grid for cell in cells.values()}
        for cell, _, behind in _against_paper(cells):
            paper = plus_minus(*cell.paper, table.digits) if cell.paper else ""
            verdict = "as published, or better" if behind <= 1 else f"{behind:.1f} standard errors worse"
            ours = plus_minus(cell.mean, cell.std, table.digits)
            lines.append([item, cell.column.key, ours, paper, verdict + _part(cell)])
    overview = (
        markdown_table(["WLHN", "data", "ours", "paper", ""], lines) if lines else "No cell of WLHN has been run."
    )
    return "\n\n".join([*map(_grid, sorted(grids)), overview])


def _grid(grid: str) -> str:
    try:
        document = grid_document(grid)
    except InputError:  # a file that is gone
        document = {}
    return (
        f"Grid `{grid}`: {document.get('about', 'a file of the user.')} "
        f"It leaves out: {document.get('leaves_out', 'not said.')}"
    )


def _column(table: Table, column: Column, cells: dict[tuple[str, str], Cell]) -> str:
    """All that is known of one column."""
    rows = [row for row in table.rows if row.columns is None or column.key in row.columns]
    present = [(row, cells[column.key, row.key]) for row in rows if (column.key, row.key) in cells]
    missing = [f"`{row.key}`" for row in rows if (column.key, row.key) not in cells]
    header = ["", "ours", "paper", "difference", "splits × runs", "settings", "against WLHN"]
    header += ["time", "version", "again"]
    ours = cells.get((column.key, OURS))
    lines = [_line(column.item, row, cell, table.digits, ours) for row, cell in present]
    parts = [f"**{column.key}**", markdown_table(header, lines)]
    if not all(cell.same_grid for _, cell in present):
        parts.append("\\* the grid of this name has other settings now.")
    if missing:
        parts.append(f"Not run: {listed(missing)}.")
    return "\n\n".join(parts)


def _line(item: str, row: Row, cell: Cell, digits: int, ours: Cell | None) -> list[str]:
    paper = cell.paper
    outcome = cell.outcome
    return [
        row.name,
        plus_minus(cell.mean, cell.std, digits),
        plus_minus(*paper, digits) if paper else str(row.paper.get(cell.column.key, "–")),
        signed(cell.mean - paper[0], digits) if paper else "–",
        cell.extent,
        cell.choice,
        against(cell, ours, digits),
        duration(outcome.work.seconds),
        outcome.work.version,
        cell.command(item),
    ]
