"""Refine once: the colours of encoded graphs, kept for whoever asks for the same again.

Refinement depends on the graphs' structure, on which nodes start alike (and in which order), on which edges are alike,
and on the depth; not on the numbers themselves. Standardised features of another fold have the same start, so the jobs
of an evaluation, whatever their split, share one hierarchy for each depth.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wlhn.batching.quotient import Quotient
from wlhn.graphs import Graphs
from wlhn.hierarchy import Hierarchy, refine
from wlhn.hierarchy.refinement import edge_values_of, encode

KEPT_STARTS = 8  # codes of nodes, for as many matrices of features
KEPT_NUMBERS = 50_000_000  # colours of nodes over all kept hierarchies, 4 bytes each
_kept: OrderedDict[str, Hierarchy] = OrderedDict()
_starts: OrderedDict[str, NDArray[Any]] = OrderedDict()
_lock = Lock()


def make_quotient(graphs: Graphs, x: NDArray[Any], depth: int, edges: bool = False, nodes: bool = False) -> Quotient:
    """Refine graphs from the rows of x, exactly what a model of this depth can tell apart, and make them ready.

    With `edges`, edge labels (or rows of edge_attr) count, one-hot unless they are categories already.

    >>> path = Graphs.from_edges([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> make_quotient(path, np.ones((3, 1), np.float32), depth=1).batch([0]).num_rows
    [1, 2]
    """
    start = _start_code(x, graphs.num_nodes)
    edge_code, edge_x = None, None
    if edges:
        edge_code, values = encode("edges", edge_values_of(graphs, True), graphs.num_edges)
        edge_x = torch.from_numpy(values if values.ndim == 2 else np.arange(len(values))[:, None])
    hierarchy = refined(graphs, start, depth, edge_code)
    return Quotient(hierarchy, torch.from_numpy(np.array(x[hierarchy.representatives[0]])), edge_x, nodes)


def refined(graphs: Graphs, start: NDArray[Any], depth: int, edge_code: NDArray[Any] | None = None) -> Hierarchy:
    """The hierarchy of graphs from a code for each node (and edge): made once, then kept."""
    key = _key(graphs, start, depth, edge_code)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    hierarchy = refine(graphs, depth, initial=start, edge_labels=False if edge_code is None else edge_code)
    with _lock:
        _kept[key] = hierarchy
        while len(_kept) > 1 and sum(_numbers(each) for each in _kept.values()) > KEPT_NUMBERS:
            _kept.popitem(last=False)
    return hierarchy


def forget_hierarchies() -> None:
    """Forget all hierarchies that are kept."""
    with _lock:
        _kept.clear()
        _starts.clear()


def _numbers(hierarchy: Hierarchy) -> int:
    return hierarchy.num_nodes * (hierarchy.depth + 1)


def _key(graphs: Graphs, start: NDArray[Any], depth: int, edge_code: NDArray[Any] | None) -> str:
    parts = [graphs.node_ptr, graphs.row_ptr, graphs.neighbour, start, *([] if edge_code is None else [edge_code])]
    return _digest((depth, edge_code is None), *parts)


def _digest(about: Any, *parts: NDArray[Any]) -> str:
    digest = hashlib.blake2b(repr(about).encode())
    for part in parts:
        digest.update(repr((part.dtype.str, part.shape)).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _start_code(x: NDArray[Any], num_nodes: int) -> NDArray[Any]:
    """A code for each node, the same for equal rows of x: to sort rows of numbers takes longer than to hash them."""
    start = _start(x)
    if start is not x:
        return encode("x", start, num_nodes)[0]
    key = _digest(num_nodes, x)
    with _lock:
        found = _starts.get(key)
    if found is None:
        found, _ = encode("x", x, num_nodes)
        with _lock:
            _starts[key] = found
            while len(_starts) > KEPT_STARTS:
                _starts.popitem(last=False)
    return found


def _start(x: NDArray[Any]) -> NDArray[Any]:
    """A start that separates nodes just as the rows of x do: one-hot rows are cheaper to tell apart by their column."""
    if x.shape[1] > 1 and np.issubdtype(x.dtype, np.floating):
        column = x.argmax(axis=1)
        if np.count_nonzero(x) == len(x) and (x[np.arange(len(x)), column] == 1).all():
            return column
    return x
