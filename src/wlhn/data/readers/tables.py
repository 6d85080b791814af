"""Columns of the user's tables, taken for what their names, places and values suggest.

The guess is part of the result (`Column`) and can be overruled by `roles`; `like` reads a table as an earlier data set
was read, with its roles and its order of categories, so that a trained model can be applied to new data.

- Text and booleans are categories, numbers are numbers (role "category" makes categories of whole numbers).
- A target of text, booleans or whole numbers is a class, other numbers are regression targets.
- Text that differs nearly everywhere is taken for names and ignored.
- A column called like an id, whose values repeat, is the target where nothing else could be it and ids are optional.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Column, Role
from wlhn.data.readers.archive import read_whole
from wlhn.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

NAMES: dict[Role, tuple[str, ...]] = {
    "id": ("id", "node", "node_id", "name", "mol_id", "graph", "graph_id", "file", "filename"),
    "from": ("source", "src", "from", "u", "head"),
    "to": ("target", "dst", "to", "v", "tail"),
    "smiles": ("smiles",),
    "split": ("split",),
    "target": ("target", "label", "class", "y"),
}
ROLES: tuple[str, ...] = ("feature", "category", "target", "id", "from", "to", "smiles", "split", "ignored")
GAPS = ("NA", "N/A", "nan", "NaN", "NAN", "null", "None")  # how people write nothing between numbers
MOST_CLASSES = 100  # whole numbers with more values are numbers, not classes


@dataclass(frozen=True)
class Table:
    """A table with a role for every column."""

    path: Path
    frame: pd.DataFrame
    columns: tuple[Column, ...]

    def names(self, *roles: Role) -> list[str]:
        return [column.name for column in self.columns if column.role in roles]

    def one(self, role: Role) -> NDArray[Any]:
        """The values of the only column with a role."""
        names = self.names(role)
        if len(names) != 1:
            found = ", ".join(self.frame.columns)
            raise InputError(f"{self.path}: expected one column with role '{role}', found {len(names)} among {found}")
        return self.values(names[0])

    def at(self, row: int) -> str:
        """Where a row came from, also after a selection: a line of the file, or what the index calls it."""
        label = self.frame.index[row]
        return f"{self.path / label}" if isinstance(label, str) else f"{self.path}, line {label + 2}"

    def values(self, name: str) -> NDArray[Any]:
        """A column without gaps."""
        values = self.frame[name]
        gaps = np.flatnonzero(values.isna())
        if len(gaps):
            raise InputError(f"{self.at(gaps[0])}, column '{name}': expected a value, found nothing")
        return values.to_numpy()


def read_table(
    path: Path,
    *,
    expected: Sequence[Role],
    named: Sequence[Role] = (),
    rest: Role = "feature",
    roles: Mapping[str, Role] | None = None,
    like: Sequence[Column] = (),
) -> Table:
    """A CSV or TSV file (gzipped or not) with a header; see `infer_columns`."""
    import pandas as pd

    text = _read_csv(path)
    frame = pd.DataFrame({name: _with_type(text[name]) for name in text.columns})
    columns = infer_columns(frame, expected=expected, named=named, rest=rest, roles=roles, like=like)
    for column in columns:  # an id is what stands there, whatever its neighbours look like
        if column.role in ("id", "from", "to"):
            frame[column.name] = pd.Series([name_of(value) for value in text[column.name]], dtype=object)
        elif column.role in ("smiles", "split"):
            frame[column.name] = text[column.name]
    return Table(path, frame, columns)


def infer_columns(
    frame: pd.DataFrame,
    *,
    expected: Sequence[Role],
    named: Sequence[Role] = (),
    rest: Role = "feature",
    roles: Mapping[str, Role] | None = None,
    like: Sequence[Column] = (),
) -> tuple[Column, ...]:
    """A role for every column: as told, as in an earlier data set, by its name, by its place; then the role `rest`.

    Where no name says it, ids and ends of edges that are `expected` are the first columns, and the target is the last
    one, or, where `rest` is "target", all that remain. Roles that are only `named` go by name.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"atom": ["a", "b"], "charge": [0.5, 1.0], "toxic": [0, 1]})
    >>> [(c.name, c.role, c.kind) for c in infer_columns(table, expected=("id", "target"))]
    [('atom', 'id', 'text'), ('charge', 'feature', 'numeric'), ('toxic', 'target', 'categories')]
    """
    chosen: dict[str, Role] = {c.name: c.role for c in like if c.name in frame.columns}
    chosen |= {name: role for name, role in (roles or {}).items() if name in frame.columns}
    for role in (*named, *expected):
        free = [name for name in frame.columns if name not in chosen]
        called = [name for name in free if name.casefold() in NAMES[role]]
        if role in chosen.values():
            continue
        if called:
            nothing_else = free == called and "target" not in chosen.values() and not like
            if role == "id" and role not in expected and nothing_else and not frame[called[0]].is_unique:
                continue
            chosen[called[0]] = role
        elif role in expected and role in ("id", "from", "to") and free:
            chosen[free[0]] = role
        elif role == "target" and rest != "target" and free and not like:
            chosen[free[-1]] = role
    if rest == "target" and ("target" in chosen.values() or like):
        rest = "ignored"
    earlier = {column.name: column for column in like}
    columns = []
    for name in frame.columns:
        column = _describe(frame[name], name, chosen.get(name, rest), fixed=name in chosen)
        if name in earlier:
            column = replace(column, values=earlier[name].values, kind=earlier[name].kind)
        columns.append(column)
    return tuple(columns)


def check_roles(roles: Mapping[str, Role] | None, *tables: pd.DataFrame) -> None:
    """Every column that the user names exists, and every role too."""
    there = [str(name) for table in tables for name in table.columns]
    for name, role in (roles or {}).items():
        if name not in there:
            raise InputError(f"role of column '{name}': no such column, expected one of {', '.join(there)}")
        if role not in ROLES:
            raise InputError(f"role of column '{name}': expected one of {', '.join(ROLES)}, found '{role}'")


def _describe(values: pd.Series, name: str, role: Role, *, fixed: bool) -> Column:
    import pandas as pd

    distinct = int(values.nunique())
    whole = pd.api.types.is_integer_dtype(values)
    number = is_numeric(values)
    if role in ("id", "from", "to", "smiles", "split", "ignored"):
        return Column(name, role, "text" if not number else "numeric")
    if number and role != "category" and not (role == "target" and whole and distinct <= MOST_CLASSES):
        return Column(name, role, "numeric")
    if not number and not fixed and distinct > 50 and distinct > len(values) / 2:
        return Column(name, "ignored", "text", f"{distinct} different values: names, not categories")
    categories = tuple(np.unique(values.dropna().to_numpy()).tolist())
    what = "classes" if role == "target" else "values"
    return Column(name, role, "categories", f"{distinct} {what}", categories)


def is_numeric(values: pd.Series) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(values)) and not bool(pd.api.types.is_bool_dtype(values))


def _with_type(text: pd.Series) -> pd.Series:
    """A column as numbers if all that is not a gap is one."""
    import pandas as pd

    given = text.mask(text.isin(GAPS))
    try:
        return pd.to_numeric(given)
    except (ValueError, TypeError):
        return text


def name_of(value: Any) -> Any:
    """A whole number in its usual form is one, everything else is text, in every table alike."""
    if isinstance(value, str) and value.lstrip("-").isascii() and value.lstrip("-").isdigit():
        return int(value) if str(int(value)) == value else value
    return value


def _read_csv(path: Path) -> pd.DataFrame:
    """The text of a table; only empty fields are gaps yet."""
    import pandas as pd

    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a table there")
    separator = "\t" if ".tsv" in path.suffixes else ","
    try:
        text = io.BytesIO(read_whole(path))
        frame = pd.read_csv(
            text,
            sep=separator,
            dtype=str,
            keep_default_na=False,
            na_values=[""],
            skipinitialspace=True,
            skip_blank_lines=False,
        )
    except pd.errors.EmptyDataError:
        raise InputError(f"{path}: empty, expected a header line") from None
    except pd.errors.ParserError as error:
        raise InputError(f"{path}: {str(error).removeprefix('Error tokenizing data. C error: ').strip()}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8, found byte {error.object[error.start]:#04x}") from None
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes what is left over for names of the rows
        raise InputError(f"{path}, line 2: expected {len(frame.columns)} fields as in the header, found more")
    while len(frame) and frame.iloc[-1].isna().all():
        frame = frame.iloc[:-1]
    frame.columns = [str(column).strip() for column in frame.columns]
    if not len(frame.columns):
        raise InputError(f"{path}: expected a header line with names of columns")
    return frame
