"""Explicit features of graphs: rows whose products are a kernel, so that a linear machine does what a kernel one does.

Counts N_t(G, c) are such features for the WL subtree kernel. For optimal assignment it takes thermometers: a colour has
one column for each k up to its largest count, which is 1 where N ≥ k, because min(N, M) = Σ_k [N ≥ k][M ≥ k].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]


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
