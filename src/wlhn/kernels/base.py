"""What the transformers share: a hierarchy is fitted, and graphs, old and new, become counted colours of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wlhn.data.columns import default_start
from wlhn.data.dataset import Dataset
from wlhn.data.features import Filling, fill
from wlhn.graphs import Graphs
from wlhn.hierarchy import refine
from wlhn.kernels.colour_counts import ColourCounts, checked_weights
from wlhn.kernels.dense import check_fits
from wlhn.kernels.gram import Kind, Report, compare_graphs, no_report
from wlhn.kernels.reading import read_graphs, value_names
from wlhn.kernels.start import Start
from wlhn.options.checks import check_whole
from wlhn.options.training import BINNINGS, InputOptions

Array = NDArray[Any]
IGNORED_NUMBERS = (
    "nodes start from their degrees, as their features are numbers and no categories; start='features' counts them in "
    "bins, start='degree' is what is done now"
)


@dataclass(eq=False, repr=False)
class TreeTransformer(TransformerMixin, BaseEstimator):
    """The base. Its fields, and those of a subclass, are parameters as scikit-learn has them.

    A fit keeps `hierarchy_` (the tree), `start_` (what nodes start from), `counts_` (the fitted graphs) and `columns_`
    (names of labels).
    """

    depth: int = 5
    _: KW_ONLY
    start: Any = None
    edge_labels: bool = False
    directed: bool = False
    weights: Any = None
    binning: str = BINNINGS[0]
    bins: int = InputOptions.bins

    def _fit_tree(self, graphs: Any) -> ColourCounts:
        """Refine, and count."""
        check_depth(self.depth, self.weights)
        read, self.columns_ = read_graphs(graphs)
        numbers = read.edge_attr if self.edge_labels else None
        self.edge_filling_ = None if numbers is None else Filling.of(numbers)
        read = self._filled(read)
        names = value_names(graphs, read, self.columns_)
        start = self.start
        if start is None:
            start = default_start(read, self.columns_)
            if start == "degree" and read.x is not None:
                warnings.warn(IGNORED_NUMBERS, stacklevel=3)
        self.start_ = Start.fit(read, start, self.binning, self.bins, names)
        self.hierarchy_ = refine(
            read, int(self.depth), self.start_.values(read), bool(self.edge_labels), bool(self.directed)
        )
        self.counts_ = ColourCounts.of(self.hierarchy_)
        return self.counts_

    def colour_counts(self, graphs: Any) -> ColourCounts:
        """New graphs as counted colours of the fitted tree and of those that it lacks: `unseen` says how many."""
        check_is_fitted(self, "hierarchy_")
        new = self._filled(read_graphs(graphs, self.columns_)[0])
        values = self.start_.values(new)
        refined = refine(new, self.hierarchy_.depth, values, bool(self.edge_labels), bool(self.directed))
        return ColourCounts.of_new(self.hierarchy_, refined)

    def _filled(self, graphs: Graphs) -> Graphs:
        """Without gaps in the numbers of edges, where these are what is counted."""
        if not self.edge_labels or graphs.edge_label is not None or graphs.edge_attr is None:
            return graphs
        return replace(graphs, edge_attr=fill(self.edge_filling_, graphs.edge_attr)[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class MatrixTransformer(ClassNamePrefixFeaturesOutMixin, TreeTransformer):
    """The base of transformers whose columns are the fitted graphs: `fit_transform` gives the square matrix of these,
    `transform` a row for each new graph, as `SVC(kernel="precomputed")` takes them.
    """

    _kind: ClassVar[Kind]
    normalise: bool = True

    def fit(self, graphs: Any, y: Any = None) -> Any:
        """Keep the counted colours of these graphs; y is not looked at."""
        self._fit_tree(graphs)
        return self

    def fit_transform(self, graphs: Any, y: Any = None) -> Array:
        """(n, n) of the fitted graphs."""
        known = graphs.graphs if isinstance(graphs, Dataset) else graphs
        if isinstance(known, Sequence | Graphs):  # their number is known before any work
            check_fits(len(known), len(known))
        return self.fit(graphs).fitted_matrix()

    def fitted_matrix(self, report: Report = no_report) -> Array:
        """What `fit_transform` gives, after `fit`; `report` is told how many rows are done."""
        check_is_fitted(self)
        return self._matrix(self.counts_, None, report)

    def transform(self, graphs: Any) -> Array:
        """(m, n) of m new graphs against the n fitted ones."""
        return self._matrix(self.colour_counts(graphs), self.counts_, no_report)

    @property
    def _n_features_out(self) -> int:
        return len(self.counts_)

    def _matrix(self, a: ColourCounts, b: ColourCounts | None, report: Report) -> Array:
        """Similarities or distances of these graphs, or of these to those."""
        return compare_graphs(self._kind, a, b, weights=self.weights, normalised=self.normalise, report=report)


def check_depth(depth: Any, weights: Any) -> None:
    check_whole("depth", depth, 0)
    checked_weights(weights, int(depth))
