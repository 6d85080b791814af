"""What a user should know of how tables were read: columns taken by their position, gaps, odd cells, row numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from wlhn.data.columns import Column
from wlhn.data.readers.column_names import NAMES, plain
from wlhn.data.readers.tables import ROW_NUMBERS, ReadOptions, Table
from wlhn.data.readers.values import is_numeric, shown
from wlhn.words import listed


def position_notes(table: Table, options: ReadOptions) -> tuple[str, ...]:
    """Which columns were taken for what they are by their position, since neither names nor the user say it."""
    told = {*options.roles, *(column.name for column in options.like)}
    taken = {
        column.name: column.role
        for column in table.columns
        if column.name not in told and plain(column.name) not in NAMES.get(column.role, (plain(column.name),))
    }
    if not taken:
        return ()
    what = listed(f"'{shown(name)}' as {role}" for name, role in taken.items())
    other = " ".join(f"--role NAME={role}" for role in taken.values())
    return (f"{table.path.name}: taken by position: {what} (`{other}` says otherwise)",)


def table_notes(tables: Iterable[Table]) -> tuple[str, ...]:
    """What is missing among the features and what is done about it; which columns are numbers but for a few cells, and
    which count rows.
    """
    parts, others = [], []
    for table in tables:
        counts = [column.name for column in table.columns if column.detail == ROW_NUMBERS]
        others += [f"{table.path.name}: '{name}' counts the rows, so it is ignored" for name in counts]
        others += [said for column in table.columns if (said := _almost_numbers(table, column))]
        for column in table.columns:
            gaps = int(table.frame[column.name].isna().sum()) if column.is_feature else 0
            if gaps:
                how = "the training mean and an indicator" if column.kind == "numeric" else "a category of their own"
                what = "edges" if column.edge else "rows"
                parts.append(f"'{column.name}' of {gaps:,} of {len(table.frame):,} {what} ({how})")
    return (*([f"missing values are filled: {', '.join(parts)}"] if parts else []), *others)


def _almost_numbers(table: Table, column: Column) -> str:
    """A sentence about a column that one cell, or a tenth of them at most, keeps from being numbers; else nothing."""
    import pandas as pd

    values = table.frame[column.name]
    inferred = column.kind == "categories" or (column.role == "ignored" and column.detail)
    if not inferred or column.role == "category" or is_numeric(values):
        return ""
    known = values.dropna().astype(str)
    different = pd.Series(known.unique())
    words = different[pd.to_numeric(different, errors="coerce").isna()]
    if not 0 < len(words) < len(different):
        return ""
    odd = np.flatnonzero(values.astype(str).isin(words) & values.notna())
    if len(odd) > max(1, len(known) // 10) or len(known) < 5:
        return ""
    return (
        f"column '{column.name}': {len(known) - len(odd):,} of {len(known):,} values are numbers, but not "
        f"'{shown(values.iloc[odd[0]])}' ({table.at(int(odd[0]))}), so all were taken as text; "
        "leave the cell empty if its value is unknown"
    )
