"""What one can ask of an experiment, and a table of it, cell by cell.

A cell is an evaluation in a folder of its own, `results/ITEM/COLUMN/ROW`. Cells are independent of each other. One
whose data are not there is skipped, one whose jobs fail has no result; both are named, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from wlhn.data.dataset import Dataset, TargetLevel
from wlhn.data.load import load
from wlhn.errors import InputError, UnavailableError
from wlhn.evaluation import DEFAULT_GRID
from wlhn.evaluation.evaluate import Evaluation
from wlhn.evaluation.executor import Workers
from wlhn.evaluation.grids import read_grid
from wlhn.evaluation.outcome import in_words
from wlhn.evaluation.progress import Progress
from wlhn.experiments.table import Column, Row, Table
from wlhn.training.settings import Settings

Say = Callable[[str, Progress], None]  # which part, how far it is


def say_nothing(part: str, progress: Progress) -> None:
    """Keep progress to oneself."""


@dataclass(frozen=True)
class Request:
    """A part of an experiment. Where no `datasets`, `models`, `splits` or `final_runs` are given, all there are."""

    folder: Path  # of all results
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    grid: str = DEFAULT_GRID
    splits: int | None = None
    final_runs: int | None = None
    seed: int = 0
    workers: Workers = Workers()  # noqa: RUF009  (frozen)
    retry_failed: bool = False
    check: int | None = None  # so many final runs of each stored result are done again, instead of what is missing
    data_root: str | None = None
    say: Say = say_nothing  # hears of progress


@dataclass(frozen=True)
class Finished:
    """What became of one part: its result in words, or why there is none."""

    part: str
    shown: str = ""
    failed: str = ""
    skipped: str = ""

    @staticmethod
    def without_result(part: str, error: InputError) -> Finished:
        """A part that is skipped because its data are not to be had, or that failed."""
        why = str(error)
        return Finished(part, skipped=why) if isinstance(error, UnavailableError) else Finished(part, failed=why)

    @property
    def verdict(self) -> str:
        """In one line.

        >>> Finished("MUTAG, gin", skipped="no data").verdict
        'skipped: no data'
        """
        return self.shown or f"{self.state}: {self.said}"

    @property
    def state(self) -> str:
        """In a word."""
        return "failed" if self.failed else "skipped" if self.skipped else "done"

    @property
    def said(self) -> str:
        """The result, or the reason that there is none."""
        return self.shown or self.failed or self.skipped


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
    return in_words(outcome, column.divisor)
