"""Columns of the user's tables, taken for what their names, places and values suggest.

The guess is part of the result (`Column`) and can be overruled by `roles` and `task`; `like` reads a table as an
earlier data set was read, with its roles and its order of categories, so that a trained model can be applied to new
data.

- Text and booleans are categories, numbers are numbers (role "category" makes categories of whole numbers).
- A target of text or booleans is a class, one of numbers with a fraction a number. Whole numbers are classes, unless
  they have so many different values that they must be counts or measurements (`are_classes`).
- An empty cell is a gap: an unknown target, a missing feature.
- Text that differs nearly everywhere is taken for names and ignored.
- A column without a name that counts the rows, as pandas writes its index, is ignored, unless ids are needed and no
  other column is called so.
- A column called like an id, whose values repeat, is the target where nothing else could be it and ids are optional.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import Column, Role
from wlhn.data.dataset import TaskChoice
from wlhn.data.readers.column_names import ENDS, NAMES, known_ends, plain
from wlhn.data.readers.pieces import read_text_table, separator_of
from wlhn.data.readers.values import are_classes, categories_of, is_numeric, name_of, named, shown, stands_for, typed
from wlhn.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ReadOptions:
    """Each format takes what concerns it; `wlhn.data.load` says what the fields mean."""

    self_loops: bool = False
    directed: bool | None = None
    drop_duplicates: bool = False
    task: TaskChoice | None = None
    missing: str | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)
    like: Sequence[Column] = ()
    skip_invalid: bool = False
    progress: bool = False

    def __post_init__(self) -> None:
        if self.task not in (None, "classification", "regression"):
            raise InputError(f"task: must be classification or regression, found '{self.task}'")
        for name, role in self.roles.items():
            if role not in ROLES:
                raise InputError(f"role of column '{name}': must be one of {', '.join(ROLES)}, found '{role}'")

    def check_roles(self, *tables: pd.DataFrame) -> None:
        """Every column that the user names exists."""
        there = [str(name) for table in tables for name in table.columns]
        for name in self.roles:
            if name not in there:
                raise InputError(f"role of column '{name}': no such column; there are {named(there)}")

    def of_nodes(self) -> ReadOptions:
        """The part about columns of nodes or graphs."""
        return replace(self, like=[column for column in self.like if not column.edge])

    def of_edges(self, node_columns: Container[str] = ()) -> ReadOptions:
        """The part about columns of edges: a role goes to the column of that name, the nodes' first."""
        roles = {name: role for name, role in self.roles.items() if name not in node_columns}
        return replace(self, roles=roles, like=[column for column in self.like if column.edge], task=None)

    def text_columns(self) -> set[str]:
        """Columns that an earlier data set has as text, whatever there is of them here: "01" is not 1."""
        return {c.name for c in self.like if c.kind == "categories" and any(isinstance(v, str) for v in c.values)}

    def of_columns(self, names: Container[str]) -> ReadOptions:
        """The part about the columns of these names."""
        roles = {name: role for name, role in self.roles.items() if name in names}
        return replace(self, roles=roles, like=[column for column in self.like if column.name in names])


DEFAULTS = ReadOptions()
ROW_NUMBERS = "counts the rows"
NAMELESS = re.compile(r"(Unnamed: \d+)?|__index_level_\d+__")  # as pandas writes or reads an index
ROLES = get_args(Role)


