"""What nodes start from: nothing, their degree, their label, columns of features, or several of these.

Labels and columns of integers are categories; columns of other numbers fall into bins (see `binning`), missing ones
filled first as models fill them (`wlhn.data.features`). All of it is fixed in a fit, so that a value means the same in
new graphs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.features import Filling, fill
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy.binning import KMeans, Quantiles, fit_bins
from wlhn.options.checks import check_choice, check_whole
from wlhn.options.training import BINNINGS

Array = NDArray[Any]
StartColumns = str | int | Sequence[str | int]


@dataclass(frozen=True, eq=False)
class Start:
    """Columns that nodes start from, as fitted.

    >>> path = Graphs.from_edges([[0, 1, 1, 2], [1, 0, 2, 1]], node_label=[4, 9, 4], x=[[0.1], [0.2], [0.3]])
    >>> start = Start.fit(path, ("label", 0), "quantiles", 2)
    >>> start.values(path).tolist()
    [[4, 0], [9, 0], [4, 1]]
    >>> start.describe(start.values(path)[2])
    '4|> 0.2'
    >>> gaps = Graphs.from_edges([[0, 1], [1, 0]], x=[[0.1], [float("nan")]])
    >>> start = Start.fit(gaps, 0, "quantiles", 2)
    >>> [start.describe(value) for value in start.values(gaps)]
    ['any', 'missing']
    """

    columns: tuple[str | int, ...]  # "degree", "label", numbers of columns of x
    numeric: tuple[int, ...]  # those columns of x that are not integers
    filling: Filling | None  # of these
    bins: Quantiles | KMeans | None  # of these and of what the filling puts beside them
    names: Mapping[str | int, Mapping[int, str]] = field(default_factory=dict)  # of codes, by column; "" says nothing

    @staticmethod
    def fit(
        graphs: Graphs,
        columns: StartColumns,
        binning: str,
        bins: int,
        names: Mapping[str | int, Mapping[int, str]] | None = None,
    ) -> Start:
        check_choice("binning", binning, *BINNINGS)
        check_whole("bins", bins, 1)
        named = named_columns(graphs, columns)
        numeric = tuple(c for c in named if isinstance(c, int) and not _is_integer(graphs))
        if not numeric or not graphs.num_nodes:
            return Start(named, numeric, None, None, names or {})
        values = chosen_columns(graphs, numeric)
        filling = Filling.of(values)
        return Start(named, numeric, filling, fit_bins(fill(filling, values)[0], binning, bins), names or {})

    def values(self, graphs: Graphs) -> Array:
        """What `refine` and `assign` take: (nodes,) or, of several columns, (nodes, columns) whole numbers."""
        check_columns(graphs, self.columns)
        parts = []
        for column in self.columns:
            if column == "degree":
                parts.append(graphs.degree[:, None])
            elif column == "label":
                parts.append(np.asarray(graphs.node_label)[:, None])
            elif column not in self.numeric:
                if not _is_integer(graphs):
                    raise InputError(f"start, column {column} of x: expected integers as in the fit, found numbers")
                parts.append(np.asarray(graphs.x)[:, [int(column)]])
        if self.bins is not None:
            parts.append(self.bins.codes(fill(self.filling, chosen_columns(graphs, self.numeric))[0]))
        if not parts:
            return np.zeros(graphs.num_nodes, np.int64)
        rows = np.concatenate([part.astype(np.int64) for part in parts], axis=1)
        return rows[:, 0] if rows.shape[1] == 1 else rows

    def describe(self, value: Any) -> str:
        """A row of `values` in words; a node that starts from nothing is a dot."""
        codes = np.atleast_1d(value).tolist()
        plain = [c for c in self.columns if c not in self.numeric]
        words = [self.names.get(c, {}).get(code, str(code)) for c, code in zip(plain, codes, strict=False)]
        if self.bins is not None:
            words += self._binned(codes[len(plain) :])
        return "|".join(filter(None, words)) or "·"

    def _binned(self, codes: list[int]) -> list[str]:
        """Bins in words: by name where values have one, and a number that was missing is called so, instead of by the
        bin of the mean."""
        assert self.bins is not None
        words = self.bins.describe(codes)
        if self.filling is None or isinstance(self.bins, KMeans):  # a cluster is called by all its numbers
            return words
        for k, column in enumerate(self.numeric):
            words[k] = self.names.get(column, {}).get(codes[k], words[k])
        for column, gap in zip(self.filling.gaps, codes[len(self.numeric) :], strict=True):
            words[column] = "missing" if gap else words[column]
        return words[: len(self.numeric)]


def named_columns(graphs: Graphs, columns: StartColumns) -> tuple[str | int, ...]:
    """The columns that a setting stands for: uniform, degree, label, features, or several columns.

    >>> path = Graphs.from_edges([[0, 1], [1, 0]], x=[[1, 5], [2, 5]])
    >>> named_columns(path, "degree"), named_columns(path, "uniform"), named_columns(path, "features")
    (('degree',), (), (0, 1))
    """
    if isinstance(columns, str) and columns == "uniform":
        return ()
    if isinstance(columns, str) and columns == "features":
        if graphs.x is None:
            raise InputError("start: the graphs have no node features")
        return tuple(range(graphs.x.shape[1]))
    several = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    named = tuple(int(c) if isinstance(c, int | np.integer) else c for c in several)
    check_columns(graphs, named)
    return named


def check_columns(graphs: Graphs, columns: Sequence[str | int]) -> None:
    """Whether the graphs have these columns."""
    for column in columns:
        if isinstance(column, int):
            width = 0 if graphs.x is None else graphs.x.shape[1]
            if not 0 <= column < width:
                has = f"columns 0 to {width - 1}" if width else "none"
                raise InputError(f"start: no column {column} of node features here, the graphs have {has}")
        elif column == "label":
            if graphs.node_label is None:
                raise InputError("start: the graphs have no node labels; degree and uniform need none")
        elif column != "degree":
            raise InputError(
                f"start: must be uniform, degree, label, features or numbers of feature columns, found {column!r}"
            )


def _is_integer(graphs: Graphs) -> bool:
    return graphs.x is not None and np.issubdtype(graphs.x.dtype, np.integer)


def chosen_columns(graphs: Graphs, columns: tuple[int, ...]) -> Array:
    """(nodes, columns) these columns of x as numbers, if the graphs have them."""
    check_columns(graphs, [max(columns)])
    return np.asarray(graphs.x)[:, list(columns)].astype(np.float64)
