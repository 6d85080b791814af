"""Compare graphs once: matrices of all graphs of a hierarchy, kept for whoever asks for them again.

How alike two graphs are depends on these two alone. So one matrix serves all splits of a data set, and all penalties:
the jobs of an evaluation take their rows and columns from it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from numpy.typing import NDArray

from wlhn.hierarchy import Hierarchy
from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.matching import cut

Array = NDArray[Any]
KEPT_NUMBERS = 60_000_000  # over all kept matrices, 8 bytes each
_kept: OrderedDict[tuple[str, Hierarchy, int], Array] = OrderedDict()
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
    matrix = compare(ColourCounts.of(cut(hierarchy, depth)))
    matrix.flags.writeable = False
    with _lock:
        _kept[key] = matrix
        while len(_kept) > 1 and sum(each.size for each in _kept.values()) > KEPT_NUMBERS:
            _kept.popitem(last=False)
    return matrix
