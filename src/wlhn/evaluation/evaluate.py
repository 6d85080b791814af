"""An evaluation: select settings on the validation items of each split, then run finally and score the test items.

Selection and assessment are separate jobs: those of selection never look at test items. The outcome is one JSON
document, `evaluation.json`, that says what was done and how it came out; results of a failed job are not averaged
around, they fail the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wlhn.data.dataset import Dataset
from wlhn.data.splits import splits_hash
from wlhn.errors import InputError
from wlhn.evaluation import outcome as outcomes
from wlhn.evaluation.executor import Workers
from wlhn.evaluation.job_folder import run_jobs
from wlhn.evaluation.jobs import Job, JobResult, Shared, Started
from wlhn.evaluation.outcome import OUTCOME, VALIDATION, Outcome, SplitOutcome, ValidationOutcome, Visited, Work
from wlhn.evaluation.plan import PLAN, Plan, begin, finish
from wlhn.evaluation.progress import PROGRESS, OnProgress, Progress, ignore_progress
from wlhn.evaluation.protocols import PROTOCOLS, Protocol
from wlhn.evaluation.search import Trial, search_each_split
from wlhn.files import check_free, only_writer, write_json
from wlhn.training.metrics import METRICS
from wlhn.training.problem import depth_of
from wlhn.training.provenance import data_hash
from wlhn.training.settings import Settings

JOBS = "jobs"  # the folder of jobs in that of an evaluation


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An evaluation of one model on one data set, as it is asked for.

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
        workers: who does the jobs; this process by default.
        retry_failed: whether jobs that failed before are tried again.
        on_progress: hears of `Progress` as jobs are done.
    """

    dataset: Dataset
    candidates: Sequence[Settings]
    folder: Path
    protocol: str | Protocol = "ten-fold"
    grid: str = "given in Python"
    seed: int = 0
    final_runs: int | None = None
    num_splits: int | None = None
    search: int | None = None
    workers: Workers = Workers()  # noqa: RUF009  (frozen)
    retry_failed: bool = False
    on_progress: OnProgress = ignore_progress

    def __post_init__(self) -> None:
        if not self.candidates:
            raise InputError("candidates: there are none; give the settings of at least one")
        if len({settings.model for settings in self.candidates}) > 1:
            raise InputError("candidates: must all be of one model; evaluate one model after the other")
        asked = {settings.training.metric for settings in self.candidates} - {"default"}
        if asked and self._protocol.score is not None:
            raise InputError(
                f"metric {min(asked)}: the protocol {self._protocol.name} scores test items its own way; leave it out"
            )

    def run(self) -> Outcome:
        """Select and assess; what is done already in the folder, the whole or some of its jobs, is not done again."""
        with self._claimed():
            before = outcomes.read_plan(self.folder / OUTCOME)
            plan = begin(self.folder, self.plan, before)
            if before == plan:  # its jobs need not be there: a repository keeps outcomes alone
                finish(self.folder)
                return outcomes.read_outcome(self.folder)
            # A larger search may choose others on the same split.
            grows = before is not None and before.search is None and plan.search is None
            with self.workers.started(self.shared) as started:
                running = _Running(self, plan, started, outcomes.read_outcome(self.folder) if grows else None)
                outcome = running.assess(*running.select())
            write_json(self.folder / OUTCOME, outcome.to_json())
            finish(self.folder)
            return outcome

    def compare_candidates(self) -> ValidationOutcome:
        """How each candidate does on the validation items: selection alone. Test items stay unseen."""
        if self.search is not None or self.final_runs is not None:
            raise InputError(
                "search, final_runs: every candidate is tried, and there are no final runs; leave them out"
            )
        with self._claimed():
            plan = begin(self.folder, self.plan, outcomes.read_plan(self.folder / VALIDATION))
            with self.workers.started(self.shared) as started:
                _, selection = _Running(self, plan, started).select(alone=True)
            outcome = ValidationOutcome.of(plan, selection)
            write_json(self.folder / VALIDATION, outcome.to_json())
            finish(self.folder)
            return outcome

    def _claimed(self) -> AbstractContextManager[None]:
        """The folder as this process's alone."""
        check_free(self.folder, PLAN, OUTCOME, VALIDATION, JOBS, PROGRESS)
        return only_writer(self.folder, "evaluation")

    @cached_property
    def _protocol(self) -> Protocol:
        return PROTOCOLS[self.protocol] if isinstance(self.protocol, str) else self.protocol

    @cached_property
    def shared(self) -> Shared:
        """What its jobs share."""
        splits = self._protocol.splits(self.dataset, self.seed)
        fitting = (split.check_fits(len(self.dataset), self.dataset.name) for split in splits)
        return Shared(self.dataset, data_hash(self.dataset), tuple(fitting), self._protocol.score)

    @cached_property
    def plan(self) -> Plan:
        """What it depends on, in the extent that is asked for."""
        splits = self.shared.splits
        return Plan(
            data=self.dataset.name,
            data_hash=self.shared.data_hash,
            model=self.candidates[0].model,
            protocol=self._protocol.name,
            grid=self.grid,
            candidates=tuple(self.candidates),
            seed=self.seed,
            splits_hash=splits_hash(splits),
            num_splits=self.num_splits if self.num_splits is not None and self.num_splits < len(splits) else None,
            final_runs=self.final_runs or self._protocol.final_runs,
            search=self.search,
        )


