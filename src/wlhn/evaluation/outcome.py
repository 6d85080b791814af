"""The outcome of an evaluation, `evaluation.json` (`validation.json` where it ended after selection), and its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wlhn.errors import InputError
from wlhn.evaluation.plan import Plan
from wlhn.evaluation.protocols import spread
from wlhn.files import read_json, write_json
from wlhn.training.metrics import METRICS
from wlhn.training.scores import Scores
from wlhn.training.settings import Settings

OUTCOME, VALIDATION = "evaluation.json", "validation.json"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Work:
    """What an outcome cost, and the code that did it: all versions, where a folder was filled over time."""

    jobs: int
    seconds: float
    version: str
    made_with: Mapping[str, str] = field(default_factory=dict)  # processor and libraries; older outcomes do not say


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
    scores: tuple[Scores, ...] | None = None  # every metric on the test items; outcomes of before have none
    valid_loss: tuple[float, ...] | None = None  # nor these

    def to_json(self) -> dict[str, Any]:
        scores = {} if self.scores is None else {"scores": [each.to_json() for each in self.scores]}
        rest = {name: value for name, value in vars(self).items() if name != "scores" and value is not None}
        return rest | {"settings": self.settings.to_json()} | scores


@dataclass(frozen=True)
class Visited:
    """How much of the grid selection has seen."""

    grid: int
    per_split: int
    in_all: int
    stopped: int


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

    def to_json(self) -> dict[str, Any]:
        plan = self.plan.to_json()
        candidates = plan.pop("candidates")
        return plan | {
            "metric": self.metric,
            "mean": self.mean,
            "std": self.std,
            "splits": [split.to_json() for split in self.splits],
            "candidates": candidates,
            "visited": asdict(self.visited),
            "numerics": {"largest_radius": self.largest_radius, "broken_runs": self.broken_runs},
            **asdict(self.work),
        }

    @staticmethod
    def from_json(document: Mapping[str, Any], where: object) -> Outcome:
        """An outcome from what a file holds, or an `InputError` that names the file and what is wrong in it."""
        plan = Plan.from_json(document, where)
        splits = document.get("splits")
        if not isinstance(splits, list) or not splits:
            raise InputError(f"{where}, splits: must be a list of at least one split")
        try:
            return Outcome(
                plan=plan,
                metric=_known_metric(document["metric"]),
                splits=tuple(_split(split, plan.final_runs) for split in splits),
                visited=Visited(**document["visited"]),
                largest_radius=document["numerics"]["largest_radius"],
                broken_runs=document["numerics"]["broken_runs"],
                work=Work(
                    **{name: document[name] for name in ("jobs", "seconds", "version")},
                    made_with=dict(document.get("made_with", {})),
                ),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{where}: is not the outcome of an evaluation ({_said(error)})") from None


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

    def to_json(self) -> dict[str, Any]:
        candidates = [vars(each) | {"settings": each.settings.to_json()} for each in self.candidates]
        return self.plan.to_json() | {"metric": self.metric, "candidates": candidates, **asdict(self.work)}


def read_outcome(path: Path) -> Outcome:
    """The outcome of an evaluation from its folder or its evaluation.json."""
    file = path / OUTCOME if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"{file}: no such file; give the folder of a finished `wlhn evaluate`")
    return Outcome.from_json(read_json(file), file)


def read_plan(folder: Path, validation_only: bool) -> Plan | None:
    """The plan of the outcome in a folder, if there is one."""
    file = folder / (VALIDATION if validation_only else OUTCOME)
    if not file.exists():
        return None
    document = read_json(file)
    if validation_only:  # its candidates carry their scores
        each = document.get("candidates", ())
        document["candidates"] = [one.get("settings") if isinstance(one, dict) else one for one in each]
    return Plan.from_json(document, file)


def write_outcome(folder: Path, outcome: Outcome | ValidationOutcome) -> None:
    """Write an outcome to its folder."""
    write_json(folder / (OUTCOME if isinstance(outcome, Outcome) else VALIDATION), outcome.to_json())


def in_words(outcome: Outcome, divisor: float = 1.0) -> str:
    """The mean test score with its deviation, which a single run does not have; errors over `divisor`."""
    scores = [outcome.mean, outcome.std] if outcome.num_runs > 1 else [outcome.mean]
    return " ± ".join(METRICS[outcome.metric].shown(score / divisor) for score in scores)


def _split(document: Mapping[str, Any], runs: int) -> SplitOutcome:
    values = {name: document[name] for name in ("hash", "train", "test")}
    values |= {name: tuple(document[name]) for name in ("valid", "test_scores", "seeds")}
    if any(len(values[name]) != runs for name in ("valid", "test_scores", "seeds")):
        raise ValueError(f"each split must have {runs} final runs")
    scores, losses = document.get("scores"), document.get("valid_loss")
    if losses is not None and len(losses) != runs:
        raise ValueError(f"each split must have the losses of {runs} final runs")
    return SplitOutcome(
        **values,
        settings=Settings.from_json(document["settings"]),
        scores=None if scores is None else tuple(Scores.from_json(each) for each in scores),
        valid_loss=None if losses is None else tuple(losses),
    )


def _known_metric(name: str) -> str:
    if name not in METRICS:
        raise ValueError(f"metric {name!r} is not known")
    return name


def _said(error: Exception) -> str:
    return f"no field {error}" if isinstance(error, KeyError) else str(error)
