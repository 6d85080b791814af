"""Transport between graphs as a scikit-learn transformer: under the WL distance, or of rows of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from wlhn.data.features import Filling, fill
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.kernels.base import MatrixTransformer, check_depth
from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.continuous import smoothed_rows, transport
from wlhn.kernels.gram import Report, no_report
from wlhn.kernels.reading import read_graphs
from wlhn.kernels.start import chosen_columns, named_columns

Array = NDArray[Any]


@dataclass(eq=False, repr=False, kw_only=True)
class TreeWasserstein(MatrixTransformer):
    """The Wasserstein distance of graphs in the tree of colours, or a kernel made of it.

    `depth`, `start`, `edge_labels`, `directed`, `binning` and `bins` are those of `WLKernel`; `continuous` has no edge
    labels, directions, bins or unequal weights of graphs.

    Args:
        weights: lengths of the tree's edges, one for each depth; None: all 1, the WL distance.
        normalise: let each graph weigh 1; without, counts are compared as they are.
        gamma: None for distances d, a number for the kernel exp(−gamma d). On the tree it is positive definite.
        continuous: take columns of x (all, or those of `start`) as numbers instead of bins: continuous WL with exact
            transport for each pair of graphs (Togninalli et al. 2019; needs POT). Columns get mean 0 and deviation 1 as
            measured in the fit; a missing number is the mean, and 1 in a 0/1 column beside it. The kernel is then not
            sure to be positive definite.

    >>> import networkx as nx
    >>> graphs = [nx.path_graph(2), nx.path_graph(4)]
    >>> TreeWasserstein(depth=1, start="uniform").fit_transform(graphs).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    >>> TreeWasserstein(depth=1, start="uniform", gamma=2.0).fit(graphs).transform(graphs[:1]).round(3).tolist()
    [[1.0, 0.135]]
    """

    _kind = "wasserstein"
    gamma: float | None = None
    continuous: bool = False

    def fit(self, graphs: Any, y: Any = None) -> Any:
        """Keep the counted colours (or, if continuous, the rows) of these graphs; y is not looked at."""
        if self.gamma is not None and not (np.isfinite(self.gamma) and self.gamma > 0):
            raise InputError(f"gamma: expected a number above 0, or None for distances, found {self.gamma}")
        if not self.continuous:
            self._fit_tree(graphs)
            return self
        usual, given = type(self)().get_params(), self.get_params()
        for name in ("edge_labels", "directed", "normalise", "binning", "bins"):
            if given[name] != usual[name]:
                raise InputError(f"{name}={given[name]}: continuous transport has no such thing; leave it out")
        check_depth(self.depth, self.weights)
        read, self.columns_ = read_graphs(graphs)
        self.attributes_ = self._attributes(read)
        values = chosen_columns(read, self.attributes_)
        self.filling_ = Filling.of(values)
        values, _ = fill(self.filling_, values)
        self.mean_, self.deviation_ = values.mean(axis=0), values.std(axis=0)
        self.deviation_[self.deviation_ == 0] = 1
        gaps = slice(len(self.attributes_), None)  # stay 0 and 1: a rare gap would be far from everything
        self.mean_[gaps], self.deviation_[gaps] = 0, 1
        self.points_ = self._points(read)
        return self

    def fitted_matrix(self, report: Report = no_report) -> Array:
        """What `fit_transform` gives, after `fit`; `report` is told how many rows are done."""
        if not self.continuous:
            return super().fitted_matrix(report)
        check_is_fitted(self, "points_")
        return self._similar(transport(self.points_, report=report))

    def transform(self, graphs: Any) -> Array:
        """(m, n) of m new graphs against the n fitted ones."""
        if not self.continuous:
            return super().transform(graphs)
        check_is_fitted(self, "points_")
        return self._similar(transport(self._points(read_graphs(graphs, self.columns_)[0]), self.points_))

    @property
    def _n_features_out(self) -> int:
        return len(self.points_ if self.continuous else self.counts_)

    def _matrix(self, a: ColourCounts, b: ColourCounts | None, report: Report) -> Array:
        return self._similar(super()._matrix(a, b, report))

    def _similar(self, distance: Array) -> Array:
        """In place: there is one matrix."""
        if self.gamma is not None:
            distance *= -self.gamma
            np.exp(distance, out=distance)
        return distance

    def _attributes(self, graphs: Graphs) -> tuple[int, ...]:
        named = named_columns(graphs, "features" if self.start is None else self.start)
        columns = tuple(c for c in named if isinstance(c, int))
        if len(columns) < len(named) or not columns:
            raise InputError(f"start: continuous transport takes columns of node features, found {self.start!r}")
        return columns

    def _points(self, graphs: Graphs) -> list[Array]:
        values, _ = fill(self.filling_, chosen_columns(graphs, self.attributes_))
        rows = smoothed_rows(graphs, (values - self.mean_) / self.deviation_, int(self.depth), self.weights)
        return np.split(rows, graphs.node_ptr[1:-1])
