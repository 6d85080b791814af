"""What is written of a table: its part of RESULTS.md, ours beside the paper's in one look, and its own page.

Every number links to that page, `results/ITEM/README.md`, which has every cell with splits, settings, time, version and
command. What was learned is said by people, in `results/ITEM/NOTES.md`, whose first paragraph is shown.
"""

from __future__ import annotations

from pathlib import Path

from wlhn.errors import InputError
from wlhn.evaluation.grids import Grid, grid_document
from wlhn.experiments.outcomes import Cell, against, published_number, read_cells
from wlhn.experiments.table import Column, Row, Table, item_key, read_table
from wlhn.report.markdown import Block, TableBlock, anchor, duration, plus_minus, signed
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
    said = [table.about] + ([f"{listed(elsewhere)} as they are stand in a table above."] if elsewhere else [])
    run = [column for column in own if any(column == cell.column for cell in cells.values())]
    if not run:
        return [f"## {table.title}", " ".join([*said, NOT_RUN])]
    if missing := [column.key for column in own if column not in run]:
        said.append(f"Not run: {listed(missing)}.")
    page = f"{link}/{key}/{PAGE}"
    said.append(f"[Every cell in detail]({page}).")
    # Each kind of split has a table of its own: side by side they would be too wide to read.
    kinds = [[c for c in run if c.protocol == protocol] for protocol in dict.fromkeys(c.protocol for c in run)]
    overviews = [_overview(table, columns, cells, page) for columns in kinds]
    return [f"## {table.title}", " ".join(said), *overviews, *what_was_learned(results, key, link)]


def what_was_learned(results: Path, key: str, link: str) -> list[Block]:
    """The first paragraph of what people wrote about an item, if they did, in one line, and where the rest is."""
    path = results / key / NOTES
    if not path.exists():
        return []
    first, *rest = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [" ".join([*first.split(), *([f"[More]({link}/{key}/{NOTES})."] if rest else [])])]


def _overview(table: Table, shown: list[Column], cells: Cells, page: str) -> TableBlock:
    # Variants of a model are on the item's own page.
    models = [row for row in table.rows if row.key == row.model]
    found = {(c.key, row.key): _of_any_grid(row, c, table, cells) for row in models for c in shown}
    rows = [row for row in models if any(found[c.key, row.key] for c in shown)]
    lines = [[_bold(row), *(_both(found[c.key, row.key], row, c, table.digits, page) for c in shown)] for row in rows]
    closing = []
    if OURS in (row.key for row in rows):
        ours = [found[c.key, OURS] for c in shown]
        if any(cell and cell.paper for cell in ours):
            against = ("–" if cell is None else f"{cell.verdict}, {cell.extent}" for cell in ours)
            closing.append(["WLHN against the paper, splits × runs", *against])
        else:
            closing.append(["WLHN, splits × runs", *("–" if cell is None else cell.extent for cell in ours)])
    if table.best_published:
        drawn = {cell.column for cell in found.values() if cell and cell.drawn_here}
        best = (None if c in drawn else table.best_published.get(c.key) for c in shown)
        closing.append(["best published, same folds", *("–" if b is None else f"{b[0]} ({b[1]})" for b in best)])
    return TableBlock(["ours (paper)", *(c.key for c in shown)], lines, closing)


def _of_any_grid(model: Row, column: Column, table: Table, cells: Cells, preferred: str | None = None) -> Cell | None:
    """The result of a model, whichever grid its settings were chosen from: of those that were run, that of a preferred
    grid, else the one whose row stands last in the table. So it is not chosen by its score."""
    of_other_grids = [
        row for row in table.rows if row.grid and (row.model, row.settings) == (model.key, model.settings)
    ]
    rows = [model, *of_other_grids]
    present = [cells[column.key, row.key] for row in rows if (column.key, row.key) in cells]
    of_preferred = [cell for cell in present if preferred is not None and cell.outcome.plan.grid == preferred]
    return next(reversed(of_preferred or present), None)


def _bold(row: Row) -> str:
    return f"**{row.name}**" if row.key == OURS else row.name


def _both(cell: Cell | None, row: Row, column: Column, digits: int, page: str) -> str:
    number = published_number(row.paper.get(column.key))
    word = row.paper.get(column.key)
    theirs = f" ({number[0]:.{digits}f})" if number else f" ({word})" if word else ""
    if cell is None:
        return f"–{theirs}"
    spread = "" if cell.std is None else f" ± {cell.std:.{digits}f}"
    grid = "" if cell.row.grid is None else f" *{cell.row.grid}*"
    return f"[{cell.mean:.{digits}f}]({page}#{anchor(column.key)}){spread}{cell.marks}{theirs}{grid}"


