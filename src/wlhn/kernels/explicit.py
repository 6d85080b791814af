"""Explicit features of graphs: rows whose products are a kernel, so that a linear machine does what a kernel one does.

Counts N_t(G, c) are such features for the WL subtree kernel. For optimal assignment it takes thermometers: a colour has
one column for each k up to its largest count, which is 1 where N ≥ k, because min(N, M) = Σ_k [N ≥ k][M ≥ k].
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from wlhn.kernels.colour_counts import ColourCounts

Array = NDArray[Any]
Code = Literal["log", "counts", "thermometer"]


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
