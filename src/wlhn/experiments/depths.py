"""Accuracy against depth: every point is a cell as those of tables are, with its number of layers fixed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wlhn.experiments.cells import run_cells
from wlhn.experiments.outcomes import Cell, read_cells
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.sections import NOT_RUN, PAGE, what_was_learned
from wlhn.experiments.table import Column, Row, Table, read_paper
from wlhn.report.markdown import Block, Pictures, TableBlock, plus_minus
from wlhn.report.plots import depth_accuracy
from wlhn.report.style import in_both_formats
from wlhn.words import counted


def depth_table(item: str) -> Table:
    """Columns are data sets, rows models at a depth.

    >>> [row.key for row in depth_table("figure-oversmoothing").rows][:2]
    ['wlhn-depth-1', 'wlhn-depth-2']
    """
    paper = read_paper(item)
    rows = [
        Row(
            _key(model, depth),
            f"{name}, {counted(depth, 'layer')}",
            model,
            {"num_layers": depth, "dropout": 0.0},
        )
        for model, name in paper["models"].items()
        for depth in paper["depths"]
    ]
    columns = tuple(Column(name, name, "ten-fold", item, final_runs=1) for name in paper["columns"])
    return Table(paper["title"], paper["about"], columns, tuple(rows), "graph", 1)


def _key(model: str, depth: int) -> str:
    return f"{model}-depth-{depth}"


def reproduce_depths(item: str, request: Request) -> Iterator[Finished]:
    """Run the points that are asked for (a model stands for all its depths), and draw what is there."""
    paper, table = read_paper(item), depth_table(item)
    yield from run_cells(table, request)
    cells = read_cells(table, request.folder)
    for column in table.columns:
        shown = [m for m in paper["models"] if any((column.key, _key(m, d)) in cells for d in paper["depths"])]
        depths = [d for d in paper["depths"] if shown and all((column.key, _key(m, d)) in cells for m in shown)]
        if not depths:
            continue
        found = [cells[column.key, _key(m, d)] for m in shown for d in depths]
        folds = min(len(cell.outcome.splits) for cell in found)  # while more are under way: those that all have
        scores = {paper["models"][m]: [_scores(cells[column.key, _key(m, d)], folds) for d in depths] for m in shown}
        title = f"{column.key}, {counted(folds, 'fold')}"
        for path in in_both_formats(request.folder / item / column.key):
            depth_accuracy(depths, scores, path, metric="test accuracy, percent", title=title)


def _scores(cell: Cell, folds: int) -> list[float]:
    return [100 * sum(split.test_scores) / len(split.test_scores) for split in cell.outcome.splits[:folds]]


def depths_section(item: str, results: Path, link: str) -> list[Block]:
    """Accuracies by depth beside the published curves, whether numbers broke down, and the pictures."""
    paper, table = read_paper(item), depth_table(item)
    cells = read_cells(table, results)
    title = f"## {table.title}"
    if not cells:
        return [title, f"{table.about} {NOT_RUN}"]
    rows = []
    for column in table.columns:
        for model, name in paper["models"].items():
            read_off = paper["published"].get(column.key, {}).get(model, {})
            points = ((cells.get((column.key, _key(model, d))), read_off.get(str(d))) for d in paper["depths"])
            rows.append([f"{column.key}, {name}", *(_shown(cell, published) for cell, published in points)])
    broken = sum(cell.outcome.broken_runs for cell in cells.values())
    runs = sum(cell.outcome.work.jobs for cell in cells.values())
    pictures = [c.key for c in table.columns if (results / item / f"{c.key}.svg").exists()]
    return [
        title,
        f"{table.about} Numbers broke down (NaN or infinity) in {broken} of {runs} runs. "
        f"[Every point in detail]({link}/{item}/{PAGE}).",
        TableBlock(["layers", *map(str, paper["depths"])], rows),
        *what_was_learned(results, item, link),
        Pictures(pictures, results / item, f"{link}/{item}"),
    ]


def _shown(cell: Cell | None, published: float | None) -> str:
    ours = "–" if cell is None else plus_minus(cell.mean, cell.std, 1) + cell.marks
    return ours if published is None else f"{ours} ({published:.1f})"
