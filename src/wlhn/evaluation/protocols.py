"""Protocols of assessment: which splits, and how many final runs on each. Splits depend on data and seed alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wlhn.data.dataset import Dataset
from wlhn.data.splits import Split, check_disjoint_tests, random_splits, stratified_folds
from wlhn.errors import InputError
from wlhn.models.settings import one_of


@dataclass(frozen=True)
class Protocol:
    """A way to assess a model: select on validation items, then run finally and score the test items."""

    about: str
    splits: Callable[[Dataset, int], list[Split]]
    final_runs: int  # on each split, averaged


def ten_fold(dataset: Dataset, seed: int) -> list[Split]:
    """The published ten folds, or stratified ones drawn by seed; each item is tested once.

    >>> from wlhn.data import load
    >>> len(ten_fold(load("MUTAG"), seed=0))
    10
    """
    published = list(dataset.splits)
    if len(published) == 10 and sum(len(split.test) for split in published) == len(dataset):
        check_disjoint_tests(published, dataset.name)
        return published
    folds = stratified_folds(dataset.y, folds=10, holdout=0.1, seed=seed)
    check_disjoint_tests(folds, dataset.name)
    return folds


def fixed(dataset: Dataset, seed: int) -> list[Split]:
    """The splits published with a data set, all of them."""
    if not dataset.splits:
        raise InputError(f"{dataset.name}: no splits came with it, expected some (or another protocol)")
    return list(dataset.splits)


def official(dataset: Dataset, seed: int) -> list[Split]:
    """OGB's one official split."""
    if len(dataset.splits) != 1:
        raise InputError(f"{dataset.name}: {len(dataset.splits)} splits came with it, expected OGB's one")
    return [dataset.splits[0]]


def random_ten(dataset: Dataset, seed: int) -> list[Split]:
    """Ten random 60/20/20 splits."""
    return random_splits(len(dataset), ratios=(0.6, 0.2, 0.2), repeats=10, seed=seed)


PROTOCOLS: dict[str, Protocol] = {
    "ten-fold": Protocol("10 folds, selection on an inner 90/10 holdout (Errica et al. 2020)", ten_fold, final_runs=3),
    "random-splits": Protocol("10 random 60/20/20 splits", random_ten, final_runs=1),
    "fixed-splits": Protocol("the splits published with the data", fixed, final_runs=1),
    "ogb": Protocol("OGB's split, 10 seeds, OGB's own evaluator", official, final_runs=10),
}


def protocol_named(name: str) -> Protocol:
    """The protocol of this name, or an `InputError` that lists the known ones."""
    one_of("protocol", name, *PROTOCOLS)
    return PROTOCOLS[name]


def spread(scores: list[list[float]]) -> tuple[float, float]:
    """Mean and standard deviation: over splits (each the mean of its final runs), or over the runs of a single split.

    >>> spread([[0.5, 0.7], [0.8, 0.8]])
    (0.7, 0.1...)
    """
    values = scores[0] if len(scores) == 1 else [float(np.mean(runs)) for runs in scores]
    return float(np.mean(values)), float(np.std(values))
