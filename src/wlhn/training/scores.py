"""All that people report of predictions: every metric of a task, and class by class where there are classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.documents import fields_to_json
from wlhn.errors import InputError
from wlhn.training.metrics import METRICS, METRICS_OF


@dataclass(frozen=True)
class ClassScores:
    """How one class fared."""

    name: str
    items: int  # that have it
    precision: float  # share of those said to have it
    recall: float  # share of those that have it


@dataclass(frozen=True)
class Scores:
    """Every metric of a task on some items, by name (`METRICS`); None where the items do not allow it.

    Of classes also each one's precision and recall, and how often class i was taken for class j.
    """

    items: int
    metrics: Mapping[str, float | None]
    classes: tuple[ClassScores, ...] = ()
    confusion: tuple[tuple[int, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return fields_to_json(self)


def scores_of(task: str, y: NDArray[Any], outputs: NDArray[Any], classes: tuple[Any, ...] = ()) -> Scores:
    """Scores of outputs (items, channels) against targets; items without a target are left out.

    >>> scores = scores_of("classification", np.array([0, 0, 1, -1]), np.eye(2)[[0, 1, 1, 0]], ("no", "yes"))
    >>> scores.items, scores.metrics["balanced-accuracy"], scores.confusion
    (3, 0.75, ((1, 1), (0, 1)))
    """
    if task == "classification":
        y, outputs = y[y >= 0], outputs[y >= 0]
    else:
        y = y.reshape(outputs.shape)
        known = ~np.isnan(y).all(axis=1)
        y, outputs = y[known], outputs[known]
    if not len(y):
        raise InputError("none of these items has a target to score the answers by")
    metrics = {name: _score(name, y, outputs) for name in METRICS_OF[task]}
    if task != "classification":
        return Scores(len(y), metrics)
    return Scores(len(y), metrics, *_by_class(y, outputs.argmax(axis=1), classes))


def _score(name: str, y: NDArray[Any], outputs: NDArray[Any]) -> float | None:
    try:
        return METRICS[name].score(y, outputs)
    except InputError:  # as ROC-AUC of items of one class
        return None


def _by_class(
    y: NDArray[Any], said: NDArray[Any], classes: tuple[Any, ...]
) -> tuple[tuple[ClassScores, ...], tuple[tuple[int, ...], ...]]:
    size = len(classes)
    counts = np.bincount(y * size + said, minlength=size**2).reshape(size, size)
    right, items, taken = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
    precision, recall = right / np.maximum(taken, 1), right / np.maximum(items, 1)
    each = tuple(
        ClassScores(str(name), int(n), float(p), float(r))
        for name, n, p, r in zip(classes, items, precision, recall, strict=True)
    )
    return each, tuple(tuple(row) for row in counts.tolist())
