"""The outcome of an evaluation, `evaluation.json`: reading it, and saying it in words."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from wlhn.errors import InputError
from wlhn.evaluation.plan import Plan
from wlhn.files import read_json
from wlhn.training.metrics import METRICS

OUTCOME = "evaluation.json"
FIELDS = (  # what is read from outcomes
    *(field.name for field in fields(Plan) if field.name != "search"),
    *("metric", "mean", "std", "splits", "numerics", "jobs", "seconds", "version"),
)
OF_SPLIT = ("hash", "train", "test", "settings")
OF_RUNS = ("valid", "test_scores", "seeds")  # of a split, one for each final run


def read_outcome(path: Path) -> dict[str, Any]:
    """The outcome of an evaluation from its folder or its evaluation.json."""
    file = path / OUTCOME if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"{file}: no such file, expected the outcome of `wlhn evaluate`")
    outcome = read_json(file, FIELDS)
    runs = outcome["final_runs"]
    for split in outcome["splits"] or [{}]:
        if any(field not in split for field in OF_SPLIT) or any(len(split.get(key, ())) != runs for key in OF_RUNS):
            raise InputError(
                f"{file}, splits: expected at least one, each with {', '.join(OF_SPLIT)}, and {runs} each of "
                f"{', '.join(OF_RUNS)}"
            )
    return outcome


def shown(value: float, metric: str) -> str:
    """A score as people read it.

    >>> shown(0.8612, "accuracy"), shown(0.00342, "mse")
    ('86.1 %', '0.00342')
    """
    return f"{100 * value:.1f} %" if METRICS[metric].percent else f"{value:.3g}"


def in_words(outcome: dict[str, Any], divisor: float = 1.0) -> str:
    """The mean test score with its deviation, which a single run does not have; errors over `divisor`.

    >>> in_words({"metric": "mse", "mean": 0.5, "std": 0.1, "splits": [{"test_scores": [0.4, 0.6]}]}, divisor=10)
    '0.05 ± 0.01'
    """
    scores = [outcome["mean"], outcome["std"]] if num_runs(outcome) > 1 else [outcome["mean"]]
    return " ± ".join(shown(score / divisor, outcome["metric"]) for score in scores)


def num_runs(outcome: dict[str, Any]) -> int:
    """How many final runs are behind an outcome."""
    return sum(len(split["test_scores"]) for split in outcome["splits"])
