"""Stored results, checked: some of their final runs are done again and compared to the last digit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.evaluation.jobs import DIED, Failure, Job, JobResult, Shared, try_jobs
from wlhn.evaluation.outcome import OUTCOME, Outcome, read_outcome
from wlhn.evaluation.progress import Progress
from wlhn.evaluation.protocols import PROTOCOLS
from wlhn.experiments.cells import cell_folder, each_cell, part_name
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.table import Column, Row, Table
from wlhn.training.provenance import code_version, data_hash, made_with


def check_cells(table: Table, request: Request) -> Iterator[Finished]:
    """Check the results of a table that are stored; one that comes out otherwise counts as failed, and by how much."""
    cells = [
        (column, row)
        for column, row in table.cells(request.datasets, request.models)
        if (cell_folder(request.folder, column, row) / OUTCOME).exists()
    ]
    if not cells:
        raise InputError(f"{request.folder}: has none of these results, so there is nothing to check")
    return each_cell(cells, request, _checked)


def _checked(dataset: Dataset, column: Column, row: Row, request: Request) -> str:
    outcome = read_outcome(cell_folder(request.folder, column, row))
    stored = _final_runs(outcome)[: request.check]
    protocol = PROTOCOLS[outcome.plan.protocol]
    splits = tuple(protocol.splits(dataset, outcome.plan.seed))
    shared = Shared(dataset, data_hash(dataset), splits, protocol.score)
    waiting = {job.name: scores for job, scores in stored}
    part = part_name(column, row)
    drift: list[Drift] = []
    request.say(part, Progress("again", len(stored)))
    with request.workers.started(shared) as (executor, handle, at_once):
        for done, (job, result) in enumerate(try_jobs([job for job, _ in stored], None, executor, handle), 1):
            drift += _drift(job, result, waiting.pop(job.name))
            request.say(part, Progress("again", len(stored), done, at_once=at_once))
    if waiting:
        raise InputError(f"{min(waiting)}: {DIED.reason}")
    if drift:
        raise InputError(_in_words(drift, len(stored), outcome))
    return f"{len(stored)} run{'s' * (len(stored) > 1)} again, the same"


Scores = tuple[float, float]  # on validation and on test items


@dataclass(frozen=True)
class Drift:
    """A score that came out otherwise."""

    run: str
    items: str  # validation or test
    before: float
    now: float


def _drift(job: Job, result: JobResult | Failure, stored: Scores) -> list[Drift]:
    where = f"split {job.split}, seed {job.seed}"
    if isinstance(result, Failure):
        raise InputError(f"{where}: {result.reason}")
    each = zip(("validation", "test"), stored, (result.valid, result.test), strict=True)
    return [Drift(where, items, before, now) for items, before, now in each if now is not None and now != before]


def _in_words(drift: list[Drift], runs: int, outcome: Outcome) -> str:
    """How far off, and what may be the reason."""
    worst = max(drift, key=lambda each: abs(each.now - each.before))
    here, there = (code_version(), made_with()), (outcome.work.version, outcome.work.made_with or "not recorded")
    what = f"made with {there[1]} by {there[0]}, now with {here[1]} by {here[0]}"
    return (
        f"{len({each.run for each in drift})} of {runs} runs came out otherwise, by up to "
        f"{abs(worst.now - worst.before):.4g} ({worst.run}, {worst.items} items: {worst.now}, "
        f"but was stored as {worst.before}); {'the same as then: ' + what if here == there else what}"
    )


def _final_runs(outcome: Outcome) -> list[tuple[Job, Scores]]:
    """The jobs behind an outcome with their scores: the first run on every split, then the second, …"""
    return [
        (
            Job.of(outcome.plan, k, split.hash, split.settings, split.seeds[run], test=True),
            (split.valid[run], split.test_scores[run]),
        )
        for run in range(outcome.plan.final_runs)
        for k, split in enumerate(outcome.splits)
    ]
