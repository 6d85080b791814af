"""Explicit features of graphs: rows whose products are a kernel, so that a linear machine does what a kernel one does.

Counts N_t(G, c) are such features for the WL subtree kernel. For optimal assignment it takes thermometers: a colour has
one column for each k up to its largest count, which is 1 where N ≥ k, because min(N, M) = Σ_k [N ≥ k][M ≥ k].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from wlhn.data.columns import labels_of
from wlhn.hierarchy import colour_names
from wlhn.kernels.base import TreeTransformer
from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.dense import check_fits
from wlhn.options.checks import check_choice, check_whole

Array = NDArray[Any]
Code = Literal["log", "counts", "thermometer"]


@dataclass(eq=False, repr=False, kw_only=True)
class WLFeatures(TreeTransformer):
    """Colours of graphs as columns of a sparse matrix, depth by depth: for linear machines, where graphs are many.

    Products of rows are the WL subtree kernel (`code="counts"`) or the optimal assignment kernel (`"thermometer"`),
    normalised or not, of any two graphs of which one was fitted. `depth`, `start`, `edge_labels`, `directed`, `binning`
    and `bins` are those of `WLKernel`.

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
        check_whole("min_graphs", self.min_graphs, 1)
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


def largest_counts(counts: sparse.csr_array) -> Array:
    """(colours,) the largest count of each.

    >>> largest_counts(sparse.csr_array([[2, 0], [1, 3]])).tolist()
    [2, 3]
    """
    return counts.max(axis=0).toarray().reshape(-1).astype(np.int64)


def thermometer(counts: sparse.csr_array, steps: Array | None = None) -> sparse.csr_array:
    """Counts (graphs, colours) as 0/1 columns, those of a colour side by side.

    Args:
        counts: whole numbers, sparse.
        steps: (colours,) how many columns each colour has; its largest count here without. Larger counts stop there:
            products with graphs that have no larger count are the same.

    >>> thermometer(sparse.csr_array([[2, 0], [1, 3]])).toarray().astype(int).tolist()
    [[1, 1, 0, 0, 0], [1, 0, 1, 1, 1]]
    """
    steps = largest_counts(counts) if steps is None else np.asarray(steps)
    first = np.concatenate([[0], np.cumsum(steps)])
    lit = np.minimum(counts.data, steps[counts.indices])
    end = np.cumsum(lit)
    column = np.arange(end[-1] if len(end) else 0) + np.repeat(first[counts.indices] - end + lit, lit)
    ptr = np.concatenate([[0], end])[counts.indptr]
    return sparse.csr_array((np.ones(len(column)), column, ptr), shape=(counts.shape[0], int(first[-1])))


def coded_rows(
    counts: ColourCounts,
    kept: Array,
    code: Code,
    steps: Array | None = None,
    weights: ArrayLike | None = None,
    normalised: bool = False,
) -> sparse.csr_array:
    """Graphs as rows of features.

    Args:
        counts: of n graphs.
        kept: numbers of the colours that have columns.
        code: "counts" N; "log", log(1 + N); "thermometer".
        steps: (kept,) columns of each colour in a thermometer.
        weights: (T + 1,) one for each depth, by whose root its columns are multiplied.
        normalised: give rows length 1, all colours of a graph counted, whether they have columns or not.

    >>> import networkx as nx, wlhn
    >>> star = ColourCounts.of(wlhn.refine(nx.star_graph(3), 1))
    >>> coded_rows(star, np.array([0, 1]), "counts", normalised=True).toarray().round(2).tolist()
    [[0.78, 0.2]]
    """
    weight, columns = counts.column_weights(weights), counts.matrix[:, kept]
    if steps is not None:
        rows, root = thermometer(columns, steps), np.sqrt(np.repeat(weight[kept], steps))
    else:
        rows, root = columns.astype(np.float64), np.sqrt(weight[kept])
        rows.data = np.log1p(rows.data) if code == "log" else rows.data
    rows.data *= root[rows.indices]
    if normalised:
        n = counts.matrix.data.astype(np.float64)
        squares = {"counts": n * n, "log": np.log1p(n) ** 2, "thermometer": n}[code]
        length = np.sqrt(counts.sum_over_colours(squares, weights))
        rows.data /= np.repeat(length, np.diff(rows.indptr))
    return rows


def for_scikit_learn(rows: Any) -> sparse.csr_matrix:
    """Its compiled machines take 32-bit indices."""
    out = sparse.csr_matrix(rows)
    if max(out.nnz, *out.shape) < 2**31:
        out.indices, out.indptr = out.indices.astype(np.int32), out.indptr.astype(np.int32)
    return out
