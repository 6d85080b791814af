"""How good predictions are, by task: one number, and which way is better.

Targets are class indices (n,), of outputs (n, classes); 0/1 or numbers with NaN where unknown, (n, tasks) as outputs.
All that a data set's targets can be scored by is in `wlhn.training.scores`. Each is a few lines of NumPy, equal to
scikit-learn's own, whose import would take longer than a short training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.errors import InputError
from wlhn.words import counted

Array = NDArray[Any]


@dataclass(frozen=True)
class Metric:
    """A score of outputs (n, channels) against targets."""

    name: str  # as people write it
    score: Callable[[Array, Array], float]
    higher_is_better: bool
    percent: bool = False  # shown in percent

    def shown(self, value: float) -> str:
        """A score as people read it.

        >>> METRICS["accuracy"].shown(0.8612), METRICS["mse"].shown(0.00342)
        ('86.1 %', '0.00342')
        """
        return f"{100 * value:.1f} %" if self.percent else f"{value:.3g}"

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
    return float((_errors(y, outputs) ** 2).mean())


def balanced_accuracy(y: Array, outputs: Array) -> float:
    """The mean over classes of the share of their items that is right.

    >>> balanced_accuracy(np.array([0, 0, 0, 1]), np.array([[2.0, 1.0]] * 4))
    0.5
    """
    right = outputs.argmax(axis=1) == y
    return float(np.mean([right[y == k].mean() for k in np.unique(y)]))


def macro_f1(y: Array, outputs: Array) -> float:
    """The mean over classes of F1, the harmonic mean of precision and recall; over those that occur or are said.

    >>> macro_f1(np.array([0, 0, 1]), np.array([[2.0, 1.0, 0.0]] * 3))
    0.4
    """
    said = outputs.argmax(axis=1)
    classes = np.union1d(y, said)
    return float(np.mean([2 * ((y == k) & (said == k)).sum() / ((y == k).sum() + (said == k).sum()) for k in classes]))


def mean_absolute_error(y: Array, outputs: Array) -> float:
    """Over all known targets."""
    return float(np.abs(_errors(y, outputs)).mean())


def _errors(y: Array, outputs: Array) -> Array:
    """Errors at known targets; those of answers that are NaN stay NaN, and are not left out."""
    y = y.reshape(outputs.shape)
    return np.asarray((outputs.astype(np.float64) - y)[~np.isnan(y)])


def r_squared(y: Array, outputs: Array) -> float:
    """The share of the variance that is explained, R²: the mean over targets with two known numbers or more.

    >>> r_squared(np.array([[1.0], [3.0], [np.nan]]), np.array([[1.0], [3.0], [9.0]]))
    1.0
    """
    y = y.reshape(outputs.shape)
    known = [~np.isnan(column) for column in y.T]
    scores = [_explained(y[k, c], outputs[k, c]) for c, k in enumerate(known) if k.sum() > 1]
    if not scores:
        raise InputError("no target has two known numbers among these items, which R² needs")
    return float(np.mean(scores))


def _explained(y: Array, outputs: Array) -> float:
    """R² of one target; of targets that are all equal, 1 if they were met and 0 if not."""
    y = y.astype(np.float64)
    missed, spread = ((y - outputs) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    return float(1 - missed / spread) if spread else float(missed == 0)


def roc_auc(y: Array, outputs: Array) -> float:
    """Area under the ROC curve, the mean over tasks that have both a 0 and a 1 (as OGB's evaluator).

    More than two classes are a task each, one against the rest.

    >>> roc_auc(np.array([[0.0], [1.0], [np.nan]]), np.array([[0.1], [0.9], [0.5]]))
    1.0
    """
    return _mean_over_tasks(_area, y, outputs)


def average_precision(y: Array, outputs: Array) -> float:
    """Average precision, the mean over tasks as in `roc_auc`; of two classes, that of the second."""
    return _mean_over_tasks(_precision, y, outputs)


def _area(y: Array, score: Array) -> float:
    """The share of pairs of a 1 and a 0 in which the 1 has the higher score; equal scores count half."""
    ones, both = _from_the_highest(y, score)
    zeros = both - ones
    higher = ones.cumsum() - ones / 2
    return float((zeros * higher).sum() / (ones.sum() * zeros.sum()))


def _precision(y: Array, score: Array) -> float:
    """The mean over the 1s of the share of 1s among items that score as high or higher."""
    ones, both = _from_the_highest(y, score)
    return float((ones * ones.cumsum() / both.cumsum()).sum() / ones.sum())


def _from_the_highest(y: Array, score: Array) -> tuple[Array, Array]:
    """(how many 1s, how many items) have each score, from the highest down."""
    place = np.unique(-score, return_inverse=True)[1]
    return np.bincount(place, weights=y), np.bincount(place)


def _mean_over_tasks(score: Callable[[Array, Array], float], y: Array, outputs: Array) -> float:
    y, outputs = _as_tasks(y, outputs)
    scores = []
    for k in range(outputs.shape[1]):
        known = ~np.isnan(y[:, k])
        if len(np.unique(y[known, k])) == 2:
            scores.append(score(y[known, k], outputs[known, k]))
    if not scores:
        raise InputError(
            f"no column of targets has both a 0 and a 1 among {counted(len(y), 'item')} to score, which ROC-AUC and "
            "average precision need; give more items, or hold out a larger share of them (validation_share, or a split)"
        )
    return float(np.mean(scores))


def _as_tasks(y: Array, outputs: Array) -> tuple[Array, Array]:
    """0/1 tasks as they are; two classes as one task, more as one each, by their probabilities."""
    if not np.issubdtype(y.dtype, np.integer):
        return y.reshape(outputs.shape), outputs
    if outputs.shape[1] == 2:
        return y[:, None].astype(float), outputs[:, 1:] - outputs[:, :1]
    power = np.exp(outputs.astype(np.float64) - outputs.max(axis=1, keepdims=True))
    return (y[:, None] == np.arange(outputs.shape[1])).astype(float), power / power.sum(axis=1, keepdims=True)


METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy", accuracy, higher_is_better=True, percent=True),
    "balanced-accuracy": Metric("balanced accuracy", balanced_accuracy, higher_is_better=True, percent=True),
    "macro-f1": Metric("macro F1", macro_f1, higher_is_better=True, percent=True),
    "rocauc": Metric("ROC-AUC", roc_auc, higher_is_better=True, percent=True),
    "ap": Metric("average precision", average_precision, higher_is_better=True, percent=True),
    "mse": Metric("mean squared error", mean_squared_error, higher_is_better=False),
    "mae": Metric("mean absolute error", mean_absolute_error, higher_is_better=False),
    "r2": Metric("R²", r_squared, higher_is_better=True),
}
METRICS_OF = {
    "classification": ("accuracy", "balanced-accuracy", "macro-f1", "rocauc", "ap"),
    "binary": ("rocauc", "ap"),
    "regression": ("mse", "mae", "r2"),
}


def metric_of(task: str, num_outputs: int = 1, chosen: str = "default") -> str:
    """The metric that was chosen for a task, or its default one.

    OGB's choice for 0/1 tasks is ROC-AUC for one and average precision for many.

    >>> metric_of("classification"), metric_of("binary", 128), metric_of("regression", chosen="mae")
    ('accuracy', 'ap', 'mae')
    >>> metric_of("regression", chosen="macro-f1")
    Traceback (most recent call last):
    wlhn.errors.InputError: metric macro-f1: is not for regression targets, which have mse, mae, r2
    """
    if chosen != "default":
        if chosen not in METRICS_OF[task]:
            kind = "0/1" if task == "binary" else task
            known = ", ".join(METRICS_OF[task])
            raise InputError(f"metric {chosen}: is not for {kind} targets, which have {known}")
        return chosen
    if task == "binary":
        return "rocauc" if num_outputs == 1 else "ap"
    return METRICS_OF[task][0]
