"""What structure can and cannot decide, before anything is trained.

Items (graphs or nodes) that WL cannot tell apart look the same to any message passing network of that depth, so that
it must answer the same for all of them. The best it can do is to give each such class the most frequent target: that
is the accuracy ceiling (for regression, the mean: the floor of the squared error). It is a bound on these data, not a
promise: a network may do worse, and on new items one cannot know.

WL-equal items in training and test set are counted for every fold: with equal targets they make a test easier than it
looks, with different targets they cost errors that no network of this kind can avoid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset, Task
from wlhn.data.features import features
from wlhn.data.splits import Split, random_splits, splits_hash, stratified_folds
from wlhn.hierarchy import Hierarchy, refine

_START = {(): "uniform", ("label",): "label", ("x",): "features", ("label", "x"): "label and features"}


@dataclass(frozen=True)
class Depth:
    """What can be told apart after so many rounds."""

    depth: int
    classes: int  # of WL-equal items
    alike: float  # share of items that are WL-equal to another one
    conflicting: float  # share of items that are WL-equal to one with another target
    ceiling: float | None  # best accuracy (mean over tasks); None for regression and without targets
    floor: float | None  # least mean squared error; None for classes


@dataclass(frozen=True)
class Twins:
    """Classes of at least two WL-equal items at the last depth."""

    groups: int
    items: int
    groups_agreeing: int  # all targets equal
    groups_conflicting: int
    pairs_equal: int  # pairs of WL-equal items with equal targets
    pairs_conflicting: int


@dataclass(frozen=True)
class Leak:
    """Test items of one fold with a WL-equal item among those it is trained on."""

    fold: int
    test: int
    with_twin: int
    with_equal_twin: int  # at least one twin has the same target
    with_conflicting_twin: int  # at least one has another


@dataclass(frozen=True)
class Audit:
    """The result for a data set."""

    name: str
    items: int
    level: str
    start: str
    majority: float | None  # accuracy of always giving the most frequent class
    depths: tuple[Depth, ...]
    twins: Twins
    leaks: tuple[Leak, ...]
    splits: str  # which: "published" or "seed …", and their hash


def audit(dataset: Dataset, *, rounds: int = 5, initial: str | None = None, seed: int = 0) -> Audit:
    """Refine the data set's graphs and count; the start is what a model sees of a node unless told otherwise.

    >>> from wlhn.data import load
    >>> result = audit(load("atlas"), rounds=3)
    >>> [round(depth.ceiling, 4) for depth in result.depths], result.twins.pairs_conflicting
    ([0.7955, 0.9752, 0.9968, 0.9984], 2)
    """
    start = initial or _START[tuple(sorted(dataset.inputs))]
    filled = {"features": ("x",), "label and features": ("label", "x")}  # missing numbers are
    seen = features(dataset, inputs=filled[start]) if start in filled else start
    hierarchy = refine(dataset.graphs, rounds=rounds, initial=seen)
    known = dataset.labelled if dataset.task != "none" else np.ones(len(dataset), bool)
    keys = [classes_of(hierarchy, t, level=dataset.level)[known] for t in range(hierarchy.depth + 1)]
    y = (dataset.y if dataset.y.ndim == 2 else dataset.y[:, None])[known]
    target = _target_codes(y)
    splits, origin = _splits(dataset, seed)
    place = np.cumsum(known) - 1  # of an item among those with a target
    return Audit(
        name=dataset.name,
        items=len(y),
        level=dataset.level,
        start=start,
        majority=_ceiling(np.zeros(len(y), np.int64), y, dataset.task),
        depths=tuple(_depth(t, key, target, y, dataset.task) for t, key in enumerate(keys)),
        twins=_twins(keys[-1], target),
        leaks=tuple(_leak(k, split.among(known), place, keys[-1], target) for k, split in enumerate(splits)),
        splits=f"{origin}, {splits_hash(splits)}",
    )


def classes_of(hierarchy: Hierarchy, t: int, *, level: str) -> NDArray[np.int64]:
    """The class of WL-equal items that each item is in: a node's colour, a graph's multiset of colours."""
    if level == "node":
        return np.asarray(hierarchy.colours[t], dtype=np.int64)
    ptr, colour, count = hierarchy.count_per_graph(t)
    number: dict[tuple[bytes, bytes], int] = {}
    contents = ((colour[a:b].tobytes(), count[a:b].tobytes()) for a, b in pairwise(ptr.tolist()))
    return np.array([number.setdefault(content, len(number)) for content in contents], dtype=np.int64)


def _target_codes(y: NDArray[Any]) -> NDArray[np.int64]:
    """Equal numbers for equal targets (rows of them, where there are several)."""
    if not y.shape[1]:
        return np.zeros(len(y), np.int64)
    return np.unique(np.nan_to_num(y, nan=-1.0), axis=0, return_inverse=True)[1].reshape(-1)


def _splits(dataset: Dataset, seed: int) -> tuple[Sequence[Split], str]:
    if dataset.splits:
        return dataset.splits, "published" if dataset.task != "regression" else "the set's own"
    known = dataset.labelled if dataset.task != "none" else None
    if dataset.level == "graph" and (len(dataset) if known is None else known.sum()) >= 10:
        y = dataset.y if dataset.y.ndim == 1 else np.zeros(len(dataset))
        return stratified_folds(y, seed=seed, among=known), f"10 folds, seed {seed}"
    return random_splits(len(dataset), seed=seed, among=known), f"random 60/20/20, seed {seed}"


def _class_sizes(key: NDArray[Any], target: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """(items of each class, different targets in each class, items of each class and target)."""
    pairs, count = np.unique(np.stack([key, target]), axis=1, return_counts=True)
    size = np.bincount(key)
    return size, np.bincount(pairs[0], minlength=len(size)), count


def _depth(t: int, key: NDArray[Any], target: NDArray[Any], y: NDArray[Any], task: Task) -> Depth:
    size, values, _ = _class_sizes(key, target)
    return Depth(
        depth=t,
        classes=int((size > 0).sum()),
        alike=float((size[key] > 1).mean()),
        conflicting=float((values[key] > 1).mean()),
        ceiling=_ceiling(key, y, task),
        floor=_floor(key, y, task),
    )


def _ceiling(key: NDArray[Any], y: NDArray[Any], task: Task) -> float | None:
    """Share of items with the most frequent target of their class, mean over tasks; unknown targets don't count."""
    if task not in ("classification", "binary"):
        return None
    shares = []
    for column in y.T:
        known = ~np.isnan(column)
        pairs, count = np.unique(np.stack([key[known], column[known].astype(np.int64)]), axis=1, return_counts=True)
        best = np.zeros(int(key.max(initial=0)) + 1, np.int64)
        np.maximum.at(best, pairs[0], count)
        if known.any():
            shares.append(best.sum() / known.sum())
    return float(np.mean(shares)) if shares else None


