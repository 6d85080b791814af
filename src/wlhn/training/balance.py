"""Classes of unequal size: weights that make them count alike, and what to say where a score may mislead."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.data.dataset import Dataset
from wlhn.errors import InputError

STRONG = 10  # times as many items in the largest class as in the smallest


def balanced_weights(task: str, y: NDArray[Any], num_outputs: int) -> Tensor:
    """Weights that give every class the same total, with mean 1 over items: n / (classes · items of the class).

    For classes (classes,), for 0/1 targets (2, tasks), those of 0 and of 1. A class without items weighs 1.

    >>> balanced_weights("classification", np.array([0, 0, 0, 1]), 2)
    tensor([0.6667, 2.0000])
    """
    if task == "classification":
        count = np.bincount(y, minlength=num_outputs)[:, None]
    elif task == "binary":
        values = y.reshape(len(y), -1)
        count = np.stack([(values == bit).sum(axis=0) for bit in (0, 1)])
    else:
        raise InputError("class_weights balanced: is for classes and 0/1 targets, and these are numbers; leave it out")
    there = count > 0
    share = count.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    weights = np.where(there, share / np.maximum(count, 1), 1.0)
    return torch.tensor(weights[:, 0] if task == "classification" else weights, dtype=torch.float32)


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
        f"{dataset.classes[most]}, so accuracy says little: look at balanced accuracy, and "
        "with a network try --class-weights balanced"
    )
