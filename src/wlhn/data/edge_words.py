"""Edges in words, from the rows that a model sees of them: a bond, a label, numbers, and the direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import Column, feature_places, labels_of
from wlhn.data.dataset import Dataset
from wlhn.data.display import MUTAG_BONDS, OGB_BONDS, has_ogb_atoms
from wlhn.data.vocabulary import Columns, Vocabulary

Array = NDArray[Any]
ORDERS = {1.0: "single", 1.5: "aromatic", 2.0: "double", 3.0: "triple"}  # as chemists call them
BOND_WORDS = (  # kind, stereo, whether it is conjugated; what goes without saying is empty
    (*(ORDERS[order] for order in OGB_BONDS[:-1]), "other"),
    ("", "Z", "E", "cis", "trans", "any stereo"),
    ("", "conjugated"),
)


def edges_in_words(dataset: Dataset, vocabulary: Vocabulary, rows: Array) -> list[tuple[str, str]]:
    """For each row, as a model of this vocabulary sees edges, what to write before and after the name of the node at
    its other end: `colour_names` takes them.

    >>> from wlhn.data import load
    >>> from wlhn.options.training import InputOptions
    >>> mutag = load("MUTAG")
    >>> seen = Vocabulary.fit(mutag, InputOptions(edge_features=True))
    >>> edges_in_words(mutag, seen, np.array([[0], [2]]))
    [('', ' by aromatic'), ('', ' by double')]
    """
    arrows = [""] * len(rows)
    if vocabulary.directed:  # the last column says whether the edge was turned round, so leads to the neighbour
        arrows = ["→ " if turned else "← " for turned in rows[:, -1].tolist()]
        rows = rows[:, :-1]
    words = [""] * len(rows)
    if vocabulary.edge_columns is not None:
        words = [" ".join(filter(None, found)) for found in _words(dataset, vocabulary, vocabulary.edge_columns, rows)]
    return [(arrow, f" by {word}" if word else "") for arrow, word in zip(arrows, words, strict=True)]


def _words(dataset: Dataset, seen: Vocabulary, columns: Columns, rows: Array) -> list[list[str]]:
    if columns.known is None:
        scale, shift = np.array(columns.scale or 1.0), np.array(columns.shift or 0.0)
        return [_numbers(dataset, seen, row) for row in (rows * scale + shift).tolist()]
    if seen.edges == "features" and has_ogb_atoms(dataset):
        called: Sequence[Sequence[str]] = BOND_WORDS
    else:
        called = [_labels(dataset)] if seen.edges in ("labels", "both") else []
    return [
        [
            "unknown" if code < 0 else _named(known[code], called[k] if k < len(called) else ())
            for k, (code, known) in enumerate(zip(row, columns.known, strict=True))
        ]
        for row in rows.tolist()
    ]


def _labels(dataset: Dataset) -> Sequence[str]:
    if dataset.name == "MUTAG":
        return [ORDERS[order] for order in MUTAG_BONDS]
    names = labels_of(dataset.columns, edge=True)
    return ["missing" if name is None else str(name) for name in names]


def _named(value: int, names: Sequence[str]) -> str:
    return names[value] if 0 <= value < len(names) else str(value)


def _numbers(dataset: Dataset, seen: Vocabulary, row: list[float]) -> list[str]:
    """A label, if there is one, then columns with their names: what is missing is told by a column at the end."""
    first, width = len(seen.edge_label_values), len(row)
    if seen.edge_filling is not None:
        width = len(seen.edge_filling.means)
        for column, missing in zip(seen.edge_filling.gaps, row[width:], strict=True):
            row[column] = np.nan if missing else row[column]
    words = [_named(v, _labels(dataset)) for v, there in zip(seen.edge_label_values, row, strict=False) if there]
    named = feature_places(dataset.columns, width - first, edge=True, labelled=seen.edges == "both")
    unnamed = min((begin for _, begin, _ in named), default=width - first)
    words += [_number(value) for value in row[first : first + unnamed]]
    return words + [_column(column, row[first + begin : first + end]) for column, begin, end in named]


def _column(column: Column, values: list[float]) -> str:
    """
    >>> weight = Column("weight", "feature", "numeric")
    >>> _column(weight, [0.5]), _column(weight, [np.nan])
    ('weight 0.5', 'weight missing')
    """
    if column.kind == "categories":
        return " ".join(str(name) for name, there in zip(column.values, values, strict=True) if there)
    return " ".join([column.name, *map(_number, values)])


def _number(value: float) -> str:
    return "missing" if np.isnan(value) else f"{value:.4g}"