@dataclass(frozen=True, eq=False)
class _Running:
    """An evaluation under way."""

    asked: Evaluation
    plan: Plan
    workers: Started
    before: Outcome | None = None  # of fewer splits or final runs: what it says is not done again

    @property
    def num_splits(self) -> int:
        return self.plan.num_splits or len(self.asked.shared.splits)

    @property
    def new_splits(self) -> range:
        """Those that no outcome speaks of yet."""
        return range(0 if self.before is None else len(self.before.splits), self.num_splits)

    @property
    def new_final_runs(self) -> list[tuple[int, int]]:
        """(split, run) of those that no outcome speaks of yet."""
        old_runs = 0 if self.before is None else self.before.plan.final_runs
        runs = range(1, self.plan.final_runs + 1)
        return [(k, run) for k in range(self.num_splits) for run in runs if k in self.new_splits or run > old_runs]

    def results(self, phase: str, jobs: Sequence[Job], after: int = 0) -> list[JobResult]:
        """The results of jobs, in their order; jobs that see the same of the data are worked on one after the other."""
        executor, shared, parallel_jobs = self.workers
        folder, retry_failed = self.asked.folder, self.asked.retry_failed
        level = self.asked.dataset.level
        order = sorted(range(len(jobs)), key=lambda k: (depth_of(jobs[k].settings, level), jobs[k].split, k))

        def on_job(done: int, failed: int) -> None:
            self.asked.on_progress(Progress(phase, len(jobs), done, failed, parallel_jobs, after))

        done = run_jobs([jobs[k] for k in order], folder / JOBS, executor, shared, retry_failed, on_job)
        return [result for _, result in sorted(zip(order, done, strict=True), key=lambda pair: pair[0])]

    def job(self, split: int, settings: Settings, run: int, test: bool, stops: Sequence[tuple[int, float]] = ()) -> Job:
        """Run 0 selects; runs 1, 2, … are final."""
        seed, split_hash = 1000 * self.plan.seed + run, self.asked.shared.splits[split].hash
        given = {"settings": settings, "seed": seed, "test": test, "stops": tuple(stops)}
        return Job.of(self.plan, split=split, split_hash=split_hash, **given)

    def select(self, alone: bool = False) -> tuple[list[list[int]], list[list[JobResult]]]:
        """(the candidates that were tried, their results), new split by new split.

        A single candidate needs no selection, unless selection is `alone`, with no final runs after it.
        """
        candidates, splits = self.plan.candidates, self.new_splits
        after = 0 if alone else len(self.new_final_runs)

        def trials(phase: str, asked: Sequence[Trial]) -> list[JobResult]:
            jobs = [self.job(splits[k], candidates[c], 0, False, stops) for k, c, stops in asked]
            return self.results(phase, jobs, after)

        width = len(candidates)
        if not splits or (width == 1 and not alone):
            return [[0] for _ in splits], [[] for _ in splits]
        if self.plan.search is not None:
            found = search_each_split(candidates, self.plan.search, len(splits), self.plan.seed, trials)
            return [[c for c, _ in row] for row in found], [[result for _, result in row] for row in found]
        flat = trials("selection", [(k, c, ()) for k in range(len(splits)) for c in range(width)])
        return [list(range(width)) for _ in splits], [flat[k * width : (k + 1) * width] for k in range(len(splits))]

    def assess(self, tried: Sequence[Sequence[int]], selection: Sequence[Sequence[JobResult]]) -> Outcome:
        """The final runs of what was selected, and what came of it all."""
        plan, before = self.plan, self.before
        old_splits = before.splits if before is not None else ()
        chosen = [split.settings for split in old_splits] + [
            plan.candidates[which[best_candidate(row)] if row else 0]
            for which, row in zip(tried, selection, strict=True)
        ]
        results = self.results("final runs", [self.job(k, chosen[k], run, test=True) for k, run in self.new_final_runs])
        final = [[result for result in results if result.job.split == k] for k in range(self.num_splits)]
        done = [result for row in selection for result in row] + results
        splits = dict(enumerate(old_splits))
        for k, row in enumerate(final):
            if row:
                new = SplitOutcome.of(self.asked.shared.splits[k], chosen[k], row)
                splits[k] = splits[k].and_runs_of(new) if k in splits else new
        outcome = Outcome(
            plan=plan,
            metric=results[0].metric,
            splits=tuple(splits.values()),
            visited=Visited.of(plan, selection) if before is None or selection else before.visited,
            largest_radius=max(result.numerics.largest_radius or 0.0 for result in results),
            broken_runs=sum(result.numerics.first_nan is not None for result in done),
            work=Work.total(done),
        )
        return outcome if before is None else outcome.after(before)


def best_candidate(results: Sequence[JobResult]) -> int:
    """The position of the result that is best on the validation items; of equal ones, the smaller loss, then the first.

    A run that was stopped as hopeless is chosen last.
    """
    rank = METRICS[results[0].metric].rank
    return max(
        range(len(results)),
        key=lambda k: (not results[k].stopped, rank(results[k].valid), -results[k].valid_loss, -k),
    )
