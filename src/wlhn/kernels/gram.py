"""Matrices of similarities and distances between graphs, from counted colours.

With N = N_t(G, c), M = N_t(H, c) and a weight w_t for each depth (1 if not told):

- WL subtree kernel (Shervashidze et al., JMLR 2011): Σ_t w_t Σ_c N M.
- Optimal assignment (Kriege, Giscard and Wilson, NIPS 2016): Σ_t w_t Σ_c min(N, M), the value of the best matching of
  nodes when a pair is worth the weight of the depths at which its colours agree.
- Tree Wasserstein: Σ_t w_t Σ_c |N / |G| − M / |H||, the cost of moving one graph's nodes to the other's in the tree
  whose edges at depth t have length w_t; with w = 1 that is transport under the WL distance. Divided by 2(T + 1) it is
  the distance of Togninalli et al. (NeurIPS 2019) for graphs with labels.

Numbers are float64. Counts and their products are then exact, so that no order of summation shows and equal graphs have
exactly similarity 1 and distance 0; and scikit-learn's kernel machines take the matrix as it is, where float32 would be
copied to float64 and so be in memory twice. Rows are made in blocks by threads, in place: there is one matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.kernels.colour_counts import ColourCounts, checked_weights
from wlhn.kernels.dense import zeros
from wlhn.loops.collation import transpose
from wlhn.loops.parallel import over_rows
from wlhn.loops.similarities import (
    LEAST,
    LEAST_SHARE,
    PRODUCT,
    TILE,
    add_shared_colours,
    distances_from_shared,
    divide_by_lengths,
    mirror,
)
from wlhn.options.checks import check_choice

Array = NDArray[Any]
Kind = Literal["wl", "oa", "wasserstein"]
Report = Callable[[int, int], None]  # rows done, rows in all
BLOCK = 1024  # rows between two reports
COMMON = 4  # a colour is common if one graph in so many has it


def no_report(done: int, total: int) -> None:
    pass


def compare_graphs(
    kind: Kind,
    a: ColourCounts,
    b: ColourCounts | None = None,
    *,
    weights: ArrayLike | None = None,
    normalised: bool = True,
    report: Report = no_report,
) -> Array:
    """A kernel, or the tree Wasserstein distance, between the graphs of a and of b (without b, of a).

    Args:
        kind: "wl", "oa" or "wasserstein".
        a: counts of n graphs.
        b: counts of m graphs in the same hierarchy; colours that it lacks are taken to be others than those of a.
        weights: (T + 1,) one for each depth; all 1 without.
        normalised: divide a kernel by the root of k(G, G) k(H, H); for a distance, let every graph weigh 1, as
            transport needs it. Without, counts are compared as they are (a distance is Σ |N − M|).
        report: is told how many rows are done.

    Returns:
        (n, m)

    >>> import networkx as nx, wlhn
    >>> counts = ColourCounts.of(wlhn.refine([nx.path_graph(2), nx.path_graph(4)], 1))
    >>> {kind: compare_graphs(kind, counts, normalised=False).tolist() for kind in get_args(Kind)}
    {'wl': [[8.0, 12.0], [12.0, 24.0]], 'oa': [[4.0, 4.0], [4.0, 8.0]], 'wasserstein': [[0.0, 4.0], [4.0, 0.0]]}
    >>> compare_graphs("wasserstein", counts).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    other = a if b is None else b
    out = zeros(len(a), len(other))
    _add_shared(_loop(kind, normalised), out, a, b, weights, report)
    return _finished(kind, out, a, other, weights, normalised)


def depth_by_depth(
    kind: Kind, a: ColourCounts, b: ColourCounts | None = None, *, normalised: bool = True
) -> Iterator[Array]:
    """The matrices up to depth 0, 1, …, T, for the price of the last: for choosing a depth.

    Args:
        kind: "wl", "oa" or "wasserstein".
        a: counts of n graphs.
        b: counts of m graphs, as for `compare_graphs`.
        normalised: as for `compare_graphs`.

    Yields:
        (n, m), a new one each time; weights are 1.

    >>> import networkx as nx, wlhn
    >>> counts = ColourCounts.of(wlhn.refine([nx.path_graph(2), nx.path_graph(3)], 1))
    >>> [matrix.tolist() for matrix in depth_by_depth("oa", counts, normalised=False)]
    [[[2.0, 2.0], [2.0, 3.0]], [[4.0, 4.0], [4.0, 6.0]]]
    """
    shared, depths = zeros(len(a), len(a if b is None else b)), np.arange(a.depth + 1)
    for t in depths:
        _add_shared(_loop(kind, normalised), shared, a, b, depths == t, no_report)
        yield _finished(kind, shared.copy(), a, a if b is None else b, depths <= t, normalised)


