"""What a fitted model says of items whose targets are known, and how good that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from wlhn.errors import InputError
from wlhn.training.metrics import METRICS
from wlhn.training.numerics import check_finite
from wlhn.training.problem import Problem
from wlhn.training.scores import Scores, scores_of


@dataclass(frozen=True, eq=False)
class Answers:
    """What a fitted model says of some items: predicted once, scored as often as one likes."""

    problem: Problem
    items: NDArray[Any]
    outputs: NDArray[Any]

    def score(self) -> float:
        """By the metric of the problem."""
        return METRICS[self.problem.metric].score(self.problem.dataset.y[self.items], self.outputs)

    def scores(self) -> Scores:
        """By all metrics."""
        dataset = self.problem.dataset
        return scores_of(dataset.task, dataset.y[self.items], self.outputs, dataset.classes)


def answers_on(problem: Problem, model: nn.Module, items: NDArray[Any]) -> Answers | None:
    """What a fitted model says of items, if there are any."""
    if not len(items):
        return None
    order, outputs = problem.outputs(model, items)
    check_finite(outputs, f"{problem.dataset.name}, {problem.dataset.level}", order.tolist())
    return Answers(problem, order, outputs.numpy())


def constant_answer(problem: Problem) -> str:
    """The answer that fits the training items best if it is always the same, in words."""
    dataset, items = problem.dataset, f"the training {problem.dataset.level}s"
    if dataset.task != "classification":
        return f"the mean of {items}"
    return f"{dataset.classes[_commonest(problem)]}, the commonest class of {items},"


def _commonest(problem: Problem) -> int:
    return int(np.bincount(problem.dataset.y[problem.split.train]).argmax())


def constant_answer_score(problem: Problem) -> float | None:
    """What always giving the commonest answer of the training items would score on the test items.

    None where there are no test items, or where the metric compares items with each other.
    """
    y, test, size = problem.dataset.y, problem.split.test, (len(problem.split.test), problem.out_channels)
    if not len(test) or problem.dataset.task == "binary" or problem.metric in ("rocauc", "ap"):
        return None
    answer = np.broadcast_to(problem.shift.numpy(), size)
    if problem.dataset.task == "classification":
        answer = np.broadcast_to(np.eye(size[1])[_commonest(problem)], size)
    try:
        return METRICS[problem.metric].score(y[test], answer)
    except InputError:  # R² of a single item
        return None
