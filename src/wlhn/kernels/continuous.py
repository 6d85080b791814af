"""Continuous WL and exact transport: graphs whose nodes carry numbers, without bins.

Togninalli et al., "Wasserstein Weisfeiler-Lehman graph kernels", NeurIPS 2019: a node's row at depth t + 1 is the mean
of its own row and of the mean of its neighbours' rows at depth t; a node is its rows of depths 0 … T side by side;
graphs are as far apart as it costs to move one's nodes to the other's, a step costing its Euclidean length. A node
without neighbours keeps its row. Every pair of graphs is a transport problem of its own, solved by POT (`ot.emd2`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.kernels.colour_counts import checked_weights
from wlhn.kernels.dense import zeros
from wlhn.kernels.gram import Report, no_report
from wlhn.loops.parallel import SMALL, over_rows
from wlhn.loops.similarities import TILE, mirror

Array = NDArray[Any]
MOST_STEPS = 10_000_000  # of the network simplex


def smoothed_rows(graphs: Graphs, values: Array, depth: int, weights: ArrayLike | None = None) -> Array:
    """(nodes, (T + 1) · columns): rows of all depths side by side, those of depth t times weights[t].

    >>> path = Graphs.from_edges([[0, 1], [1, 0]])
    >>> smoothed_rows(path, np.array([[0.0], [4.0]]), 1).tolist()
    [[0.0, 2.0], [4.0, 2.0]]
    """
    from scipy import sparse

    lengths = checked_weights(weights, depth)
    n, degree = graphs.num_nodes, graphs.degree
    ones = np.ones(graphs.num_edges)
    around = sparse.csr_array((ones, graphs.neighbour, graphs.row_ptr), shape=(n, n))
    rows = [np.asarray(values, np.float64)]
    for _ in range(depth):
        mean = np.where(degree[:, None] > 0, (around @ rows[-1]) / np.maximum(degree, 1)[:, None], rows[-1])
        rows.append((rows[-1] + mean) / 2)
    return np.concatenate([w * row for w, row in zip(lengths, rows, strict=True)], axis=1)


def transport(a: list[Array], b: list[Array] | None = None, report: Report = no_report) -> Array:
    """Wasserstein distances between sets of points, each set weighing 1.

    Args:
        a: n arrays (points, columns)
        b: m of them; without, those of a
        report: is told how many rows are done

    Returns:
        (n, m)

    >>> transport([np.array([[0.0]]), np.array([[0.0], [1.0]])]).round(6).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    ot = _library()
    other, triangle = (a if b is None else b), b is None
    out = zeros(len(a), len(other))

    def fill(first: int, last: int, i: int) -> None:
        for j in range(first + (i + 1 if triangle else 0), last + (i + 1 if triangle else 0)):
            out[i, j] = _cost(ot, a[i], other[j])

    for i in range(len(a)):
        over_rows(fill, len(other) - (i + 1 if triangle else 0), SMALL * len(other), i)
        report(i + 1, len(a))
    if triangle:
        over_rows(mirror, (len(out) + TILE - 1) // TILE, out.size, out)
    return out


def _cost(ot: Any, x: Array, y: Array) -> float:
    from scipy.spatial.distance import cdist

    if x.shape == y.shape and (x == y).all():
        return 0.0
    even = [np.full(len(points), 1 / len(points)) for points in (x, y)]
    return float(ot.emd2(*even, cdist(x, y), numItermax=MOST_STEPS))


def _library() -> Any:
    try:
        import ot
    except ImportError:
        raise InputError(
            "continuous transport needs POT: install it with `pip install 'wlhn[transport]'`, or use bins"
        ) from None
    return ot
