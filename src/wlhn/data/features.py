"""What a model sees of a node: label one-hot, attributes, or its degree where there is neither.

An `Encoding` is fixed on the training data and applied to any graphs, so that a column means the same in both. Numbers
may fall into bins (`wlhn.hierarchy.binning`), each a 0/1 column of its own, so that tree and network both see equal
nodes where there were only similar ones.

Numbers that are missing are filled by the mean of the training data. The mean alone would hide that something was
missing, and that it is missing often says something. So for each column that had gaps in training a 0/1 column, 1 at a
gap, stands behind all others. A column without gaps in training has none, so that models of complete data stay what
they were; a gap in it later is filled and counted as never seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset, available
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy.binning import KMeans, Quantiles, fit_bins
from wlhn.options.training import MOST_DEGREES, Degree, InputOptions, NodeInputs


@dataclass(frozen=True)
class Filling:
    """What stands in for missing numbers, column by column; fixed on the training data.

    >>> nothing = float("nan")
    >>> filling = Filling.of(np.array([[1.0, 5.0], [3.0, nothing]]))
    >>> filling.fill(np.array([[nothing, nothing]]))[0].tolist()
    [[2.0, 5.0, 1.0]]
    """

    means: tuple[float, ...]  # of each column
    gaps: tuple[int, ...]  # columns that had gaps in training

    @staticmethod
    def of(values: NDArray[Any]) -> Filling | None:
        """The filling of (rows, columns) numbers; none of categories, which have a category for gaps."""
        if not np.issubdtype(values.dtype, np.floating):
            return None
        known = ~np.isnan(values)
        count = np.maximum(known.sum(axis=0), 1)
        means = np.where(known, values, 0).sum(axis=0, dtype=np.float64) / count
        return Filling(tuple(means.tolist()), tuple(np.flatnonzero(~known.all(axis=0)).tolist()))

    def fill(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """((rows, columns + gaps) numbers without gaps, which rows had a gap where training had none)."""
        if values.ndim != 2 or values.shape[1] != len(self.means):
            raise InputError(f"features: expected {len(self.means)} columns as in training, found shape {values.shape}")
        missing = np.isnan(values)
        if not self.gaps and not missing.any():
            return values, np.zeros(len(values), bool)
        filled = np.where(missing, np.array(self.means), values).astype(values.dtype)
        new = np.delete(missing, self.gaps, axis=1).any(axis=1)
        return np.concatenate([filled, missing[:, self.gaps].astype(values.dtype)], axis=1), new


def fill(filling: Filling | None, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """What `Filling.fill` gives; without one, the values themselves, in which nothing may be missing."""
    if filling is not None:  # of whole numbers too, which graphs of a later day may have
        return filling.fill(values)
    if np.issubdtype(values.dtype, np.floating) and np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0]
        raise InputError(
            f"features, row {row}, column {column}: a number is missing, and this model has no means to fill it "
            "with; give the number, or train again"
        )
    return values, np.zeros(len(values), bool)


INPUTS: dict[NodeInputs, tuple[str, ...]] = {
    "labels": ("label",),
    "features": ("x",),
    "both": ("label", "x"),
    "degree": (),
}


@dataclass(frozen=True)
class Encoding:
    """How nodes become rows of numbers.

    >>> from wlhn.graphs import Graphs
    >>> path = Graphs.from_edges([[0, 1, 1, 2], [1, 0, 2, 1]], node_label=[4, 9, 4])
    >>> Encoding(inputs=("label",), label_values=(4, 9)).encode(path).tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> Encoding(inputs=(), degree="onehot", max_degree=2).encode(path).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """

    inputs: tuple[str, ...]  # "label", "x"; none: the degree
    degree: Degree = "scalar"  # the number itself (as the reference code), one-hot, or log(1 + degree)
    label_values: tuple[int, ...] = ()  # rising; a label that is not among them becomes a row of zeros
    max_degree: int = 0  # one-hot: larger degrees share the last column
    categories: tuple[int, ...] = ()  # where rows are categories: how many values each column can have
    filling: Filling | None = None  # of attributes that are numbers
    quantiles: Quantiles | None = None  # bins of such attributes, column by column
    clusters: KMeans | None = None  # or of whole rows of them

    def encode(self, graphs: Graphs) -> NDArray[Any]:
        """(nodes, features): float32, or integers where attributes are categories (OGB's atoms)."""
        return self.encode_with_gaps(graphs)[0]

    def encode_with_gaps(self, graphs: Graphs) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The same, and which nodes lack a number that none lacked in training."""
        missing = [name for name in self.inputs if name not in available(graphs)]
        if missing:
            raise InputError(f"graphs have no node input '{missing[0]}'; the model takes {' and '.join(self.inputs)}")
        if not self.inputs:
            return self._degrees(graphs), np.zeros(graphs.num_nodes, bool)
        new = np.zeros(graphs.num_nodes, bool)
        label = graphs.node_label if "label" in self.inputs else None
        x = graphs.x if "x" in self.inputs else None
        if x is not None:
            x, new = fill(self.filling, x)
            x = x if self.bins is None else _in_bins(self.bins, x)
            if self.filling is None and np.issubdtype(x.dtype, np.integer):  # categories, as is a label beside them
                return (x if label is None else np.column_stack([label, x])), new
        labels = None if label is None else _one_hot(label, np.array(self.label_values, dtype=np.int64))
        parts = [part.astype(np.float32, copy=False) for part in (labels, x) if part is not None]
        return np.concatenate(parts, axis=1), new

    @property
    def bins(self) -> Quantiles | KMeans | None:
        """What numbers fall into."""
        return self.quantiles or self.clusters

    def _degrees(self, graphs: Graphs) -> NDArray[Any]:
        degree = graphs.degree
        match self.degree:
            case "scalar":
                return degree.astype(np.float32)[:, None]
            case "log":
                return np.log1p(degree).astype(np.float32)[:, None]
            case "onehot":
                return _one_hot(np.minimum(degree, self.max_degree), np.arange(self.max_degree + 1))
        raise InputError(f"degree: expected scalar, onehot or log, found '{self.degree}'")


def encoding(
    dataset: Dataset,
    *,
    inputs: tuple[str, ...] | None = None,
    degree: Degree = "scalar",
    max_degree: int | None = None,
    binning: str | None = None,
    bins: int = InputOptions.bins,
) -> Encoding:
    """The encoding of a data set's nodes; `inputs` in place of the set's own, () for the degree alone.

    >>> from wlhn.data import load
    >>> mutag = load("MUTAG")
    >>> encoding(mutag).encode(mutag.graphs).shape
    (3371, 7)
    """
    chosen = dataset.inputs if inputs is None else inputs
    for name in chosen:
        if name not in available(dataset.graphs):
            has = " and ".join(available(dataset.graphs)) or "neither labels nor features"
            raise InputError(f"{dataset.name}: nodes have no input '{name}' that `inputs` asks for; they have {has}")
    label, x, degrees = dataset.graphs.node_label, dataset.graphs.x, dataset.graphs.degree
    values = np.unique(label).tolist() if "label" in chosen and label is not None else []
    top = int(degrees.max(initial=0)) if max_degree is None else max_degree
    filling = Filling.of(x) if "x" in chosen and x is not None else None
    found: Quantiles | KMeans | None = None
    if binning is not None:
        if filling is None or x is None or not filling.means:
            raise InputError(f"{dataset.name}: the model sees no numbers to put into bins; leave `binning` out")
        found = fit_bins(filling.fill(x)[0], binning, bins)
    return Encoding(
        inputs=tuple(chosen),
        degree=degree,
        label_values=tuple(values),
        max_degree=top if not chosen and degree == "onehot" else 0,
        categories=dataset.categories if tuple(chosen) == ("x",) else (),
        filling=filling,
        quantiles=found if isinstance(found, Quantiles) else None,
        clusters=found if isinstance(found, KMeans) else None,
    )


def encoding_for(dataset: Dataset, options: InputOptions) -> Encoding:
    """The encoding that these options ask for.

    Where nobody says how degrees enter, they are one-hot for graph tasks, which was best on validation graphs of
    IMDB-BINARY and COLLAB, and logarithms where that would be too wide, as on REDDIT-BINARY (10 gigabytes). For node
    tasks nothing but the number was tried.

    >>> from wlhn.data import load
    >>> encoding_for(load("MUTAG"), InputOptions(inputs="degree", degree="log")).inputs
    ()
    """
    return encoding(
        dataset,
        inputs=INPUTS.get(options.inputs),
        degree=_degree_form(dataset) if options.degree == "auto" else options.degree,
        binning=None if options.binning == "none" else options.binning,
        bins=options.bins,
    )


def features(dataset: Dataset, *, inputs: tuple[str, ...] | None = None, degree: Degree = "scalar") -> NDArray[Any]:
    """The nodes of a data set as rows of numbers: `encoding` and `encode` in one.

    >>> from wlhn.data import load
    >>> features(load("karate"), degree="log").shape
    (34, 1)
    """
    return encoding(dataset, inputs=inputs, degree=degree).encode(dataset.graphs)


def _degree_form(dataset: Dataset) -> Degree:
    """How degrees enter a model that is told nothing of it."""
    if dataset.level == "node":
        return "scalar"
    return "onehot" if dataset.graphs.degree.max(initial=0) < MOST_DEGREES else "log"


def _in_bins(bins: Quantiles | KMeans, values: NDArray[Any]) -> NDArray[np.float32]:
    """(rows, bins of all columns): 1 where a value falls."""
    codes = bins.codes(values.astype(np.float64))
    return np.concatenate([_one_hot(c, np.arange(size)) for c, size in zip(codes.T, bins.sizes, strict=True)], axis=1)


def _one_hot(values: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float32]:
    return (values[:, None] == columns).astype(np.float32)
