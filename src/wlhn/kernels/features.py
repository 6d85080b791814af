"""Explicit features of graphs as a scikit-learn transformer: one column, or a few, for each colour."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from wlhn.data.dataset import labels_of
from wlhn.hierarchy import colour_names
from wlhn.kernels.base import TreeTransformer
from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.dense import check_fits
from wlhn.kernels.explicit import Code, coded_rows, for_scikit_learn, largest_counts
from wlhn.options.checks import check_at_least, check_choice

Array = NDArray[Any]


@dataclass(eq=False, repr=False, kw_only=True)
class WLFeatures(TreeTransformer):
    """Colours of graphs as columns of a sparse matrix, depth by depth: for linear machines, where graphs are many.

    Products of rows are the WL subtree kernel (`code="counts"`) or the optimal assignment kernel (`"thermometer"`),
    normalised or not, of any two graphs of which one was fitted. `depth`, `start`, `edge_labels`, `binning` and `bins`
    are those of `WLKernel`.

    Args:
        weights: one number for each depth, by whose root its columns are multiplied; None: all 1.
        code: "counts" N; "log", log(1 + N); "thermometer", a 0/1 column for each k ≤ N.
        normalise: give rows length 1, colours that were not fitted included.
        min_graphs: leave out colours of fewer fitted graphs.
        sparse_output: a scipy matrix by rows; False for a dense array, which `set_output` needs.

    >>> import networkx as nx
    >>> features = WLFeatures(depth=1, sparse_output=False)
    >>> features.fit_transform([nx.path_graph(2), nx.path_graph(3)]).tolist()
    [[2.0, 0.0, 2.0, 0.0, 0.0], [2.0, 1.0, 0.0, 2.0, 1.0]]
    >>> features.get_feature_names_out().tolist()
    ['0.0 1', '0.1 2', '1.0 1 (1)', '1.1 1 (2)', '1.2 2 (2× 1)']
    """

    code: Code = "counts"
    normalise: bool = False
    min_graphs: int = 1
    sparse_output: bool = True

    def fit(self, graphs: Any, y: Any = None) -> WLFeatures:
        """Find the colours of these graphs; y is not looked at."""
        check_choice("code", self.code, *get_args(Code))
        check_at_least("min_graphs", self.min_graphs, 1)
        counts = self._fit_tree(graphs)
        graphs_with = np.bincount(counts.matrix.indices, minlength=counts.num_known)
        self.kept_ = np.flatnonzero(graphs_with >= self.min_graphs)
        self.steps_ = largest_counts(counts.matrix)[self.kept_] if self.code == "thermometer" else None
        return self

    def fit_transform(self, graphs: Any, y: Any = None) -> Any:
        """(n, columns) of the fitted graphs."""
        return self.fit(graphs)._rows(self.counts_)

    def transform(self, graphs: Any) -> Any:
        """(m, columns) of new graphs."""
        check_is_fitted(self, "kept_")
        return self._rows(self.colour_counts(graphs))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """`t.c substructure` for colour c of depth t (see `colour_names`); for thermometers with ` ≥ k` behind."""
        check_is_fitted(self, "kept_")
        hierarchy, edges = self.hierarchy_, labels_of(self.columns_, edge=True)
        if edges and hierarchy.edge_values is not None:
            labels = np.array([str(edges[value]) for value in hierarchy.edge_values.tolist()])
            hierarchy = replace(hierarchy, edge_values=labels)
        first = np.array([self.start_.describe(value) for value in hierarchy.initial_values], object)
        found = [colour_names(hierarchy, t, first[hierarchy.colours[0]]) for t in range(hierarchy.depth + 1)]
        names = np.array([f"{t}.{c} {name}" for t, part in enumerate(found) for c, name in enumerate(part)], object)
        names = names[self.kept_]
        if self.steps_ is None:
            return names
        return np.array(
            [f"{name} ≥ {k}" for name, top in zip(names, self.steps_, strict=True) for k in range(1, top + 1)], object
        )

    @property
    def colour_of_column_(self) -> Array:
        """(columns, 2): depth and number of the colour that a column stands for."""
        check_is_fitted(self, "kept_")
        colours = self.kept_ if self.steps_ is None else np.repeat(self.kept_, self.steps_)
        depth = self.counts_.depth_of_column[colours]
        return np.stack([depth, colours - self.counts_.first[depth]], axis=1)

    def _rows(self, counts: ColourCounts) -> Any:
        rows = coded_rows(counts, self.kept_, self.code, self.steps_, self.weights, self.normalise)
        if self.sparse_output:
            return for_scikit_learn(rows)
        check_fits(rows.shape[0], rows.shape[1], "leave sparse_output as it is, or take fewer depths or min_graphs")
        return rows.toarray()
