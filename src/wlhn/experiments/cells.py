"""A table, cell by cell: each is an evaluation in a folder of its own, `results/ITEM/COLUMN/ROW`.

Cells are independent of each other. One whose data are not there is skipped, one whose jobs fail has no result; both
are named, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from wlhn.data.dataset import Dataset, TargetLevel
from wlhn.data.load import load
from wlhn.errors import InputError
from wlhn.evaluation.evaluate import Evaluation
from wlhn.evaluation.grids import read_grid
from wlhn.evaluation.outcome import in_words
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.table import Column, Row, Table
from wlhn.training.settings import Settings

CellAction = Callable[[Dataset, Column, Row, Request], str]  # → what came of a cell, in words


def run_cells(table: Table, request: Request) -> Iterator[Finished]:
    """Run the cells that are asked for, one after the other."""
    return each_cell(table.cells(request.datasets, request.models), request, _evaluated)


def each_cell(cells: Sequence[tuple[Column, Row]], request: Request, action: CellAction) -> Iterator[Finished]:
    """Do something with each cell, its data at hand."""
    for column, group in groupby(cells, key=lambda cell: cell[0]):
        try:
            dataset = load(column.data, data_root=request.data_root, seed=request.seed)
        except InputError as error:
            yield Finished.without_result(column.key, error)
            continue
        for _, row in group:
            part = part_name(column, row)
            try:
                yield Finished(part, shown=action(dataset, column, row, request))
            except InputError as error:
                yield Finished.without_result(part, error)


def part_name(column: Column, row: Row) -> str:
    """How a cell is called where progress is told."""
    return f"{column.key}, {row.key}"


def cell_folder(results: Path, column: Column, row: Row) -> Path:
    """Where the evaluation of a cell lies."""
    return results / column.item / column.key / row.key


def candidates(row: Row, grid: str, level: TargetLevel, featureless: bool = False) -> list[Settings]:
    """The settings of a grid with the row's own ones, each once.

    >>> row = Row("deep", "deep GIN", "gin", {"num_layers": 20, "dropout": 0.0})
    >>> [settings.options.num_layers for settings in candidates(row, "lean", "graph")]
    [20]
    """
    every = read_grid(grid, row.model, level, featureless=featureless)
    return list(dict.fromkeys(settings.but(row.settings) for settings in every))


def _evaluated(dataset: Dataset, column: Column, row: Row, request: Request) -> str:
    place, grid = cell_folder(request.folder, column, row), row.grid or request.grid
    outcome = Evaluation(
        dataset,
        candidates(row, grid, dataset.level, featureless=not dataset.inputs),
        place,
        protocol=column.protocol,
        grid=grid,
        seed=request.seed,
        final_runs=request.final_runs or column.final_runs,
        num_splits=request.splits,
        workers=request.workers,
        retry_failed=request.retry_failed,
        on_progress=lambda progress: request.say(part_name(column, row), progress),
    ).run()
    found = in_words(outcome, column.divisor)
    if column.drawn_by_seed(outcome.plan.splits_hash):
        found += ", on folds drawn by seed: the published ones are not under WLHN_DATA"
    return found