@dataclass(frozen=True)
class Table:
    """A table with a role for every column."""

    path: Path
    frame: pd.DataFrame
    columns: tuple[Column, ...]

    def names(self, *roles: Role) -> list[str]:
        return [column.name for column in self.columns if column.role in roles]

    def one(self, role: Role) -> NDArray[Any]:
        """The values of the only column with a role, none of them missing."""
        names = self.names(role)
        if not names:
            raise InputError(
                f"{self.path}: no column among {named(self.frame.columns)} has the role '{role}' "
                f"(`--role NAME={role}` says which it is)"
            )
        if len(names) > 1:
            raise InputError(
                f"{self.path}: columns {named(names)} have the role '{role}', and one column can "
                f"(`--role {names[1]}=ignored` leaves one out)"
            )
        values = self.frame[names[0]]
        gaps = np.flatnonzero(values.isna())
        if len(gaps):
            raise InputError(f"{self.at(gaps[0])}, column '{names[0]}': the value is missing")
        return values.to_numpy()

    def check_has_features_of(self, earlier: Sequence[Column]) -> None:
        """The features of an earlier data set are here too."""
        for column in earlier:
            if column.is_feature and column.name not in self.frame.columns:
                raise InputError(
                    f"{self.path}: has no column '{column.name}', which the training data have; its columns are "
                    f"{named(self.frame.columns)}"
                )

    def check_no_features(self, elsewhere: Collection[str] = ()) -> None:
        """A table of whole graphs gives no features: models see those of nodes and edges (columns elsewhere) alone."""
        for column in self.columns:
            if column.is_feature and column.name not in elsewhere:
                raise InputError(
                    f"{self.path}, column '{column.name}': a {column.role} of whole graphs, which no model sees; "
                    f"`--role {column.name}=ignored` leaves it out"
                )

    def lines_by_name(self, names: Sequence[Any], what: str) -> dict[Any, int]:
        """Where each name stands in the table, which lists none of them twice."""
        place: dict[Any, int] = {}
        for k, name in enumerate(names):
            if place.setdefault(name, k) != k:
                raise InputError(
                    f"{self.path}, line {k + 2}: {what} '{shown(name)}' is listed twice in column "
                    f"'{self.names('id')[0]}'; keep one line, or say with `--role NAME=id` which column has the ids"
                )
        return place

    def at(self, row: int) -> str:
        """Where a row came from, also after a selection: a line of the file, or what the index calls it."""
        label = self.frame.index[row]
        return f"{self.path / label}" if isinstance(label, str) else f"{self.path}, line {label + 2}"


def read_table(
    path: Path, options: ReadOptions, *, expected: Sequence[Role], named: Sequence[Role] = (), rest: Role = "feature"
) -> Table:
    """A table of text (gzipped or not) with a header; see `infer_columns`."""
    import pandas as pd

    text = read_text_table(path)
    comma = separator_of(path) != ","
    words = options.text_columns()
    frame = pd.DataFrame({name: text[name] if name in words else typed(text[name], comma) for name in text.columns})

    def infer() -> tuple[Column, ...]:
        return infer_columns(frame, options, expected=expected, named=named, rest=rest)

    columns = infer()
    marked = {column.name: options.missing or column.missing for column in columns if column.role == "target"}
    if any(marked.values()):
        for name, mark in marked.items():
            frame[name] = typed(text[name].mask(stands_for(text[name], mark)), comma)
        columns = tuple(replace(column, missing=marked.get(column.name, "")) for column in infer())
    for column in columns:  # an id is what stands there, whatever its neighbours look like
        if column.role in ("id", "from", "to"):
            frame[column.name] = pd.Series([name_of(value) for value in text[column.name]], text.index, dtype=object)
        elif column.role in ("smiles", "split"):
            frame[column.name] = text[column.name]
    return Table(path, frame, columns)