def self_similarity(kind: Kind, counts: ColourCounts, weights: ArrayLike | None = None) -> Array:
    """(graphs,) k(G, G) of the kernel "wl" or "oa", colours that no fitted graph has included.

    >>> import networkx as nx, wlhn
    >>> self_similarity("wl", ColourCounts.of(wlhn.refine(nx.path_graph(3), 1))).tolist()
    [14.0]
    """
    n = counts.matrix.data.astype(np.float64)
    return counts.sum_over_colours(n * n if kind == "wl" else n, weights)


def normalise(matrix: Array, own: Array, other: Array) -> Array:
    """A new matrix, k(G, H) / √(k(G, G) k(H, H)).

    Args:
        matrix: (n, m) similarities
        own: (n,) similarities of the rows' graphs to themselves
        other: (m,) those of the columns' graphs

    >>> normalise(np.array([[3.0]]), np.array([4.0]), np.array([9.0])).tolist()
    [[0.5]]
    """
    out = np.array(matrix, dtype=np.float64)
    over_rows(divide_by_lengths, len(out), out.size, np.asarray(own, float), np.asarray(other, float), out)
    return out


def _loop(kind: Kind, normalised: bool) -> int:
    """What the loop has to sum for a kind."""
    check_choice("kind", kind, *get_args(Kind))
    return PRODUCT if kind == "wl" else LEAST_SHARE if kind == "wasserstein" and normalised else LEAST


def _finished(
    kind: Kind, out: Array, a: ColourCounts, b: ColourCounts, weights: ArrayLike | None, normalised: bool
) -> Array:
    """From what graphs share to what the kind says, in place."""
    if kind == "wasserstein":
        total = float(checked_weights(weights, a.depth).sum()) if normalised else 0.0
        weigh = [_sizes(x) if normalised else self_similarity("oa", x, weights) for x in (a, b)]
        over_rows(distances_from_shared, len(a), out.size, *weigh, total, out)
    elif normalised:
        lengths = (self_similarity(kind, x, weights) for x in (a, b))
        over_rows(divide_by_lengths, len(a), out.size, *lengths, out)
    return out


def _sizes(counts: ColourCounts) -> Array:
    return counts.num_nodes.astype(np.float64)


def _common_colours(counts: ColourCounts) -> tuple[Array, Array]:
    """(number of each common colour, −1 of others; counts of common colours in all graphs, a row each)."""
    times = np.bincount(counts.matrix.indices, minlength=counts.matrix.shape[1])
    common = np.flatnonzero(times > len(counts) / COMMON)
    number = np.full(len(times), -1, np.int32)
    number[common] = np.arange(len(common))
    return number, np.ascontiguousarray(counts.matrix[:, common].toarray().T, dtype=np.float64)


def _add_shared(
    kind: int, out: Array, a: ColourCounts, b: ColourCounts | None, weights: ArrayLike | None, report: Report
) -> None:
    """out += what graphs share, in blocks of rows."""
    other = a if b is None else b
    if not np.array_equal(a.first, other.first):
        raise InputError("colour counts: both must be of one hierarchy")
    m = other.matrix
    ptr, graph, count = transpose(m.indptr, m.indices, m.data, m.shape[1])
    columns = ptr if b is None else ptr[: other.num_known + 1], graph.view(np.uint32), count
    triangle, n = b is None, len(a)
    # In a triangle the first row is the longest: rows from both ends in turn make blocks, and halves of blocks, alike.
    rows = np.stack([np.arange(n), np.arange(n)[::-1]], axis=1).reshape(-1)[:n] if triangle else np.arange(n)
    rest = (a.matrix.indptr, a.matrix.indices, a.matrix.data, *columns, a.column_weights(weights))
    sizes, common = (_sizes(a), _sizes(other)), _common_colours(other)
    pairs = (np.bincount(x.matrix.indices, minlength=x.matrix.shape[1])[: a.num_known] for x in (a, other))
    work = int(np.dot(*(times.astype(float) for times in pairs)) * BLOCK / max(n, BLOCK))
    for start in range(0, n, BLOCK):
        block = rows[start : start + BLOCK]
        over_rows(add_shared_colours, len(block), work, kind, block, *rest, *sizes, *common, triangle, out)
        report(min(start + BLOCK, n), n)
    if triangle:
        over_rows(mirror, (n + TILE - 1) // TILE, out.size, out)
