"""An evaluation: select settings on the validation items of each split, then run finally and score the test items.

Selection and assessment are separate jobs: those of selection never look at test items. The outcome is one JSON
document, `evaluation.json`, that says what was done and how it came out; results of a failed job are not averaged
around, they fail the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from wlhn.data.dataset import Dataset
from wlhn.data.splits import splits_hash
from wlhn.errors import InputError
from wlhn.evaluation.executor import Workers
from wlhn.evaluation.job import Job, JobResult
from wlhn.evaluation.job_folder import run_jobs
from wlhn.evaluation.jobs import Shared, Started
from wlhn.evaluation.outcome import (
    OUTCOME,
    VALIDATION,
    Outcome,
    ValidationOutcome,
    read_outcome,
    read_plan,
    write_outcome,
)
from wlhn.evaluation.plan import PLAN, Plan, begin, finish
from wlhn.evaluation.progress import PROGRESS, OnProgress, Progress, ignore_progress
from wlhn.evaluation.protocols import PROTOCOLS, Protocol
from wlhn.evaluation.search import Trial, search_each_split
from wlhn.evaluation.summary import Row, candidate_means, split_outcome, visited, work
from wlhn.files import check_free, only_writer
from wlhn.training.metrics import METRICS
from wlhn.training.problem import depth_of
from wlhn.training.provenance import data_hash
from wlhn.training.settings import Settings

JOBS = "jobs"  # the folder of jobs in that of an evaluation


def evaluate(
    dataset: Dataset,
    candidates: Sequence[Settings],
    folder: Path,
    *,
    protocol: str | Protocol = "ten-fold",
    grid: str = "given in Python",
    seed: int = 0,
    final_runs: int | None = None,
    num_splits: int | None = None,
    search: int | None = None,
    workers: Workers | None = None,
    retry_failed: bool = False,
    on_progress: OnProgress = ignore_progress,
) -> Outcome:
    """Evaluate a model; what is done already in the folder, the whole or some of its jobs, is not done again.

    Args:
        dataset: any data set, also one that exists in memory alone.
        candidates: the settings to choose from, all of one model.
        folder: where jobs and the outcome lie.
        protocol: which splits, and how many final runs on each; by name, or an object.
        grid: how the candidates are called in the outcome.
        seed: draws splits, where they are drawn, and the weights of every run.
        final_runs: on each split, where not as many as the protocol has.
        num_splits: keep to the first splits. Neither this nor `final_runs` goes below what the folder has.
        search: try so many candidates on each split instead of all.
        workers: who does the jobs; this process where None.
        retry_failed: whether jobs that failed before are tried again.
        on_progress: hears of `Progress` as jobs are done.
    """
    given = _Given(dataset, candidates, protocol, grid, seed, final_runs, num_splits, search)
    with _claimed(folder):
        before = read_plan(folder, validation_only=False)
        plan = begin(folder, given.plan, before)
        if before == plan:
            finish(folder)
            return read_outcome(folder)  # its jobs need not be there: a repository keeps outcomes alone
        with (workers or Workers()).started(given.shared) as started:
            running = _Running(given, plan, folder, started, retry_failed, on_progress)
            tried, selection = running.select()
            outcome = running.assess(tried, selection)
        write_outcome(folder, outcome)
        finish(folder)
        return outcome


def compare_candidates(
    dataset: Dataset,
    candidates: Sequence[Settings],
    folder: Path,
    *,
    protocol: str | Protocol = "ten-fold",
    grid: str = "given in Python",
    seed: int = 0,
    num_splits: int | None = None,
    workers: Workers | None = None,
    retry_failed: bool = False,
    on_progress: OnProgress = ignore_progress,
) -> ValidationOutcome:
    """How each candidate does on the validation items: the selection of `evaluate` alone. Test items stay unseen."""
    given = _Given(dataset, candidates, protocol, grid, seed, None, num_splits, None)
    with _claimed(folder):
        before = read_plan(folder, validation_only=True)
        plan = begin(folder, given.plan, before)
        with (workers or Workers()).started(given.shared) as started:
            _, selection = _Running(given, plan, folder, started, retry_failed, on_progress).select(even_one=True)
        done = [result for row in selection for result in row]
        outcome = ValidationOutcome(plan, done[0].metric, candidate_means(plan, selection), work(done))
        write_outcome(folder, outcome)
        finish(folder)
        return outcome


def _claimed(folder: Path) -> AbstractContextManager[None]:
    """The folder of an evaluation as this process's alone."""
    check_free(folder, PLAN, OUTCOME, VALIDATION, JOBS, PROGRESS)
    return only_writer(folder, "evaluation")


