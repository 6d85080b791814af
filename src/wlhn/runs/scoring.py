"""A trained model's answers against the targets of any labelled data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.runs.trained import Trained
from wlhn.training.scores import Scores, scores_of


def targets_for(trained: Trained, dataset: Dataset) -> NDArray[Any]:
    """The targets of a data set in the model's own terms, or an `InputError` that says why they are not comparable."""
    if dataset.level != trained.level:
        raise InputError(
            f"{dataset.name}: its items are {dataset.level}s, and the model answers for {trained.level}s; "
            "give data like those it was trained on"
        )
    if dataset.task == "none" or not dataset.labelled.any():
        raise InputError(f"{dataset.name}: has no targets to score answers by")
    if dataset.task != trained.task or (not trained.classes and dataset.num_outputs != trained.out_channels):
        found, wanted = f"{dataset.num_outputs} {dataset.task}", f"{trained.out_channels} {trained.task}"
        raise InputError(f"{dataset.name}: its targets are {found}, and the model was trained on {wanted}")
    if dataset.classes == trained.classes:
        return dataset.y
    place = {name: k for k, name in enumerate(trained.classes)}
    codes = [place.get(name, -2) for name in dataset.classes]
    y = np.array([*codes, -1])[dataset.y]  # the last, −1, stays unknown
    if (y == -2).any():
        new = dataset.classes[int(dataset.y[y == -2][0])]
        raise InputError(f"{dataset.name}: the class {new} was not there in training, which had {trained.classes}")
    return y


def score(trained: Trained, dataset: Dataset, outputs: NDArray[Any] | None = None) -> Scores:
    """Every metric of a model's answers for the items of a data set that have a target.

    `outputs` are what `Trained.predict` gives, where they are known already.
    """
    y = targets_for(trained, dataset)
    if outputs is None:
        outputs = np.concatenate([part.outputs for part in trained.predict(dataset.graphs)])
    if trained.task == "classification":  # of which metrics want logits
        outputs = np.log(np.maximum(outputs, np.finfo(outputs.dtype).tiny))
    return scores_of(trained.task, y, outputs, trained.classes)
