"""What the columns of a source are taken for, and what follows from it: where features lie, which are categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wlhn.graphs import Graphs

Role = Literal["feature", "category", "target", "id", "from", "to", "smiles", "split", "ignored"]


@dataclass(frozen=True)
class Column:
    """What one column of the source is taken for: shown to the user, who may say otherwise."""

    name: str
    role: Role
    kind: str  # "numeric", "categories", "text", …
    detail: str = ""
    values: tuple[Any, ...] = ()  # the categories in the order of their codes; None among them stands for an empty cell
    edge: bool = False  # a column of edges; the others are of nodes or graphs
    missing: str = ""  # of a target: what stands for an unknown one, beside an empty cell

    @property
    def is_feature(self) -> bool:
        return self.role in ("feature", "category")


def labels_of(columns: Sequence[Column], *, edge: bool = False) -> tuple[Any, ...]:
    """What the codes of node (or edge) labels stand for."""
    column = label_column(columns, edge=edge)
    return () if column is None else column.values


def label_column(columns: Sequence[Column], *, edge: bool = False) -> Column | None:
    """The column that holds labels, where nodes (or edges) have any: the only categorical one, or, of several, that
    called "label"; the others are 0/1 features."""
    categories = [c for c in columns if c.edge == edge and c.is_feature and c.kind == "categories"]
    called = [c for c in categories if c.name == "label"]
    return next(iter(categories if len(categories) == 1 else called), None)


def zero_one_columns(
    columns: Sequence[Column], width: int, *, edge: bool, labelled: bool
) -> tuple[tuple[int, int], ...]:
    """Where, among so many features of nodes (or edges), those 0/1 columns lie that stand for one category each:
    (first, end) for every categorical column that is not the label. What has no name stands before them.

    >>> categories = {"shape": ("round", "square"), "colour": ("red", "green", "blue")}
    >>> columns = [Column(name, "feature", "categories", values=values) for name, values in categories.items()]
    >>> zero_one_columns(columns, 6, edge=False, labelled=False)
    ((1, 3), (3, 6))
    """
    placed = feature_places(columns, width, edge=edge, labelled=labelled)
    return tuple((first, end) for c, first, end in placed if c.kind == "categories" and first >= 0)


def feature_places(
    columns: Sequence[Column], width: int, *, edge: bool, labelled: bool = True
) -> list[tuple[Column, int, int]]:
    """(column, first, end): where, among so many features of nodes (or edges), each column but the label lies."""
    label = label_column(columns, edge=edge) if labelled else None
    named = [c for c in columns if c.edge == edge and c.is_feature and c is not label]
    if sum(c.kind == "categories" for c in named) == 1:  # beside a label it comes last
        named = sorted(named, key=lambda c: c.kind == "categories")
    sizes = [len(c.values) if c.kind == "categories" else 1 for c in named]
    ends = np.cumsum(sizes) + width - sum(sizes)
    return [(c, end - size, end) for c, size, end in zip(named, sizes, ends.tolist(), strict=True)]


def default_start(graphs: Graphs, columns: Sequence[Column] = ()) -> str | tuple[int, ...]:
    """What nodes start from unless it is said: labels where there are any, else the columns of x that are categories
    ("features" if all are), else degrees. Categories are integers, the 0/1 columns that text became, and one-hot
    columns, in which PyG keeps labels.

    >>> default_start(Graphs.from_edges([[0, 1], [1, 0]], x=[[6, 1], [8, 0]]))
    'features'
    >>> text = [Column("age", "feature", "numeric"), Column("kind", "feature", "categories", values=("a", "b"))]
    >>> default_start(Graphs.from_edges([[0, 1], [1, 0]], x=[[0.5, 1.0, 0.0], [0.7, 0.0, 1.0]]), text)
    (1, 2)
    """
    if graphs.node_label is not None:
        return "label"
    width = 0 if graphs.x is None else graphs.x.shape[1]
    if graphs.x is not None and np.issubdtype(graphs.x.dtype, np.integer):
        categories = tuple(range(width))
    else:
        blocks = zero_one_columns(columns, width, edge=False, labelled=False)
        categories = tuple(k for first, end in blocks for k in range(first, end)) or one_hot_columns(graphs.x)
    if not categories:
        return "degree"
    return "features" if len(categories) == width else categories


def one_hot_columns(x: NDArray[Any] | None) -> tuple[int, ...]:
    """The columns of x that hold 0 and 1 alone, if every node has equally many ones among them (one, or one of each
    group), so that they stand for categories; words that a page has or lacks don't.

    >>> one_hot_columns(np.array([[0.3, 1.0, 0.0], [0.1, 0.0, 1.0]]))
    (1, 2)
    >>> one_hot_columns(np.array([[1.0, 1.0], [0.0, 1.0]]))
    ()
    """
    if x is None or not len(x):
        return ()
    zero_one = np.flatnonzero(((x == 0) | (x == 1)).all(axis=0))
    ones = np.count_nonzero(x[:, zero_one], axis=1)
    apart = 0 < ones[0] < len(zero_one) and (ones == ones[0]).all()
    return tuple(zero_one.tolist()) if apart else ()