class _Given:
    """What an evaluation is about: its plan, and what its jobs share."""

    def __init__(
        self,
        dataset: Dataset,
        candidates: Sequence[Settings],
        protocol: str | Protocol,
        grid: str,
        seed: int,
        final_runs: int | None,
        num_splits: int | None,
        search: int | None,
    ) -> None:
        if not candidates:
            raise InputError("candidates: there are none; give the settings of at least one")
        if len({settings.model for settings in candidates}) > 1:
            raise InputError("candidates: must all be of one model; evaluate one model after the other")
        protocol = PROTOCOLS[protocol] if isinstance(protocol, str) else protocol
        splits = [split.check_fits(len(dataset), dataset.name) for split in protocol.splits(dataset, seed)]
        self.shared = Shared(dataset, data_hash(dataset), tuple(splits), protocol.score)
        self.plan = Plan(
            data=dataset.name,
            data_hash=self.shared.data_hash,
            model=candidates[0].model,
            protocol=protocol.name,
            grid=grid,
            candidates=tuple(candidates),
            seed=seed,
            splits_hash=splits_hash(splits),
            num_splits=num_splits if num_splits is not None and num_splits < len(splits) else None,
            final_runs=final_runs or protocol.final_runs,
            search=search,
        )


@dataclass(frozen=True)
class _Running:
    """An evaluation under way."""

    given: _Given
    plan: Plan
    folder: Path
    workers: Started
    retry_failed: bool
    on_progress: OnProgress

    @property
    def num_splits(self) -> int:
        return self.plan.num_splits or len(self.given.shared.splits)

    def results(self, phase: str, jobs: Sequence[Job], after: int = 0) -> list[JobResult]:
        """The results of jobs, in their order; jobs that see the same of the data are worked on one after the other."""
        executor, shared, at_once = self.workers
        order = sorted(range(len(jobs)), key=lambda k: (depth_of(jobs[k].settings), jobs[k].split, k))

        def on_job(done: int, failed: int) -> None:
            self.on_progress(Progress(phase, len(jobs), done, failed, at_once, after))

        done = run_jobs([jobs[k] for k in order], self.folder / JOBS, executor, shared, self.retry_failed, on_job)
        return [result for _, result in sorted(zip(order, done, strict=True), key=lambda pair: pair[0])]

    def job(self, split: int, settings: Settings, run: int, test: bool, stops: Sequence[tuple[int, float]] = ()) -> Job:
        """Run 0 selects; runs 1, 2, … are final."""
        split_hash = self.given.shared.splits[split].hash
        return Job.of(self.plan, split, split_hash, settings, 1000 * self.plan.seed + run, test, stops)

    def select(self, even_one: bool = False) -> tuple[list[list[int]], list[Row]]:
        """(the candidates that were tried, their results), split by split; a single candidate needs no selection."""
        candidates, splits = self.plan.candidates, range(self.num_splits)

        def trials(phase: str, asked: Sequence[Trial]) -> list[JobResult]:
            jobs = [self.job(k, candidates[c], 0, False, stops) for k, c, stops in asked]
            return self.results(phase, jobs, after=self.plan.final_runs * len(splits))

        width = len(candidates)
        if width == 1 and not even_one:
            return [[0] for _ in splits], [[] for _ in splits]
        if self.plan.search is not None:
            found = search_each_split(candidates, self.plan.search, len(splits), self.plan.seed, trials)
            return [[c for c, _ in row] for row in found], [[result for _, result in row] for row in found]
        flat = trials("selection", [(k, c, ()) for k in splits for c in range(width)])
        return [list(range(width)) for _ in splits], [flat[k * width : (k + 1) * width] for k in splits]

    def assess(self, tried: Sequence[Sequence[int]], selection: Sequence[Row]) -> Outcome:
        """The final runs of what was selected, and what came of it all."""
        plan, splits = self.plan, range(self.num_splits)
        chosen = [
            plan.candidates[which[best_candidate(row)] if row else 0]
            for which, row in zip(tried, selection, strict=True)
        ]
        runs = range(1, plan.final_runs + 1)
        flat = self.results("final runs", [self.job(k, chosen[k], run, test=True) for k in splits for run in runs])
        final = [flat[k * len(runs) : (k + 1) * len(runs)] for k in splits]
        done = [result for row in selection for result in row] + flat
        return Outcome(
            plan=plan,
            metric=flat[0].metric,
            splits=tuple(split_outcome(self.given.shared.splits[k], chosen[k], final[k]) for k in splits),
            visited=visited(plan, selection),
            largest_radius=max(result.numerics.largest_radius or 0.0 for result in flat),
            broken_runs=sum(result.numerics.first_nan is not None for result in done),
            work=work(done),
        )


def best_candidate(results: Row) -> int:
    """The position of the result that is best on the validation items; of equal ones, the smaller loss, then the first.

    A run that was stopped as hopeless is chosen last.
    """
    rank = METRICS[results[0].metric].rank
    return max(
        range(len(results)),
        key=lambda k: (not results[k].stopped, rank(results[k].valid), -results[k].valid_loss, -k),
    )
