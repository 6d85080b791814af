"""Columns of a table → labels, features, targets, split.

One categorical feature becomes the label; more of them become 0/1 columns beside the numbers. Categories have the codes
that their `Column` gives them, a gap has one of its own, and a category that the column does not know has the code −1.
Numbers that are missing are NaN, and so are targets; a class that is unknown is −1 (see `Dataset`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import Column
from wlhn.data.dataset import Dataset, TargetLevel, Task, available, is_known
from wlhn.data.readers.limits import check_text
from wlhn.data.readers.tables import DEFAULTS, ReadOptions, Table
from wlhn.data.readers.values import GAPS, coded, is_numeric, named, shown
from wlhn.data.splits import PARTS, Split
from wlhn.errors import InputError
from wlhn.graphs import Graphs

KNOWN_PARTS = {"train": "train", "valid": "valid", "val": "valid", "validation": "valid", "test": "test"}


@dataclass(frozen=True)
class Targets:
    """The part of a data set that a table of targets gives."""

    y: NDArray[Any]
    task: Task = "none"
    classes: tuple[Any, ...] = ()
    targets: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what was inferred and how to say otherwise

    @staticmethod
    def none(items: int, *notes: str) -> Targets:
        return Targets(np.empty((items, 0), np.float32), notes=notes)

    def dataset(self, name: str, graphs: Graphs, level: TargetLevel, *notes: str, **further: Any) -> Dataset:
        """Graphs with these targets, of which a model sees all; with what else there is to note."""
        given = vars(self) | {"inputs": available(graphs), "notes": (*self.notes, *notes)}
        return Dataset(name, graphs, level=level, **given, **further)


def encode_features(table: Table) -> tuple[NDArray[np.int64] | None, NDArray[np.float32] | None]:
    """(label, x) of the rows: one categorical column is the label; numbers, and 0/1 for several of them, are x."""
    features = [column for column in table.columns if column.is_feature]
    codes = {c.name: coded(table.frame[c.name], c.values) for c in features if c.kind == "categories"}
    label = next(iter(codes.values())) if len(codes) == 1 else None
    width = sum(1 if c.kind == "numeric" else len(c.values) * (label is None) for c in features)
    check_text(f"{table.path}, 0/1 columns of categories", width * len(table.frame), "features")
    parts = []
    for column in features:
        if column.kind == "numeric":
            parts.append(_numbers(table, column.name)[:, None])
        elif label is None:
            parts.append((codes[column.name][:, None] == np.arange(len(column.values))).astype(np.float32))
    return label, np.concatenate(parts, axis=1).astype(np.float32) if parts else None


def encode_targets(table: Table, options: ReadOptions = DEFAULTS) -> Targets:
    """One target of classes, or numbers, or several columns of 0 and 1; with gaps where they are unknown."""
    columns = [column for column in table.columns if column.role == "target"]
    names = tuple(column.name for column in columns)
    if not columns:
        return Targets.none(len(table.frame))
    if table.frame[list(names)].isna().all(axis=None) and not options.like and len(table.frame):
        return Targets.none(len(table.frame), f"no targets: nothing stands in {_quoted(names)}")
    if len(columns) == 1:
        return _one_target(table, columns[0], options)
    return _several_targets(table, names, options)


def ask_about(where: str, classes: tuple[Any, ...], missing: str | None) -> None:
    """Refuse classes of which one looks like "unknown", until the user says what it means.

    >>> ask_about("y.csv, column 'y'", (-1, 0, 1), None)
    Traceback (most recent call last):
    wlhn.errors.InputError: y.csv, column 'y': does -1 among the classes -1, 0 and 1 mean unknown? \
