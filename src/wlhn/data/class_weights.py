"""Classes of unequal size: how much an item counts where it is learned from, by how rare its class is.

With n_c items of class c an item weighs in proportion to 1/n_c ("balanced", so that all classes weigh alike) or 1/√n_c
("root", half-way to that), 1 on average over items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.errors import InputError
from wlhn.options.training import ClassWeights

Array = NDArray[Any]


def weights_of_classes(count: Array, kind: ClassWeights) -> Array:
    """What an item of each class weighs.

    Args:
        count: (classes, …) how many items each class has; one without items weighs 1.
        kind: "none", "root" or "balanced".

    >>> weights_of_classes(np.array([1, 4]), "balanced"), weights_of_classes(np.array([1, 4]), "root").round(3)
    (array([2.5  , 0.625]), array([1.667, 0.833]))
    """
    power = {"none": 0.0, "root": -0.5, "balanced": -1.0}[kind]
    there = count > 0
    weight = np.maximum(count, 1.0) ** power
    mean = (weight * count).sum(axis=0) / np.maximum(count.sum(axis=0), 1)
    return np.where(there, weight / np.where(mean > 0, mean, 1.0), 1.0)


def weights_of_items(y: Array, task: str, kind: ClassWeights) -> Array | None:
    """(items,) what each weighs, from one column of known targets; None where all weigh alike.

    >>> weights_of_items(np.array([7, 3, 3, 3, 3]), "classification", "balanced").tolist()
    [2.5, 0.625, 0.625, 0.625, 0.625]
    """
    check_has_classes(task, kind)
    if kind == "none":
        return None
    _, place, count = np.unique(y, return_inverse=True, return_counts=True)
    return weights_of_classes(count, kind)[place]


def check_has_classes(task: str, kind: ClassWeights) -> None:
    """Only classes and 0/1 targets can be rare."""
    if kind != "none" and task == "regression":
        raise InputError(f"class_weights {kind}: is for classes and 0/1 targets, and these are numbers; leave it out")
