"""The outcome of an evaluation, `evaluation.json` (`validation.json` where it ended after selection): what it says, and
how it is made from the results of jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wlhn.data.splits import Split
from wlhn.documents import fields_to_json, from_json, to_json
from wlhn.errors import InputError
from wlhn.evaluation.jobs import JobResult
from wlhn.evaluation.plan import Plan
from wlhn.evaluation.protocols import spread
from wlhn.files import read_json
from wlhn.options.checks import check_choice
from wlhn.training.metrics import METRICS
from wlhn.training.scores import Scores
from wlhn.training.settings import Settings

OUTCOME, VALIDATION = "evaluation.json", "validation.json"
OF_RUNS = ("valid", "test_scores", "seeds", "valid_loss", "scores", "voices")  # fields with a value for each final run
Row = Sequence[JobResult]  # the results of one split


@dataclass(frozen=True)
class Work:
    """What an outcome cost, and the code that did it: all versions, where a folder was filled over time."""

    jobs: int
    seconds: float
    version: str
    made_with: Mapping[str, str] = field(default_factory=dict)  # processor and libraries; older outcomes do not say

    @staticmethod
    def total(parts: Iterable[Work | JobResult]) -> Work:
        """All that was done: more than one version or machine, where parts come from more than one place."""
        works = [w if isinstance(w, Work) else Work(1, w.seconds, w.version, w.made_with) for w in parts]
        names = dict.fromkeys(name for each in works for name in each.made_with)

        def every(values: Iterable[str], joint: str) -> str:
            return joint.join(sorted({one for value in values for one in value.split(joint)}))

        return Work(
            jobs=sum(each.jobs for each in works),
            seconds=round(sum(each.seconds for each in works), 1),
            version=every((each.version for each in works), ", "),
            made_with={k: every((each.made_with.get(k, "unknown") for each in works), " or ") for k in names},
        )


@dataclass(frozen=True)
class SplitOutcome:
    """What was chosen on one split, and how its final runs scored."""

    hash: str
    train: int  # items
    test: int
    settings: Settings
    valid: tuple[float, ...]  # one for each final run, as below
    test_scores: tuple[float, ...]
    seeds: tuple[int, ...]
    valid_loss: tuple[float, ...] | None = None  # older outcomes have none
    scores: tuple[Scores, ...] | None = None  # every metric on the test items; older outcomes have none
    voices: tuple[Mapping[str, float], ...] | None = None  # test scores of the parts of an averaging model

    @staticmethod
    def of(split: Split, settings: Settings, final: Row) -> SplitOutcome:
        """The settings that were chosen on a split, and the final runs with them."""
        scores = tuple(result.scores for result in final if result.scores is not None)
        return SplitOutcome(
            hash=split.hash,
            train=len(split.train),
            test=len(split.test),
            settings=settings,
            valid=tuple(result.valid for result in final),
            test_scores=tuple(result.test for result in final if result.test is not None),
            seeds=tuple(result.job.seed for result in final),
            scores=scores if len(scores) == len(final) else None,  # results of before had none
            valid_loss=tuple(result.valid_loss for result in final),
            voices=tuple(result.voices for result in final) if all(result.voices for result in final) else None,
        )

    def and_runs_of(self, other: SplitOutcome) -> SplitOutcome:
        """With further final runs of the same settings; what one of both does not say of its runs is left out."""
        of_runs: dict[str, Any] = {name: (getattr(self, name), getattr(other, name)) for name in OF_RUNS}
        together: dict[str, Any] = {name: one + two if one and two else None for name, (one, two) in of_runs.items()}
        return replace(self, **together)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in fields_to_json(self).items() if value is not None}


@dataclass(frozen=True)
class Visited:
    """How much of the grid selection has seen."""

    grid: int
    per_split: int
    in_all: int
    stopped: int

    @staticmethod
    def of(plan: Plan, selection: Sequence[Row]) -> Visited:
        done = [result for row in selection for result in row]
        return Visited(
            grid=len(plan.candidates),
            per_split=max(map(len, selection)),
            in_all=len({result.job.settings for result in done}),
            stopped=sum(result.stopped for result in done),
        )


@dataclass(frozen=True)
class Outcome:
    """An evaluation that is done."""

    plan: Plan
    metric: str
    splits: tuple[SplitOutcome, ...]
    visited: Visited
    largest_radius: float  # of points; 0 for models without
    broken_runs: int  # in which numbers broke down
    work: Work

    @property
    def mean(self) -> float:
        """The mean test score over splits."""
        return spread([list(split.test_scores) for split in self.splits])[0]

    @property
    def std(self) -> float:
        """The standard deviation over splits; over the runs where there is one split."""
        return spread([list(split.test_scores) for split in self.splits])[1]

    @property
    def num_runs(self) -> int:
        """How many final runs are behind it."""
        return sum(len(split.test_scores) for split in self.splits)

    def spread_of(self, metric: str) -> tuple[float, float] | None:
        """Mean and deviation of any metric on the test items, as `mean` and `std`; None where some run has none."""
        runs = [[each.metrics.get(metric) for each in split.scores or ()] for split in self.splits]
        known = [[value for value in row if value is not None] for row in runs]
        return spread(known) if known == runs and all(known) else None

    @property
    def voices(self) -> dict[str, float]:
        """Mean test scores of the parts of an averaging model, each alone; none where some run does not say."""
        if not all(split.voices for split in self.splits):
            return {}
        runs = [split.voices or () for split in self.splits]
        return {name: spread([[run[name] for run in each] for each in runs])[0] for name in runs[0][0]}

    def after(self, before: Outcome) -> Outcome:
        """This outcome as one that stands on one of before: what both took, and what went wrong in either."""
        return replace(
            self,
            largest_radius=max(before.largest_radius, self.largest_radius),
            broken_runs=before.broken_runs + self.broken_runs,
            work=Work.total([before.work, self.work]),
        )

    def to_json(self) -> dict[str, Any]:
        plan = to_json(self.plan)
        candidates = plan.pop("candidates")
        return plan | {
            "metric": self.metric,
            "mean": self.mean,
            "std": self.std,
            "splits": to_json(self.splits),
            "candidates": candidates,
            "visited": to_json(self.visited),
            "numerics": {"largest_radius": self.largest_radius, "broken_runs": self.broken_runs},
            **to_json(self.work),
        }

    @staticmethod
    def from_json(document: Mapping[str, Any], where: object) -> Outcome:
        """An outcome from what a file holds, or an `InputError` that names the file and what is wrong in it."""
        plan, work = from_json(Plan, document, where), from_json(Work, document, where)
        if not isinstance(numerics := document.get("numerics"), dict):
            raise InputError(f"{where}, numerics: must be an object")
        outcome = from_json(Outcome, {**document, **numerics}, where, plan=plan, work=work)
        check_choice(f"{where}, metric", outcome.metric, *METRICS)
        if not outcome.splits:
            raise InputError(f"{where}, splits: must be a list of at least one split")
        for k, split in enumerate(outcome.splits):
            of_runs = (split.valid, split.test_scores, split.seeds, split.valid_loss, split.voices)
            if any(each is not None and len(each) != plan.final_runs for each in of_runs):
                raise InputError(f"{where}, splits {k}: must have the numbers of {plan.final_runs} final runs")
        if len({frozenset(run) for split in outcome.splits for run in split.voices or ()}) > 1:
            raise InputError(f"{where}, splits: voices must have the same names in every run")
        return outcome


@dataclass(frozen=True)
class Candidate:
    """How one candidate did on validation items, the mean over splits."""

    settings: Settings
    valid: float
    valid_loss: float


@dataclass(frozen=True)
class ValidationOutcome:
    """A comparison of candidates on validation items; test items stay unseen."""

    plan: Plan
    metric: str
    candidates: tuple[Candidate, ...]
    work: Work

    @staticmethod
    def of(plan: Plan, selection: Sequence[Row]) -> ValidationOutcome:
        """From the results of all candidates, split by split."""
        done, splits = [result for row in selection for result in row], len(selection)
        candidates = []
        for settings, results in zip(plan.candidates, zip(*selection, strict=True), strict=True):
            valid, loss = sum(each.valid for each in results), sum(each.valid_loss for each in results)
            candidates.append(Candidate(settings, valid / splits, loss / splits))
        return ValidationOutcome(plan, done[0].metric, tuple(candidates), Work.total(done))

    def to_json(self) -> dict[str, Any]:
        own = {"metric": self.metric, "candidates": to_json(self.candidates)}
        return to_json(self.plan) | own | to_json(self.work)


def read_outcome(path: Path) -> Outcome:
    """The outcome of an evaluation from its folder or its evaluation.json."""
    file = path / OUTCOME if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"{file}: no such file; give the folder of a finished `wlhn evaluate`")
    return Outcome.from_json(read_json(file), file)


def read_plan(file: Path) -> Plan | None:
    """The plan of an outcome, if there is one."""
    if not file.exists():
        return None
    document = read_json(file)
    if file.name == VALIDATION:  # its candidates carry their scores
        each = document.get("candidates", ())
        document["candidates"] = [one.get("settings") if isinstance(one, dict) else one for one in each]
    return from_json(Plan, document, file)


def in_words(outcome: Outcome, divisor: float = 1.0) -> str:
    """The mean test score with its deviation, which a single run does not have; errors over `divisor`."""
    scores = [outcome.mean, outcome.std] if outcome.num_runs > 1 else [outcome.mean]
    return " ± ".join(METRICS[outcome.metric].shown(score / divisor) for score in scores)
