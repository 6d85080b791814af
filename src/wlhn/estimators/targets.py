"""y as scikit-learn's users give it, as targets of a data set; None and NaN stand for an unknown one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset, TargetLevel, class_indices
from wlhn.data.readers.values import named
from wlhn.errors import InputError


def flat(y: Any, level: TargetLevel) -> NDArray[Any]:
    """Targets in a row; of nodes, one array for each graph may be given. A list with None is an array of objects."""
    if level == "node" and isinstance(y, Sequence) and len(y) and np.ndim(y[0]) == 1 and not isinstance(y[0], str):
        parts = [_array(part) for part in y]
        return np.concatenate(
            [part.astype(object) for part in parts] if any(part.dtype == object for part in parts) else parts
        )
    return _array(y)


def _array(y: Any) -> NDArray[Any]:
    """An array; of objects where a list holds None, which NumPy would make text of beside texts."""
    if isinstance(y, list | tuple) and any(value is None for value in y):
        return np.array(y, dtype=object)
    try:
        return np.asarray(y)
    except ValueError:  # rows of different length
        raise InputError(
            "y: expected a class, a number or a row of them for each item, found lists of different length; "
            "scikit-learn's MultiLabelBinarizer makes rows of 0 and 1 of lists of labels"
        ) from None


def known(values: NDArray[Any]) -> NDArray[np.bool_]:
    """(items,) which of them have a target, at least one where there are several."""
    there = ~np.asarray(pd.isna(values), bool)
    return np.asarray(there if there.ndim == 1 else there.any(axis=1))


def with_classes(data: Dataset, values: NDArray[Any]) -> Dataset:
    """A data set whose targets are these classes, or, with several columns of 0 and 1, as many 0/1 targets."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        return replace(data, y=_answers(values), task="binary", classes=(), targets=())
    if values.ndim != 1:
        raise InputError(f"y: expected a class for each item, or a row of 0 and 1, found shape {values.shape}")
    there = known(values)
    given = np.array(values[there].tolist())  # of its own kind, where None beside it had made objects of all
    if np.issubdtype(given.dtype, np.floating):
        fractions = given[given != given.round()]
        if len(fractions):
            raise InputError(f"y: {fractions[0]:g} is a number, not a class; estimators of numbers end in Regressor")
        if not there.all():
            given = given.astype(np.int64)  # NaN beside whole numbers had made fractions of them
    codes, classes = class_indices(given)
    if len(classes) == 1:
        raise InputError(f"y: all items have the class {classes[0]!r}; there must be two or more to tell apart")
    y = np.full(len(values), -1)
    y[there] = codes
    return replace(data, y=y, task="classification", classes=classes, targets=())


def check_among(values: NDArray[Any], classes: Sequence[Any]) -> None:
    """Classes to compare answers with are those that answers are given in."""
    strange = next((value for value in values.tolist() if value not in classes), None)
    if strange is not None:
        raise InputError(
            f"y: {strange!r} is none of the classes {named(classes, most=6)} that were learned; the y of a data set "
            "holds positions among its classes, so leave y out to score against its targets"
        )


def _answers(values: NDArray[Any]) -> NDArray[np.float32]:
    """Several 0/1 targets for each item."""
    bits = numbers(values)
    if not (np.isnan(bits) | (bits == 0) | (bits == 1)).all():
        raise InputError(
            f"y: {values.shape[1]} columns must hold 0 and 1 (several labels an item); classes have one column"
        )
    return bits


def with_numbers(data: Dataset, values: NDArray[Any]) -> Dataset:
    """A data set whose targets are these numbers, one or several for each item."""
    return replace(data, y=numbers(values), task="regression", classes=(), targets=())


def numbers(values: NDArray[Any]) -> NDArray[np.float32]:
    """Numbers with NaN where they are unknown."""
    try:
        return np.where(pd.isna(values), np.nan, values).astype(np.float32)
    except (ValueError, TypeError):
        words = (value for value in values.ravel().tolist() if not isinstance(value, int | float | None))
        raise InputError(f"y: must be numbers, found {next(words, values.dtype)!r}") from None


def are_fractions(values: NDArray[Any]) -> bool:
    """Whether targets are numbers with a fraction, in which case they are regressed."""
    return np.issubdtype(np.array(values[known(values)].tolist()).dtype, np.floating)
