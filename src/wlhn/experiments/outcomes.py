"""The cells of a table that have a result, beside what the paper has, and what can be said of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wlhn.data.dataset import TargetLevel
from wlhn.errors import InputError
from wlhn.evaluation import DEFAULT_GRID
from wlhn.evaluation.comparison import corrected_t_p, paired_differences
from wlhn.evaluation.outcome import OUTCOME, Outcome, read_outcome
from wlhn.evaluation.protocols import PROTOCOLS
from wlhn.experiments.cells import candidates, cell_folder
from wlhn.experiments.table import Column, Row, Table, command_for
from wlhn.report.markdown import signed
from wlhn.training.metrics import METRICS

REPEATS = 10  # folds, splits or seeds behind each of the paper's means
LEAST_REPEATS = 3  # of ours, for a verdict


@dataclass(frozen=True)
class Cell:
    """One number of ours and one of the paper's, in the paper's units (percent, or errors as they are)."""

    column: Column
    row: Row
    outcome: Outcome
    level: TargetLevel

    @property
    def scale(self) -> float:
        return 100.0 if METRICS[self.outcome.metric].percent else 1 / self.column.divisor

    @property
    def mean(self) -> float:
        return self.scale * self.outcome.mean

    @property
    def std(self) -> float | None:
        """None for a single run: it has no spread."""
        return self.scale * self.outcome.std if self.outcome.num_runs > 1 else None

    @property
    def paper(self) -> tuple[float, float | None] | None:
        """(mean, standard deviation or None) of the paper, or None where it has no number."""
        return published_number(self.row.paper.get(self.column.key))

    @property
    def whole(self) -> bool:
        """Whether the protocol was run as it is, and not a part of it."""
        return self.outcome.plan.num_splits is None and self.outcome.plan.final_runs >= self.all_runs

    @property
    def all_runs(self) -> int:
        """Final runs on each split, where none are left out."""
        return self.column.final_runs or PROTOCOLS[self.outcome.plan.protocol].final_runs

    @property
    def marks(self) -> str:
        """† where a part of the protocol was run, ‡ where the grid of that name has other settings now, § where the
        splits are not the published ones."""
        return ("" if self.whole else "†") + ("" if self.same_grid else "‡") + ("§" if self.drawn_here else "")

    @property
    def drawn_here(self) -> bool:
        """Whether the splits are not the published ones."""
        return self.column.drawn_by_seed(self.outcome.plan.splits_hash)

    @property
    def extent(self) -> str:
        """How many splits and runs, and whether that is all."""
        splits, runs = len(self.outcome.splits), self.outcome.plan.final_runs
        return f"{splits} × {runs}" + ("" if self.whole else "†")

    @property
    def lead(self) -> float | None:
        """By how many standard errors of the difference we are better than the paper; negative where worse.

        Both spreads count, each over its own number of splits. None where the paper has no spread, or we have fewer
        than three splits (or, on a single split, runs).
        """
        repeats = self.outcome.num_runs if len(self.outcome.splits) == 1 else len(self.outcome.splits)
        if self.paper is None or self.paper[1] is None or self.std is None or repeats < LEAST_REPEATS:
            return None
        rank = METRICS[self.outcome.metric].rank
        error = math.sqrt(self.std**2 / (repeats - 1) + self.paper[1] ** 2 / REPEATS)
        return (rank(self.mean) - rank(self.paper[0])) / error

    @property
    def verdict(self) -> str:
        """Against the paper, in a word or two."""
        if self.paper is None:
            return "not in the paper"
        if self.lead is None:
            return "too few runs to say"
        if abs(self.lead) <= 1:
            return "as published"
        return f"{abs(self.lead):.1f} s.e. {'better' if self.lead > 0 else 'worse'}"

    @cached_property
    def same_grid(self) -> bool:
        """Whether the grid of this name still has the settings that were tried."""
        try:
            now = [candidates(self.row, self.outcome.plan.grid, self.level, each) for each in (False, True)]
        except InputError:  # a file that is gone
            return True
        return list(self.outcome.plan.candidates) in now

    @property
    def choice(self) -> str:
        """From how many settings of which grid; marked where that grid has others now."""
        grid = Path(self.outcome.plan.grid).name + ("" if self.same_grid else "‡")
        return f"{len(self.outcome.plan.candidates)} of {grid}"

    def command(self, item: str) -> str:
        """What makes this cell again."""
        plan = self.outcome.plan
        return command_for(
            item,
            dataset=self.column.key,
            model=self.row.key,
            grid=plan.grid if plan.grid != (self.row.grid or DEFAULT_GRID) else None,
            splits=plan.num_splits,
            final_runs=plan.final_runs if plan.final_runs != self.all_runs else None,
            seed=plan.seed or None,
        )


def published_number(given: Any) -> tuple[float, float | None] | None:
    """What the paper has in a cell: (mean, deviation), (mean, None), or None where it has a word or nothing.

    >>> published_number([86.0, 7.4]), published_number([34.59]), published_number("OOR")
    ((86.0, 7.4), (34.59, None), None)
    """
    if not isinstance(given, list):
        return None
    return given[0], given[1] if len(given) > 1 else None


def read_cells(table: Table, results: Path) -> dict[tuple[str, str], Cell]:
    """The cells of a table that have a result, by column and row."""
    return {
        (column.key, row.key): Cell(column, row, read_outcome(place), table.level)
        for column, row in table.cells()
        if ((place := cell_folder(results, column, row)) / OUTCOME).exists()
    }


def against(cell: Cell, other: Cell | None, digits: int) -> str:
    """The mean difference to another model on the same splits, with p of the corrected resampled t-test."""
    if other is None or cell.row.key == other.row.key:
        return ""
    try:
        gap, test_over_train = paired_differences(cell.outcome, other.outcome)
    except InputError:  # other splits, or another number of them
        return ""
    difference = signed(cell.scale * float(gap.mean()), digits)
    if len(cell.outcome.splits) < 2:  # no spread, no test
        return difference
    p = corrected_t_p(gap, test_over_train)
    return f"{difference} ({f'p = {p:.2f}' if p >= 0.005 else 'p < 0.01'})"
