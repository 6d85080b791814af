"""Protocols of assessment: which splits, and how many final runs on each. Splits depend on data and seed alone.

Ours are named in `PROTOCOLS`; others come as objects, with `register_protocol`, or by an entry point `wlhn.protocols`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.data.readers.ogb import ogb_score
from wlhn.data.splits import Split, check_disjoint_tests, random_splits, stratified_folds
from wlhn.errors import InputError
from wlhn.plugins import Registry

Score = Callable[[Dataset, NDArray[Any], NDArray[Any]], float]  # of a data set, some of its items and their outputs


@dataclass(frozen=True)
class Protocol:
    """A way to assess a model: select on validation items, then run finally and score the test items.

    Args:
        name: what it is called.
        about: a sentence for people.
        splits: the splits of a data set, from the data and a seed alone.
        final_runs: how many on each split, averaged.
        score: how test items are scored, where not by the metric of the task.
    """

    name: str
    about: str
    splits: Callable[[Dataset, int], list[Split]]
    final_runs: int = 1
    score: Score | None = None


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
    folds = stratified_folds(dataset.y, folds=10, holdout=0.1, seed=seed, among=dataset.labelled)
    check_disjoint_tests(folds, dataset.name)
    return folds


def fixed(dataset: Dataset, seed: int) -> list[Split]:
    """The splits published with a data set, all of them."""
    if not dataset.splits:
        raise InputError(f"{dataset.name}: came without splits; choose another protocol")
    return list(dataset.splits)


def official(dataset: Dataset, seed: int) -> list[Split]:
    """OGB's one official split."""
    if len(dataset.splits) != 1:
        raise InputError(
            f"{dataset.name}: came with {len(dataset.splits)} splits; the protocol ogb is for data with one"
        )
    return [dataset.splits[0]]


def random_ten(dataset: Dataset, seed: int) -> list[Split]:
    """Ten random 60/20/20 splits."""
    return random_splits(len(dataset), ratios=(0.6, 0.2, 0.2), repeats=10, seed=seed, among=dataset.labelled)


def ogb_evaluator(dataset: Dataset, items: NDArray[Any], outputs: NDArray[Any]) -> float:
    """What OGB's own evaluator says."""
    return next(iter(ogb_score(dataset.name, dataset.y[items], outputs).values()))


OURS = (
    Protocol("ten-fold", "10 folds, selection on an inner 90/10 holdout (Errica et al. 2020)", ten_fold, final_runs=3),
    Protocol("random-splits", "10 random 60/20/20 splits", random_ten),
    Protocol("fixed-splits", "the splits published with the data", fixed),
    Protocol("ogb", "OGB's split, 10 seeds, OGB's own evaluator", official, final_runs=10, score=ogb_evaluator),
)
PROTOCOLS: Registry[Protocol] = Registry("protocol", "wlhn.protocols", {each.name: each for each in OURS})


def register_protocol(protocol: Protocol) -> Protocol:
    """Make a protocol known by its name in this process."""
    return PROTOCOLS.register(protocol.name, protocol)


def spread(scores: list[list[float]]) -> tuple[float, float]:
    """Mean and standard deviation: over splits (each the mean of its final runs), or over the runs of a single split.

    >>> spread([[0.5, 0.7], [0.8, 0.8]])
    (0.7, 0.1...)
    """
    values = scores[0] if len(scores) == 1 else [float(np.mean(runs)) for runs in scores]
    return float(np.mean(values)), float(np.std(values))
