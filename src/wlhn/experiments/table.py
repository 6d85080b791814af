"""A table as data: its columns, its rows, and the numbers that were published. The paper's are `paper/NAME.json`,
others are files of the user's.

A column is a data set under a protocol; a row a model, perhaps with settings or a grid of its own (a variant);
`settings` of a table hold for all its rows, whatever the grid, and those of `settings_at` for some rows on some
columns. `paper` of a row is {column: [mean, standard deviation]}, with a word such as "OOR" where the paper has no
number.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wlhn.data.dataset import TargetLevel
from wlhn.data.registry import known_name
from wlhn.documents import from_json
from wlhn.errors import InputError
from wlhn.files import read_json
from wlhn.training.settings import taken_by
from wlhn.words import listed

FOLDER = Path(__file__).parent / "paper"
FORM = (
    '{"protocol": NAME, "columns": [{"key": DATA}], "rows": [{"model": MODEL, "name": TEXT, "settings": {…}}], '
    '"settings_at": [{"columns": [DATA], "rows": [MODEL], "settings": {…}}]}, settings_at only where it is needed'
)


@dataclass(frozen=True)
class Column:
    """A data set and how models are assessed on it."""

    key: str  # also the name of its folder
    data: str  # what `load` takes
    protocol: str
    item: str  # the experiment in whose folder its cells lie: tables share them
    final_runs: int | None = None  # on each split, where not as many as the protocol has
    divisor: float = 1.0  # of our errors, where the paper's are in other units
    splits: str | None = None  # hash of the published ones, where the data may be without them

    def drawn_by_seed(self, splits_hash: str) -> bool:
        """Whether these splits were drawn although others are published."""
        return self.splits not in (None, splits_hash)


@dataclass(frozen=True)
class Row:
    """A model, perhaps with settings of its own, and what the paper has for it."""

    key: str  # also the name of its folder
    name: str
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    paper: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None  # where it makes sense; everywhere where None
    grid: str | None = None  # that its settings are chosen from, whatever grid is asked for


@dataclass(frozen=True)
class SettingsAt:
    """Further settings of some rows on some columns."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """What is to be run, and what the paper has."""

    title: str
    about: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    level: TargetLevel = "graph"  # what has targets
    digits: int = 1  # after the point
    settings_at: tuple[SettingsAt, ...] = ()
    best_published: Mapping[str, tuple[float, str]] = field(default_factory=dict)  # on the same folds: score, who

    def cells(self, datasets: Sequence[str] = (), models: Sequence[str] = ()) -> list[tuple[Column, Row]]:
        """Columns and rows that go together, data set by data set; of these names alone, where there are any.

        A model that is not a row itself stands for all its rows.

        >>> [(column.key, row.key) for column, row in read_table("table-graphs").cells(["mutag"], ["gin", "wlhn"])]
        [('MUTAG', 'gin'), ('MUTAG', 'wlhn')]
        """
        wanted = [known_key("dataset", name, [c.key for c in self.columns]) for name in datasets]
        keys = [row.key for row in self.rows]
        families = [model for model in dict.fromkeys(row.model for row in self.rows) if model not in keys]
        chosen = [known_key("model", name, [*keys, *families]) for name in models]
        columns = [c for c in self.columns if not wanted or c.key in wanted]
        rows = [r for r in self.rows if not chosen or r.key in chosen or (r.model in families and r.model in chosen)]
        return [
            (c, self.row_at(row, c)) for c in columns for row in rows if row.columns is None or c.key in row.columns
        ]

    def row_at(self, row: Row, column: Column) -> Row:
        """A row as it is on a column."""
        settings = dict(row.settings)
        for further in self.settings_at:
            if column.key in further.columns and row.key in further.rows:
                settings |= further.settings
        return replace(row, settings=settings)


def known_key(what: str, name: str, keys: list[str]) -> str:
    """The key that a name stands for, in any case, or as an alias of a data set.

    >>> known_key("dataset", "imdb-b", ["MUTAG", "IMDB-BINARY"])
    'IMDB-BINARY'
    """
    wanted = (name.casefold(), (known_name(name) or name).casefold())
    for key in keys:
        if key.casefold() in wanted:
            return key
    raise InputError(f"{what} {name}: is not part of it; choose {listed(keys, 'or')}")


def read_table(name: str) -> Table:
    """The table of this name, or of this JSON file.

    >>> table = read_table("table-graphs")
    >>> next(row.paper["MUTAG"] for row in table.rows if row.key == "wlhn")
    [86.0, 7.4]
    """
    document, item = read_paper(name), item_key(name)
    shared = {"protocol": document.pop("protocol", "ten-fold"), "item": item}
    settings = document.pop("settings", {})
    try:
        columns = [
            from_json(Column, {"data": each["key"]} | shared | each, f"{name}, columns {k}", only_known=True)
            for k, each in enumerate(document.pop("columns"))
        ]
        rows = [_row(each, settings, f"{name}, rows {k}") for k, each in enumerate(document.pop("rows"))]
        paper = {row.key: row.paper for row in rows}  # of a model, whichever grid of ours its settings are chosen from
        rows = [replace(row, paper=paper.get(row.model, {})) if _only_grid(row, settings) else row for row in rows]
        described = {"title": item, "about": ""} | document
        table = from_json(Table, described, name, only_known=True, columns=tuple(columns), rows=tuple(rows))
        _check_settings_at(table, name)
        return table
    except InputError as error:
        raise InputError(f"{error}; a table has the form {FORM}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{name}: is not a table ({error}); it has the form {FORM}") from None


def _only_grid(row: Row, settings: Mapping[str, Any]) -> bool:
    """Whether a row is the model itself, but for the grid that its settings are chosen from."""
    return bool(row.grid and not row.paper and row.settings == taken_by(row.model, settings))


def _check_settings_at(table: Table, name: str) -> None:
    """Further settings are for rows and columns that are there."""
    kinds = (("rows", {row.key for row in table.rows}), ("columns", {column.key for column in table.columns}))
    for k, further in enumerate(table.settings_at):
        for kind, known in kinds:
            if strange := [key for key in getattr(further, kind) if key not in known]:
                raise InputError(f"{name}, settings_at {k}: '{strange[0]}' is not the key of one of the table's {kind}")


def _row(row: Mapping[str, Any], settings: Mapping[str, Any], where: str) -> Row:
    model = row["model"]
    own = {**taken_by(model, settings), **row.get("settings", {})}
    named = {"key": model, "name": model} | dict(row)
    return from_json(Row, named, where, only_known=True, settings=own, paper=row.get("paper", {}))


def read_paper(name: str) -> dict[str, Any]:
    """What is kept of a table or figure of the paper, or of a table in a file."""
    return dict(read_json(Path(name) if is_file(name) else FOLDER / f"{name}.json"))


def is_file(name: str) -> bool:
    """Whether an item is a table of the user's."""
    return name.endswith(".json")


def item_key(name: str) -> str:
    """The folder of an item among results: its name, or that of its file.

    >>> item_key("table-graphs"), item_key("tables/my-table.json")
    ('table-graphs', 'my-table')
    """
    return Path(name).stem if is_file(name) else name


def command_for(item: str, **options: object) -> str:
    """The command that makes an item, or a part of it, again: in another folder, as what is there is not done again.

    >>> command_for("table-graphs", dataset="MUTAG", final_runs=1, grid=None)
    '`wlhn reproduce table-graphs --dataset MUTAG --final-runs 1 --out again`'
    """
    given = [
        f" --{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in options.items() if value is not None
    ]
    return f"`wlhn reproduce {item}{''.join(given)} --out again`"
