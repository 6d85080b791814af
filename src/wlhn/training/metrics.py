"""How good predictions are, by task: one number, and which way is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.errors import InputError

Array = NDArray[Any]


@dataclass(frozen=True)
class Metric:
    """A score of outputs (n, channels) against targets."""

    score: Callable[[Array, Array], float]
    higher_is_better: bool
    percent: bool = False  # shown in percent

    def rank(self, value: float) -> float:
        """A number that is larger the better the score is."""
        return value if self.higher_is_better else -value

    def better(self, value: float, other: float) -> bool:
        """Whether a score is better than another.

        >>> METRICS["accuracy"].better(0.9, 0.8), METRICS["mse"].better(0.9, 0.8)
        (True, False)
        """
        return self.rank(value) > self.rank(other)


def accuracy(y: Array, outputs: Array) -> float:
    """Share of items whose largest output is their class.

    >>> accuracy(np.array([0, 1]), np.array([[2.0, 1.0], [2.0, 1.0]]))
    0.5
    """
    return float((outputs.argmax(axis=1) == y).mean())


def mean_squared_error(y: Array, outputs: Array) -> float:
    """Over all known targets."""
    error = outputs.astype(np.float64) - y.reshape(outputs.shape)
    return float(np.nanmean(error**2))


def roc_auc(y: Array, outputs: Array) -> float:
    """Area under the ROC curve, the mean over tasks that have both classes (as OGB's evaluator).

    >>> roc_auc(np.array([[0.0], [1.0], [np.nan]]), np.array([[0.1], [0.9], [0.5]]))
    1.0
    """
    from sklearn.metrics import roc_auc_score

    return _mean_over_tasks(roc_auc_score, y, outputs)


def average_precision(y: Array, outputs: Array) -> float:
    """Average precision, the mean over tasks that have both classes (as OGB's evaluator)."""
    from sklearn.metrics import average_precision_score

    return _mean_over_tasks(average_precision_score, y, outputs)


def _mean_over_tasks(score: Callable[..., Any], y: Array, outputs: Array) -> float:
    y = y.reshape(outputs.shape)
    scores = []
    for k in range(outputs.shape[1]):
        known = ~np.isnan(y[:, k])
        if len(np.unique(y[known, k])) == 2:
            scores.append(float(score(y[known, k], outputs[known, k])))
    if not scores:
        raise InputError("no task has both a 0 and a 1 among these items, expected both to score them")
    return float(np.mean(scores))


METRICS: dict[str, Metric] = {
    "accuracy": Metric(accuracy, higher_is_better=True, percent=True),
    "rocauc": Metric(roc_auc, higher_is_better=True, percent=True),
    "ap": Metric(average_precision, higher_is_better=True, percent=True),
    "mse": Metric(mean_squared_error, higher_is_better=False),
}


def metric_of(task: str, num_outputs: int = 1) -> str:
    """The metric of a task: OGB's choice for 0/1 tasks is ROC-AUC for one and average precision for many.

    >>> metric_of("classification"), metric_of("binary", 128)
    ('accuracy', 'ap')
    """
    if task == "binary":
        return "rocauc" if num_outputs == 1 else "ap"
    return {"classification": "accuracy", "regression": "mse"}[task]
