"""Compare graphs once: matrices of all graphs of a hierarchy, kept for whoever asks for them again.

How alike two graphs are depends on these two alone. So one matrix serves all splits of a data set, and all penalties:
the jobs of an evaluation take their rows and columns from it. Those of all depths are kept, up to two gigabytes, so
that they serve fold after fold.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.hierarchy import Hierarchy
from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.matching import cut

Array = NDArray[Any]
KEPT_NUMBERS = 250_000_000  # over all kept matrices, 8 bytes each: those of ten depths of 5,000 graphs
_kept: OrderedDict[tuple[str, Hierarchy, int], Array] = OrderedDict()
_last_square: tuple[Array, Array, Array] | None = None  # a kept matrix, some of its graphs, their square
_lock = Lock()


def can_keep(hierarchy: Hierarchy) -> bool:
    """Whether a matrix of all graphs of a hierarchy is small enough to be kept."""
    return hierarchy.num_graphs**2 <= KEPT_NUMBERS


def kept_matrix(kind: str, hierarchy: Hierarchy, depth: int, compare: Callable[[ColourCounts], Array]) -> Array:
    """What `compare` says of all graphs of this very hierarchy up to a depth: made once, then kept; nobody may change
    it.

    >>> import networkx as nx, wlhn
    >>> from wlhn.kernels import compare_graphs
    >>> hierarchy = wlhn.refine([nx.path_graph(2), nx.path_graph(3)], 1)
    >>> one, other = (kept_matrix("oa", hierarchy, 1, lambda counts: compare_graphs("oa", counts)) for _ in range(2))
    >>> one is other
    True
    """
    key = (kind, hierarchy, depth)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    global _last_square
    matrix = compare(ColourCounts.of(cut(hierarchy, depth)))
    matrix.flags.writeable = False
    with _lock:
        _kept[key] = matrix
        while len(_kept) > 1 and sum(each.size for each in _kept.values()) > KEPT_NUMBERS:
            _, dropped = _kept.popitem(last=False)
            if _last_square is not None and _last_square[0] is dropped:
                _last_square = None
    return matrix


def square_of(matrix: Array, graphs: Array) -> Array:
    """Rows and columns of some graphs in a kept matrix; the last square stays, for the next penalty asks for it again.

    >>> square_of(np.arange(9.0).reshape(3, 3), np.array([0, 2])).tolist()
    [[0.0, 2.0], [6.0, 8.0]]
    """
    global _last_square
    last = _last_square
    if last is None or last[0] is not matrix or not np.array_equal(last[1], graphs):
        _last_square = last = None  # before there is another
        _last_square = last = matrix, graphs, matrix[np.ix_(graphs, graphs)]
        last[2].flags.writeable = False
    return last[2]