`--missing=-1` (missing="-1") says yes, `--missing=` (missing="") that it is a class
    """
    if missing is not None or classes == (-1, 1):
        return
    for value in classes:
        if (value == -1 and not isinstance(value, str)) or value in (*GAPS, "?", "-1", "unknown"):
            raise InputError(
                f"{where}: does {value} among the classes {named(classes, most=6)} mean unknown? "
                f'`--missing={value}` (missing="{value}") says yes, `--missing=` (missing="") that it is a class'
            )


def encode_split(table: Table, targets: Targets) -> tuple[Split, ...]:
    """The split that a column of train, valid and test gives, or none; an empty cell is in no part.

    Items without a target are in no part either, unless there are no targets at all.
    """
    names = table.names("split")
    if not names:
        return ()
    given = table.frame[names[0]]
    parts = given.astype(str).str.strip().str.lower().where(given.notna(), "").tolist()
    for k, part in enumerate(parts):
        if part and part not in KNOWN_PARTS:
            raise InputError(
                f"{table.at(k)}, column '{names[0]}': expected train, valid, test or nothing, found '{shown(part)}'"
            )
    canonical = np.array([KNOWN_PARTS.get(part, "") for part in parts])
    split = Split(*(np.flatnonzero(canonical == part) for part in PARTS))
    return (labelled_only(split, targets),)


def labelled_only(split: Split, targets: Targets) -> Split:
    """A split without the items that have no target, where there are targets."""
    return split if targets.task == "none" else split.among(is_known(targets.y, targets.task))


def _one_target(table: Table, column: Column, options: ReadOptions) -> Targets:
    name, values = column.name, table.frame[column.name]
    where, distinct = f"{table.path}, column '{name}'", int(values.nunique())
    inferred = options.task is None and not options.like and values.dtype.kind in "iu"
    if column.kind != "categories":
        said = f"'{name}': {distinct} different whole numbers, taken as numbers (`--task classification`: as classes)"
        return Targets(_numbers(table, name), "regression", (), (name,), (said,) if inferred else ())
    if options.task == "regression":
        raise InputError(f"{where}: holds text, and `--task regression` needs numbers")
    if any(isinstance(value, float) for value in column.values):
        raise InputError(f"{where}: has numbers with a fraction, and classes are whole numbers or text")
    if not options.like:
        ask_about(where, column.values, options.missing)
    y = coded(values, column.values)
    strange = np.flatnonzero((y < 0) & values.notna().to_numpy())
    if len(strange):
        known = named(column.values)
        raise InputError(f"{table.at(strange[0])}, column '{name}': must be one of the classes {known}")
    said = f"'{name}': {distinct} different whole numbers, taken as classes (`--task regression`: as numbers)"
    return Targets(y, "classification", column.values, (name,), (said,) if inferred and distinct > 2 else ())


def _several_targets(table: Table, names: tuple[str, ...], options: ReadOptions) -> Targets:
    task = options.task
    text = [name for name in names if not is_numeric(table.frame[name]) and table.frame[name].notna().any()]
    if text:
        raise InputError(
            f"{table.path}, column '{text[0]}': must be numbers, as there are several targets ({_quoted(names)}); "
            f"`--role {text[0]}=target` makes it the only one, `--role {text[0]}=ignored` leaves it out"
        )
    y = np.stack([_numbers(table, name) for name in names], axis=1)
    answers = (np.isnan(y) | (y == 0) | (y == 1)).all(axis=0)
    if answers.all() and task != "regression":
        return Targets(y, "binary", (), names)
    if task == "classification" or (answers.any() and task is None):
        yes_no = [name for name, answer in zip(names, answers, strict=True) if answer]
        numbers = [name for name, answer in zip(names, answers, strict=True) if not answer]
        beside = f"{_quoted(yes_no)} of 0 and 1 beside " if yes_no else ""
        raise InputError(
            f"{table.path}: targets {beside}{_quoted(numbers)} of numbers cannot be learned together as classes; "
            f"`--task regression` takes all as numbers, `--role {(yes_no or numbers)[0]}=ignored` leaves one out"
        )
    said = f"{_quoted(names)} are taken as {len(names)} targets that are numbers (`--role NAME=ignored` leaves one out)"
    return Targets(y, "regression", (), names, (said,) if task is None else ())


def _quoted(names: Iterable[str]) -> str:
    return named(f"'{name}'" for name in names)


def _numbers(table: Table, name: str) -> NDArray[np.float32]:
    """A column of numbers, NaN at gaps."""
    given = table.frame[name]
    try:
        exact = given.to_numpy(np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        raise InputError(f"{table.path}, column '{name}': must be numbers") from None
    with np.errstate(over="ignore"):  # said in our own words
        values = exact.astype(np.float32)
    bad = np.flatnonzero(np.isinf(values))
    if len(bad):
        raise InputError(f"{table.at(bad[0])}, column '{name}': expected a finite number, found {exact[bad[0]]:g}")
    return values
