"""Numbers as categories: colours are equal or not, so numbers have to fall into bins before they can be refined.

Bins are fixed on the graphs of the fit and the same for all others. A column (or, for k-means, a set of rows) with no
more different values than there are bins keeps them apart, each with the values nearest to it; so one-hot columns stay
what they are. Everything is plain numbers, so that it can be kept in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Quantiles:
    """Each column by itself, into bins that hold about equally many nodes.

    >>> bins = Quantiles.fit(np.array([[0.0], [1.0], [2.0], [9.0]]), 2)
    >>> bins.codes(np.array([[1.4], [1.6], [100.0]])).tolist(), bins.describe([0])
    ([[0], [1], [1]], ['≤ 1.5'])
    """

    edges: tuple[tuple[float, ...], ...]  # of each column; a value belongs below the first edge that is not less

    @staticmethod
    def fit(values: Array, bins: int) -> Quantiles:
        edges = []
        for column in values.T:
            distinct = np.unique(column)
            if len(distinct) <= bins:
                edges.append((distinct[1:] + distinct[:-1]) / 2)
            else:
                found = np.unique(np.quantile(column, np.linspace(0, 1, bins + 1)[1:-1]))
                edges.append(found[found < distinct[-1]])  # above the largest value there would be an empty bin
        return Quantiles(tuple(tuple(each.tolist()) for each in edges))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many bins each column of codes has."""
        return tuple(len(edges) + 1 for edges in self.edges)

    def codes(self, values: Array) -> Array:
        """(rows, columns) numbers of bins."""
        return np.stack([np.searchsorted(e, c) for e, c in zip(self.edges, values.T, strict=True)], axis=1)

    def describe(self, codes: Any) -> list[str]:
        """The bins of one row in words, one for each column."""
        return [_interval(edges, int(code)) for edges, code in zip(self.edges, codes, strict=True)]


@dataclass(frozen=True)
class KMeans:
    """All columns together, into clusters of rows; columns are divided by their deviations first.

    >>> bins = KMeans.fit(np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]]), 2)
    >>> bins.codes(np.array([[4.0, 4.0], [0.2, 0.1]])).tolist()
    [[1], [0]]
    """

    centres: tuple[tuple[float, ...], ...]  # of each cluster, a number for each column; in ascending order
    deviation: tuple[float, ...]  # of each column

    @staticmethod
    def fit(values: Array, bins: int) -> KMeans:
        from sklearn.cluster import KMeans as Clusters

        deviation = values.std(axis=0)
        deviation[deviation == 0] = 1
        rows, times = np.unique(values / deviation, axis=0, return_counts=True)  # sorted: no order of nodes shows
        if len(rows) > bins:
            rows = Clusters(bins, random_state=0, n_init=1).fit(rows, sample_weight=times).cluster_centers_
        centres = rows[np.lexsort(rows.T[::-1])]
        return KMeans(tuple(map(tuple, centres.tolist())), tuple(deviation.tolist()))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many clusters there are."""
        return (len(self.centres),)

    def codes(self, values: Array) -> Array:
        """(rows, 1) numbers of clusters."""
        from sklearn.metrics import pairwise_distances_argmin

        return pairwise_distances_argmin(values / np.array(self.deviation), np.array(self.centres))[:, None]

    def describe(self, codes: Any) -> list[str]:
        """The cluster of one row, by the middle of it."""
        centre = np.array(self.centres[int(codes[0])]) * self.deviation
        return ["≈ " + ", ".join(f"{x:.3g}" for x in centre)]


def fit_bins(values: Array, binning: str, bins: int) -> Quantiles | KMeans:
    """Bins of (rows, columns) numbers: "quantiles" or "k-means"."""
    return (Quantiles if binning == "quantiles" else KMeans).fit(np.asarray(values, np.float64), bins)


def _interval(edges: tuple[float, ...], code: int) -> str:
    if not edges:
        return "any"
    if code == 0:
        return f"≤ {edges[0]:.4g}"
    return f"> {edges[-1]:.4g}" if code == len(edges) else f"{edges[code - 1]:.4g} … {edges[code]:.4g}"