ABOUT = """Numbers are means ± standard deviations over splits (each the mean of its final runs; over runs where there
is one split; divided by their number, not by one less), in the paper's units. "Against WLHN" is the mean difference
to WLHN from the same grid, where it was run with that, on the same splits, with p of the corrected resampled t-test
(Nadeau and Bengio). Time is the sum of the wall clocks of a cell's jobs, on one thread each, on a machine that may
have been busy. The command at the end of a line makes it again, in a folder `again`; the version is that of the code
that did the work, or versions, where a cell was filled over time. `wlhn reproduce ITEM --check 1` does one run of
each cell again and compares it to the last digit."""


def table_details(item: str, table: Table, results: Path) -> list[Block]:
    """All that is known of a table whose cells are evaluations."""
    key, cells = item_key(item), read_cells(table, results)
    parts: list[Block] = [ABOUT]
    if (results / key / NOTES).exists():
        parts.append(f"What was tried, and what is known: [{NOTES}]({NOTES}).")
    parts += [_grid(grid) for grid in sorted({cell.outcome.plan.grid for cell in cells.values()})]
    run = [c for c in table.columns if c.item == key and any(column == c.key for column, _ in cells)]
    parts += [block for column in run for block in _column(item, table, column, cells)]
    missing = [c.key for c in table.columns if c.item == key and c not in run]
    if missing:
        parts.append(f"Not run at all: {listed(missing)}.")
    return parts


def _grid(grid: str) -> str:
    try:
        document = grid_document(grid)
    except InputError:  # a file that is gone
        document = Grid()
    return f"Grid `{grid}`: {document.about} It leaves out: {document.leaves_out}"


def _column(item: str, table: Table, column: Column, cells: Cells) -> list[Block]:
    """All that is known of one column of a table, which `wlhn reproduce` knows as `item`."""
    rows = [row for row in table.rows if row.columns is None or column.key in row.columns]
    present = [(row, cells[column.key, row.key]) for row in rows if (column.key, row.key) in cells]
    missing = [f"`{row.key}`" for row in rows if (column.key, row.key) not in cells]
    header = ["model", "ours", "paper", "difference", "splits × runs", "settings", "against WLHN"]
    header += ["time", "version", "again"]
    wlhn = next((row for row in table.rows if row.key == OURS), None)
    lines = []
    for row, cell in present:
        ours = None if wlhn is None else _of_any_grid(wlhn, column, table, cells, cell.outcome.plan.grid)
        lines.append(_line(item, row, cell, table.digits, ours))
    parts: list[Block] = [f"## {column.key}", TableBlock(header, lines)]
    if not all(cell.same_grid for _, cell in present):
        parts.append("‡ the grid of this name has other settings now.")
    parts += [*_voices(table, present), _splits_and_seeds(column, present), *_made_with(present)]
    if missing:
        parts.append(f"Not run: {listed(missing)}.")
    return parts


def _voices(table: Table, present: list[tuple[Row, Cell]]) -> list[Block]:
    """What the parts of averaging models score alone, in the same runs."""
    return [
        f"{row.name}: alone, in the same runs, "
        + listed([f"the {name} has {cell.scale * mean:.{table.digits}f}" for name, mean in voices.items()])
        + "."
        for row, cell in present
        if (voices := cell.outcome.voices)
    ]


def _splits_and_seeds(column: Column, present: list[tuple[Row, Cell]]) -> str:
    """What the numbers of a column depend on beside their settings, and where these stand."""
    outcomes = [cell.outcome for _, cell in present]
    hashes = listed(sorted({f"`{outcome.plan.splits_hash}`" for outcome in outcomes}))
    seeds = listed([str(seed) for seed in sorted({s for o in outcomes for split in o.splits for s in split.seeds})])
    return (
        f"Splits {hashes}; seeds of final runs: {seeds}. Settings, seeds and scores of each split: "
        f"`{column.key}/MODEL/evaluation.json`."
    )


def _made_with(present: list[tuple[Row, Cell]]) -> list[Block]:
    """Processors and libraries, with the rows that they made; older outcomes do not say."""
    rows: dict[str, list[str]] = {}
    for row, cell in present:
        words = [f"{name} {value}" for name, value in cell.outcome.work.made_with.items()]
        rows.setdefault(", ".join(words), []).append(row.name)
    rows.pop("", None)
    return [f"Made with: {'; '.join(f'{listed(names)}: {what}' for what, names in rows.items())}."] if rows else []


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
