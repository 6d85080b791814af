"""Splits into training, validation and test items: drawn by seed, or read as published.

A split is three disjoint sets of positions (graphs or nodes); it checks itself when made and has a hash, so that two
results can be seen to rest on the same one. Cross-validation is a list of splits whose test sets are disjoint.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.data.readers.archive import safe_entries
from wlhn.errors import InputError

Part = Literal["train", "valid", "test"]
PARTS: tuple[Part, ...] = ("train", "valid", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of the training, validation and test items, each in rising order, pairwise disjoint.

    >>> split = Split(train=[2, 0], valid=[1], test=[3])
    >>> split.train.tolist(), split.hash
    ([0, 2], 'ed47311be6fc')
    >>> Split(train=[0, 1], valid=[1], test=[2])
    Traceback (most recent call last):
    wlhn.errors.InputError: split: item 1 is in train and in valid; parts must be disjoint
    """

    train: NDArray[np.int64]
    valid: NDArray[np.int64]
    test: NDArray[np.int64]

    def __init__(self, train: ArrayLike, valid: ArrayLike, test: ArrayLike) -> None:
        for name, values in zip(PARTS, (train, valid, test), strict=True):
            object.__setattr__(self, name, _positions(name, values))
        for a, b in (("train", "valid"), ("train", "test"), ("valid", "test")):
            common = np.intersect1d(getattr(self, a), getattr(self, b), assume_unique=True)
            if len(common):
                raise InputError(f"split: item {common[0]} is in {a} and in {b}; parts must be disjoint")

    def __repr__(self) -> str:
        return f"Split({len(self.train)} train, {len(self.valid)} valid, {len(self.test)} test, {self.hash})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Split) and self.hash == other.hash

    def __hash__(self) -> int:
        return int(self.hash, 16)

    @property
    def hash(self) -> str:
        """Twelve hex digits of the content."""
        digest = hashlib.sha256()
        for part in PARTS:
            values = getattr(self, part)
            digest.update(f"{part} {len(values)} ".encode())
            digest.update(values.astype("<i8").tobytes())
        return digest.hexdigest()[:12]

    @property
    def size(self) -> int:
        return len(self.train) + len(self.valid) + len(self.test)

    def check_fits(self, items: int, where: str = "split") -> Split:
        """This split, if all its positions are below `items`."""
        for part in PARTS:
            values = getattr(self, part)
            if len(values) and values[-1] >= items:
                raise InputError(f"{where}: {part} has item {values[-1]}; items go from 0 to {items - 1}")
        return self

    def among(self, items: NDArray[np.bool_]) -> Split:
        """This split without the items that the mask leaves out: those without a target.

        >>> Split([0, 1], [2], [3]).among(np.array([True, False, True, True])).train.tolist()
        [0]
        """
        return self.each_part(lambda positions: positions[items[positions]])

    def each_part(self, change: Callable[[NDArray[np.int64]], ArrayLike]) -> Split:
        """The split of what is made of each part's positions."""
        return Split(*(change(getattr(self, part)) for part in PARTS))


def splits_hash(splits: Iterable[Split]) -> str:
    """One hash for several splits in their order.

    >>> splits_hash([Split([0], [1], [2])]) == splits_hash([Split([0], [2], [1])])
    False
    """
    return hashlib.sha256(" ".join(split.hash for split in splits).encode()).hexdigest()[:12]


def stratified_folds(
    y: ArrayLike,
    *,
    folds: int = 10,
    holdout: float = 0.1,
    seed: int = 0,
    among: NDArray[np.bool_] | None = None,
) -> list[Split]:
    """Cross-validation: each item is tested once; a share `holdout` of the rest validates. Stratified by class.

    Between folds every class count differs by one at most, and so does the size. Targets that are not integers
    (regression) only say how many items there are. A mask `among` leaves out the other items: pass the `labelled` of a
    data set.

    >>> [split.test.tolist() for split in stratified_folds([0, 0, 1, 1], folds=2, holdout=0.5)]
    [[1, 3], [0, 2]]
    """
    values = np.asarray(y)
    if among is not None and not among.all():
        items = np.flatnonzero(among)
        drawn = stratified_folds(values[items], folds=folds, holdout=holdout, seed=seed)
        return [split.each_part(lambda positions: items[positions]) for split in drawn]
    if not 2 <= folds <= len(values):
        raise InputError(f"folds: expected 2 to {len(values)} (the number of items), found {folds}")
    if not 0 < holdout < 1:
        raise InputError(f"holdout: expected a share between 0 and 1, found {holdout}")
    generator = np.random.default_rng(seed)
    fold = _deal(values, folds, generator)
    splits = []
    for k in range(folds):
        rest = np.flatnonzero(fold != k)
        inner = _deal(values[rest], max(2, round(1 / holdout)), generator)
        splits.append(Split(train=rest[inner != 0], valid=rest[inner == 0], test=np.flatnonzero(fold == k)))
    return splits