def _floor(key: NDArray[Any], y: NDArray[Any], task: Task) -> float | None:
    """Mean squared distance of the known targets from the mean of their class."""
    if task != "regression" or not len(y):
        return None
    known, y = ~np.isnan(y), np.nan_to_num(y.astype(np.float64))
    size = np.stack([np.maximum(np.bincount(key, weights=column), 1) for column in known.T], axis=1)
    mean = np.stack([np.bincount(key, weights=column) for column in y.T], axis=1) / size
    return float(((y - mean[key])[known] ** 2).mean())


def _twins(key: NDArray[Any], target: NDArray[Any]) -> Twins:
    size, values, count = _class_sizes(key, target)
    several = size > 1
    equal = int((count * (count - 1) // 2).sum())
    return Twins(
        groups=int(several.sum()),
        items=int(size[several].sum()),
        groups_agreeing=int((several & (values == 1)).sum()),
        groups_conflicting=int((several & (values > 1)).sum()),
        pairs_equal=equal,
        pairs_conflicting=int((size * (size - 1) // 2).sum()) - equal,
    )


def _leak(k: int, split: Split, place: NDArray[Any], key: NDArray[Any], target: NDArray[Any]) -> Leak:
    """Training and validation items both count as seen: the model that is tested was chosen on the latter."""
    seen, test = place[np.concatenate([split.train, split.valid])], place[split.test]
    size = np.bincount(key[seen], minlength=int(key.max(initial=0)) + 1)[key[test]]
    both = np.unique(np.stack([key, target]), axis=1, return_inverse=True)[1].reshape(-1)
    equal = np.bincount(both[seen], minlength=int(both.max(initial=0)) + 1)[both[test]]
    return Leak(
        fold=k,
        test=len(test),
        with_twin=int((size > 0).sum()),
        with_equal_twin=int((equal > 0).sum()),
        with_conflicting_twin=int((size > equal).sum()),
    )
