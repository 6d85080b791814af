"""Compare graphs once: matrices of all graphs of a hierarchy, kept for whoever asks for them again.

How alike two graphs are depends on these two alone. So one matrix serves all splits of a data set, and all penalties:
the jobs of an evaluation take their rows and columns from it. As many matrices are kept as a share of the free memory
holds, so that those of all depths serve fold after fold.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from wlhn.hierarchy import Hierarchy
from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.matching import cut

Array = NDArray[Any]
KEPT_SHARE = 0.2  # of the memory that is free, over all kept matrices; whoever comes later finds less of it free
_kept: OrderedDict[tuple[str, Hierarchy, int], Array] = OrderedDict()
_last_square: tuple[Array, Array, Array] | None = None  # a kept matrix, some of its graphs, their square
_lock = Lock()


def can_keep(hierarchy: Hierarchy) -> bool:
    """Whether a matrix of all graphs of a hierarchy is small enough to be kept."""
    return 8 * hierarchy.num_graphs**2 <= _room()


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
    matrix = compare(ColourCounts.of(cut(hierarchy, depth)))
    matrix.flags.writeable = False
    with _lock:
        _kept[key] = matrix
        while len(_kept) > 1 and sum(each.nbytes for each in _kept.values()) > _room():
            _kept.popitem(last=False)
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


def _room() -> float:
    """Bytes for all kept matrices."""
    return KEPT_SHARE * psutil.virtual_memory().available
