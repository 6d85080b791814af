"""Columns of a table → labels, features, targets, split.

One categorical feature becomes the label; more of them become 0/1 columns beside the numbers. Categories have the codes
that their `Column` gives them; one that it does not know has the code −1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Column, Task
from wlhn.data.readers.tables import Table, is_numeric
from wlhn.data.splits import PARTS, Split
from wlhn.errors import InputError

BITS: tuple[tuple[Any, ...], ...] = ((), (0,), (1,), (0, 1))


@dataclass(frozen=True)
class Targets:
    """The part of a data set that a table of targets gives."""

    y: NDArray[Any]
    task: Task = "none"
    classes: tuple[Any, ...] = ()
    targets: tuple[str, ...] = ()

    @staticmethod
    def none(items: int) -> Targets:
        return Targets(np.empty((items, 0), np.float32))


def encode_features(table: Table) -> tuple[NDArray[np.int64] | None, NDArray[np.float32] | None]:
    """(label, x) of the rows: one categorical column is the label; numbers, and 0/1 for several of them, are x."""
    features = [column for column in table.columns if column.role in ("feature", "category")]
    codes = {c.name: _codes(table.values(c.name), c) for c in features if c.kind == "categories"}
    label = next(iter(codes.values())) if len(codes) == 1 else None
    parts = []
    for column in features:
        if column.kind == "numeric":
            parts.append(_numbers(table, column.name)[:, None])
        elif label is None:
            parts.append((codes[column.name][:, None] == np.arange(len(column.values))).astype(np.float32))
    return label, np.concatenate(parts, axis=1).astype(np.float32) if parts else None


def encode_targets(table: Table) -> Targets:
    """One target of classes, or numbers, or several columns of 0 and 1 with gaps (tests that were not made)."""
    columns = [column for column in table.columns if column.role == "target"]
    names = tuple(column.name for column in columns)
    if not columns:
        return Targets.none(len(table.frame))
    if len(columns) == 1 and columns[0].kind == "categories":
        values = table.values(names[0])
        y = _codes(values, columns[0])
        if (y < 0).any():
            known = ", ".join(map(str, columns[0].values))
            there = table.at(np.flatnonzero(y < 0)[0])
            raise InputError(f"{there}, column '{names[0]}': expected one of the classes {known}")
        return Targets(y, "classification", columns[0].values, names)
    bad = next((column.name for column in columns if column.kind == "categories" and column.values not in BITS), None)
    if bad is not None and len(columns) > 1 and not is_numeric(table.frame[bad]):
        several = ", ".join(names)
        raise InputError(
            f"{table.path}, column '{bad}': expected numbers where there are several targets ({several}); "
            f"`--role {bad}=target` makes it the only one, `--role {bad}=ignored` leaves it out"
        )
    y = table.frame[list(names)].to_numpy(np.float32, na_value=np.nan)
    if len(names) > 1 and (np.isnan(y) | (y == 0) | (y == 1)).all():
        return Targets(y, "binary", (), names)
    for name in names:
        _numbers(table, name)
    return Targets(y[:, 0] if len(names) == 1 else y, "regression", (), names)


def encode_split(table: Table) -> tuple[Split, ...]:
    """The split that a column of train, valid and test gives, or none."""
    if not table.names("split"):
        return ()
    parts = np.char.lower(table.one("split").astype(str))
    known = {"train": "train", "valid": "valid", "val": "valid", "validation": "valid", "test": "test"}
    for k, part in enumerate(parts.tolist()):
        if part not in known:
            raise InputError(f"{table.at(k)}: expected train, valid or test, found {part!r}")
    canonical = np.array([known[part] for part in parts.tolist()])
    return (Split(*(np.flatnonzero(canonical == part) for part in PARTS)),)


def _codes(values: NDArray[Any], column: Column) -> NDArray[np.int64]:
    """Positions among the known categories, −1 for one that is not among them."""
    place = {value: code for code, value in enumerate(column.values)}
    return np.array([place.get(value, -1) for value in values.tolist()], dtype=np.int64)


def _numbers(table: Table, name: str) -> NDArray[np.float32]:
    given = table.values(name)
    try:
        values = given.astype(np.float32)
    except (ValueError, TypeError):
        raise InputError(f"{table.path}, column '{name}': expected numbers") from None
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(f"{table.at(bad[0])}, column '{name}': expected a finite number")
    return values
