"""Classes of unequal size: their weights in the loss, and what to say where a score may mislead."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.data.class_weights import check_has_classes, weights_of_classes
from wlhn.data.dataset import Dataset
from wlhn.options.training import ClassWeights

STRONG = 10  # times as many items in the largest class as in the smallest


def loss_weights(task: str, y: NDArray[Any], num_outputs: int, kind: ClassWeights) -> Tensor | None:
    """What terms of the loss weigh: for classes (classes,), for 0/1 targets (2, tasks), those of 0 and of 1; None where
    all weigh alike.

    >>> loss_weights("classification", np.array([0, 0, 0, 1]), 2, "balanced")
    tensor([0.6667, 2.0000])
    """
    check_has_classes(task, kind)
    if kind == "none":
        return None
    if task == "classification":
        count = np.bincount(y, minlength=num_outputs)
    else:
        values = y.reshape(len(y), -1)
        count = np.stack([(values == bit).sum(axis=0) for bit in (0, 1)])
    return torch.tensor(weights_of_classes(count, kind), dtype=torch.float32)


def imbalance(dataset: Dataset, items: NDArray[Any], called: str = "training ") -> str | None:
    """One sentence where these items are all of one class, or of classes of very different size.

    >>> from wlhn.data import load
    >>> imbalance(load("MUTAG"), np.arange(188)) is None
    True
    """
    what = f"{called}{dataset.level}s"
    if dataset.task == "binary":
        values = dataset.y.reshape(len(dataset), -1)[items]
        one_sided = [k for k in range(values.shape[1]) if not ((values[:, k] == 0).any() and (values[:, k] == 1).any())]
        names = dataset.targets or tuple(str(k) for k in range(values.shape[1]))
        if one_sided:
            return f"target {names[one_sided[0]]} has one value among the {what}, so there is nothing to learn from it"
        return None
    if dataset.task != "classification":
        return None
    count = np.bincount(dataset.y[items], minlength=len(dataset.classes))
    there = np.flatnonzero(count)
    if len(there) == 1:
        return f"all {len(items)} {what} have the class {dataset.classes[there[0]]}, so there is nothing to learn"
    least, most = there[count[there].argmin()], count.argmax()
    if count[most] < STRONG * count[least]:
        return None
    return (
        f"{count[least]} {what} have the class {dataset.classes[least]} and {count[most]} the class "
        f"{dataset.classes[most]}, so accuracy says little: look at balanced accuracy, and try "
        "--class-weights balanced"
    )
