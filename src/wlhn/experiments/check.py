"""Stored results, checked: some of their final runs are done again and compared to the last digit.

Where they differ, it is said how far, and what of the code, the processor and the libraries differs too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.evaluation.evaluate import Evaluation
from wlhn.evaluation.jobs import DIED, Failure, Job, JobResult, try_jobs
from wlhn.evaluation.outcome import OUTCOME, Outcome, Work, read_outcome, read_plan
from wlhn.evaluation.progress import Progress
from wlhn.experiments.cells import cell_folder, each_cell, part_name
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.table import Column, Row, Table
from wlhn.training.provenance import PORTABLE, code_version, made_with
from wlhn.words import counted, listed


def check_cells(table: Table, request: Request) -> Iterator[Finished]:
    """Check the results of a table that are stored; one that comes out differently counts as failed."""
    cells = _stored_cells(table, request)
    if not cells:
        raise InputError(f"{request.folder}: has none of these results, so there is nothing to check")
    by_seed: dict[int, list[tuple[Column, Row]]] = {}  # which generated data are drawn by
    for cell in cells:
        by_seed.setdefault(_seed_of(request, *cell), []).append(cell)
    return chain.from_iterable(
        each_cell(group, replace(request, seed=seed), _checked) for seed, group in by_seed.items()
    )


def _seed_of(request: Request, column: Column, row: Row) -> int:
    try:
        plan = read_plan(cell_folder(request.folder, column, row) / OUTCOME)
    except InputError:  # which is said when the cell is looked at
        plan = None
    return request.seed if plan is None else plan.seed


def stored_portably(table: Table, request: Request) -> bool:
    """Whether `--portable` made all of these results: then they have to be checked with it too."""
    outcomes = [read_outcome(cell_folder(request.folder, *cell)) for cell in _stored_cells(table, request)]
    made = [outcome.work.made_with.get("instructions", "") for outcome in outcomes]
    return bool(made) and all(each.endswith(PORTABLE) for each in made)


def _stored_cells(table: Table, request: Request) -> list[tuple[Column, Row]]:
    return [
        (column, row)
        for column, row in table.cells(request.datasets, request.models)
        if (cell_folder(request.folder, column, row) / OUTCOME).exists()
    ]


def _checked(dataset: Dataset, column: Column, row: Row, request: Request) -> str:
    outcome = read_outcome(cell_folder(request.folder, column, row))
    stored = _final_runs(outcome)[: request.check]
    plan = outcome.plan
    shared = Evaluation(dataset, plan.candidates, request.folder, plan.protocol, seed=plan.seed).shared
    waiting = {job.name: numbers for job, numbers in stored}
    part = part_name(column, row)
    drift: list[Drift] = []
    request.say(part, Progress("repeated runs", len(stored)))
    with request.workers.started(shared) as (executor, handle, parallel_jobs):
        for done, (job, result) in enumerate(try_jobs([job for job, _ in stored], None, executor, handle), 1):
            drift += _drift(job, result, waiting.pop(job.name))
            request.say(part, Progress("repeated runs", len(stored), done, parallel_jobs=parallel_jobs))
    if waiting:
        raise InputError(f"{min(waiting)}: {DIED.reason}")
    if drift:
        raise InputError(_in_words(drift, len(stored), outcome))
    return f"{counted(len(stored), 'run')} again, the same"


KINDS = {"test": "test score", "valid": "validation score", "valid_loss": "validation loss"}
Numbers = dict[str, float | None]  # of each kind what a final run came to; None what older outcomes did not keep


@dataclass(frozen=True)
class Drift:
    """A number that came out differently."""

    run: str
    kind: str
    before: float
    now: float

    @property
    def size(self) -> float:
        return abs(self.now - self.before)


def _drift(job: Job, result: JobResult | Failure, stored: Numbers) -> list[Drift]:
    where = f"split {job.split}, seed {job.seed}"
    if isinstance(result, Failure):
        raise InputError(f"{where}: {result.reason}")
    pairs = ((kind, stored[kind], getattr(result, kind)) for kind in KINDS)
    return [Drift(where, kind, old, new) for kind, old, new in pairs if old is not None and old != new]


def _in_words(drift: list[Drift], runs: int, outcome: Outcome) -> str:
    """How far off, number by number, and what may be the reason."""
    worst = [
        max(found, key=lambda each: each.size) for kind in KINDS if (found := [d for d in drift if d.kind == kind])
    ]
    far = [f"{KINDS[w.kind]} by up to {w.size:.3g} ({w.run}: {w.now}, stored {w.before})" for w in worst]
    many = len({each.run for each in drift})
    return f"{many} of {runs} runs came out differently: {listed(far)}; {reasons(outcome.work)}"


def reasons(then: Work) -> str:
    """Why numbers may differ: what is no longer the same of code, processor and libraries.

    >>> reasons(Work(1, 1.0, code_version(), made_with()))
    'code, processor and libraries are the same'
    >>> reasons(Work(1, 1.0, code_version(), made_with() | {"torch": "0.1"}))
    'torch was 0.1 and is ...'
    """
    now = made_with() | {"wlhn": code_version()}
    known = {"wlhn": then.version, **then.made_with}
    differs = [
        f"{name} was {known[name]} and is {now[name]}" for name in now if known.get(name, now[name]) != now[name]
    ]
    unknown = [name for name in now if name not in known]
    if unknown:
        differs.append(f"not recorded: {listed(unknown)}")
    return ", ".join(differs) or "code, processor and libraries are the same"


def _final_runs(outcome: Outcome) -> list[tuple[Job, Numbers]]:
    """The jobs behind an outcome with their numbers: the first run on every split, then the second, …"""
    runs = []
    for run in range(outcome.plan.final_runs):
        for k, split in enumerate(outcome.splits):
            job = Job.of(
                outcome.plan, split=k, split_hash=split.hash, settings=split.settings, seed=split.seeds[run], test=True
            )
            losses = split.valid_loss or [None] * outcome.plan.final_runs
            runs.append((job, {"test": split.test_scores[run], "valid": split.valid[run], "valid_loss": losses[run]}))
    return runs
