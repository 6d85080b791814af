"""Compare graphs once: matrices of the same counted colours, kept for whoever asks for them again.

The jobs of an evaluation that differ in a penalty alone have one matrix, and come one after the other.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.kernels.colour_counts import ColourCounts

Array = NDArray[Any]
KEPT_NUMBERS = 60_000_000  # over all kept matrices, 8 bytes each
_kept: OrderedDict[str, Array] = OrderedDict()
_lock = Lock()


def kept_matrix(kind: str, counts: ColourCounts, compare: Callable[[ColourCounts], Array]) -> Array:
    """compare(counts), a square matrix that nobody may change: made once for these counts, then kept.

    >>> import networkx as nx, wlhn
    >>> from wlhn.kernels import oa_gram
    >>> counts = ColourCounts.of(wlhn.refine([nx.path_graph(2), nx.path_graph(3)], 1))
    >>> kept_matrix("oa", counts, oa_gram) is kept_matrix("oa", counts, oa_gram)
    True
    """
    digest = hashlib.blake2b(kind.encode())
    for part in counts.to_arrays().values():
        digest.update(repr(part.shape).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    key = digest.hexdigest()
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    matrix = compare(counts)
    matrix.flags.writeable = False
    with _lock:
        _kept[key] = matrix
        while len(_kept) > 1 and sum(each.size for each in _kept.values()) > KEPT_NUMBERS:
            _kept.popitem(last=False)
    return matrix


def forget_matrices() -> None:
    """Forget all matrices that are kept."""
    with _lock:
        _kept.clear()