def random_splits(
    items: int,
    *,
    ratios: tuple[float, float, float] = (0.6, 0.2, 0.2),
    repeats: int = 10,
    seed: int = 0,
    among: NDArray[np.bool_] | None = None,
) -> list[Split]:
    """Independent random splits, as the paper draws them for nodes (60/20/20, ten times); `among` as in folds.

    >>> random_splits(10, repeats=1)
    [Split(6 train, 2 valid, 2 test, ...)]
    """
    if min(ratios) < 0 or abs(sum(ratios) - 1) > 1e-9:
        raise InputError(f"ratios: expected three shares that sum to 1, found {ratios}")
    if among is not None and not among.all():
        known = np.flatnonzero(among)
        drawn = random_splits(len(known), ratios=ratios, repeats=repeats, seed=seed)
        return [split.each_part(lambda positions: known[positions]) for split in drawn]
    first, second = round(ratios[0] * items), round((ratios[0] + ratios[1]) * items)
    orders = (np.random.default_rng([seed, k]).permutation(items) for k in range(repeats))
    return [Split(train=o[:first], valid=o[first:second], test=o[second:]) for o in orders]


def read_json_splits(path: str | Path, *, items: int | None = None) -> list[Split]:
    """The JSON of Errica et al. 2020: outer folds with "test" and an inner "model_selection".

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "splits.json"
    >>> _ = path.write_text('[{"test": [0], "model_selection": [{"train": [1, 2], "validation": [3]}]}]')
    >>> read_json_splits(path, items=4)
    [Split(2 train, 1 valid, 1 test, ...)]
    """
    path = Path(path)
    try:
        outer = json.loads(path.read_bytes())
        splits = [
            Split(
                train=fold["model_selection"][0]["train"],
                valid=fold["model_selection"][0]["validation"],
                test=fold["test"],
            )
            for fold in outer
        ]
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise InputError(f'{path}: folds must be written as [{{"test": […], "model_selection": [{{…}}]}}, …]') from None
    check_disjoint_tests(splits, str(path))
    return splits if items is None else [split.check_fits(items, str(path)) for split in splits]


def read_mask_split(path: str | Path, *, items: int | None = None) -> Split:
    """A geom-gcn split: an npz of three boolean masks, train_mask, val_mask, test_mask.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "split.npz"
    >>> np.savez(path, train_mask=[1, 1, 0, 0], val_mask=[0, 0, 1, 0], test_mask=[0, 0, 0, 1])
    >>> read_mask_split(path, items=4)
    Split(2 train, 1 valid, 1 test, ...)
    """
    try:
        with zipfile.ZipFile(path) as archive:
            safe_entries(archive, Path(path))
        with np.load(path, allow_pickle=False) as masks:
            arrays = [np.asarray(masks[name]).astype(bool) for name in ("train_mask", "val_mask", "test_mask")]
    except InputError:
        raise
    except Exception as error:  # a damaged npz raises whatever zipfile, zlib or numpy come across
        raise InputError(f"{path}: must be an npz with train_mask, val_mask and test_mask ({error})") from None
    for mask in arrays:
        if mask.ndim != 1 or (items is not None and len(mask) != items):
            raise InputError(f"{path}: masks must be over {items} nodes, found shape {mask.shape}")
    return Split(*(np.flatnonzero(mask) for mask in arrays))


def check_disjoint_tests(splits: Sequence[Split], where: str = "folds") -> None:
    """No item is tested in two folds."""
    tested = np.concatenate([split.test for split in splits]) if splits else np.empty(0, np.int64)
    values, counts = np.unique(tested, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"{where}: item {values[counts > 1][0]} is tested in two folds; test sets must be disjoint")


def _deal(values: NDArray[Any], hands: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Deal the items, sorted by class and shuffled within one, like cards: the hand of each item."""
    classes = values if np.issubdtype(values.dtype, np.integer) else np.zeros(len(values))
    order = np.lexsort([generator.random(len(values)), classes])
    hand = np.empty(len(values), np.int64)
    hand[order] = (np.arange(len(values)) + generator.integers(hands)) % hands
    return hand


def _positions(name: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"split, {name}: expected integer positions, found {array.dtype}")
    array = np.sort(array.astype(np.int64).ravel())
    if len(array) and array[0] < 0:
        raise InputError(f"split, {name}: expected positions from 0, found {array[0]}")
    if (array[1:] == array[:-1]).any():
        raise InputError(f"split, {name}: item {array[:-1][array[1:] == array[:-1]][0]} is listed twice")
    return array