def infer_columns(
    frame: pd.DataFrame,
    options: ReadOptions = DEFAULTS,
    *,
    expected: Sequence[Role] = (),
    named: Sequence[Role] = (),
    rest: Role = "feature",
) -> tuple[Column, ...]:
    """A role for every column: as told, as in an earlier data set, by its name, by its place; then the role `rest`.

    Where no name says it, ids that are `expected` are the first column, and the target is the last one, or, where
    `rest` is "target", all that remain; ends of edges are the only two columns. Roles that are only `named` go by name.
    Columns of an earlier data set come in its order, whatever theirs.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"atom": ["a", "b"], "charge": [0.5, 1.0], "toxic": [0, 1]})
    >>> [(c.name, c.role, c.kind) for c in infer_columns(table, expected=("id", "target"))]
    [('atom', 'id', 'text'), ('charge', 'feature', 'numeric'), ('toxic', 'target', 'categories')]
    """
    told = options.of_columns(frame.columns)
    earlier = {column.name: column for column in told.like}
    chosen = {column.name: column.role for column in told.like} | dict(told.roles)
    like = bool(options.like)
    if set(ENDS) <= set(expected):
        free = [name for name in frame.columns if name not in chosen and not NAMELESS.fullmatch(name)]
        chosen |= _ends(free, chosen.values())
    numbering = [name for name in frame.columns if name not in chosen and _counts_rows(frame[name])]
    for role in (role for role in (*named, *expected) if role not in ENDS):
        free = [name for name in frame.columns if name not in chosen]
        called = [name for name in free if plain(name) in NAMES[role]]
        if role in chosen.values():
            continue
        if called:
            nothing_else = {*free} == {*called, *numbering} and "target" not in chosen.values() and not like
            if role == "id" and role not in expected and nothing_else and not frame[called[0]].is_unique:
                continue
            chosen[called[0]] = role
        elif role in expected and role == "id" and free:
            chosen[free[0]] = role
        elif role == "target" and rest != "target" and not like:
            chosen |= dict.fromkeys([name for name in free if name not in numbering][-1:], role)
    for name in numbering:
        chosen.setdefault(name, "ignored")
    if like or (rest == "target" and "target" in chosen.values()):  # an earlier data set had no such column
        rest = "ignored"
    columns = []
    for name in frame.columns:
        column = _describe(frame[name], name, chosen.get(name, rest), options.task, fixed=name in chosen)
        if name in earlier:
            known = earlier[name]
            column = replace(column, values=known.values, kind=known.kind, missing=known.missing)
        elif name in numbering and column.role == "ignored":
            column = replace(column, detail=ROW_NUMBERS)
        elif like and name not in chosen:
            column = replace(column, detail="not in the training data")
        columns.append(column)
    place = {column.name: k for k, column in enumerate(told.like)}  # features are told apart by their place
    return tuple(sorted(columns, key=lambda column: place.get(column.name, len(place))))


def _counts_rows(values: pd.Series) -> bool:
    """Whether a column has no name and holds 0, 1, 2, … or 1, 2, 3, …"""
    if not NAMELESS.fullmatch(str(values.name)) or not is_numeric(values) or values.isna().any() or values.empty:
        return False
    first = values.iloc[0]
    return first in (0, 1) and bool((values.to_numpy() == np.arange(first, first + len(values))).all())


def _ends(free: Sequence[str], told: Container[Role]) -> dict[str, Role]:
    """The ends of edges that nobody told: by their names, or because there are no other columns."""
    sides = [side for side, role in enumerate(ENDS) if role not in told]
    known = known_ends(free, sides)
    if not known and len(free) == len(sides):
        return {name: ENDS[side] for name, side in zip(free, sides, strict=True)}
    return known


def _describe(values: pd.Series, name: str, role: Role, task: TaskChoice | None, *, fixed: bool) -> Column:
    distinct, given = int(values.nunique()), int(values.notna().sum())
    number = is_numeric(values)
    if role in ("id", "from", "to", "smiles", "split", "ignored"):
        return Column(name, role, "text" if not number else "numeric")
    if not given and len(values) and not fixed:
        return Column(name, "ignored", "text", "empty")
    classes = role == "target" and (
        task == "classification" or (task is None and values.dtype.kind in "iu" and are_classes(distinct, given))
    )
    if number and role != "category" and not classes:
        return Column(name, role, "numeric")
    if not number and not fixed and distinct > 50 and distinct > len(values) / 2:
        return Column(name, "ignored", "text", f"{distinct} different values: names, not categories")
    categories = categories_of(values)
    if role != "target" and given < len(values):
        categories += (None,)
    return Column(name, role, "categories", f"{distinct} {'classes' if role == 'target' else 'values'}", categories)
