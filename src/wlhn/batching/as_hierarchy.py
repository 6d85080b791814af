"""A batch of colours read as a hierarchy again, for what looks at the tree and not at features."""

from __future__ import annotations

import numpy as np

from wlhn.batching.colour_batch import ColourBatch, ColourLevel
from wlhn.hierarchy import Hierarchy
from wlhn.hierarchy.hierarchy import Signature


def hierarchy_of(batch: ColourBatch) -> Hierarchy:
    """The hierarchy of the graphs of a batch; their nodes come in the order of their colours, or, where the batch
    knows its nodes, in theirs.

    >>> import networkx as nx, torch, wlhn
    >>> from wlhn.batching.quotient import Quotient
    >>> quotient = Quotient(wlhn.refine([nx.path_graph(4), nx.cycle_graph(5)], 2), x=torch.ones(1, 1))
    >>> hierarchy_of(quotient.batch([0]))
    Hierarchy(4 nodes, colours per depth [1, 2, 2])
    """
    if batch.node_row is None:
        times = batch.graph_counts.value.numpy().astype(np.int64)
        colours = [np.repeat(batch.graph_counts.index.numpy(), times).astype(np.int32)]
        node_ptr = np.concatenate([[0], np.cumsum(times)])[batch.graph_counts.ptr.numpy()]
    else:
        colours, node_ptr = [batch.node_row.numpy().astype(np.int32)], np.array([0, len(batch.node_row)])
    for level in reversed(batch.levels):
        colours.insert(0, level.parent.numpy()[colours[0]].astype(np.int32))
    parents = [np.zeros(len(batch.x), np.int32), *(level.parent.numpy().astype(np.int32) for level in batch.levels)]
    return Hierarchy(
        node_ptr=node_ptr,
        colours=tuple(colours),
        parents=tuple(parents),
        start="given",
        initial_values=batch.x.numpy(),
        edge_values=None if batch.edge_x is None else batch.edge_x.numpy(),
        _signatures={t: _signature(level) for t, level in enumerate(batch.levels, start=1)},
    )


def _signature(level: ColourLevel) -> Signature:
    ptr, column, times = (
        part.numpy() for part in (level.neighbours.ptr, level.neighbours.index, level.neighbours.value)
    )
    times = times.astype(np.int32)
    if level.pair_row is None or level.pair_edge is None:
        return Signature(ptr, column.astype(np.int32), np.zeros(len(column), np.int32), times)
    colour, edge = (part.numpy()[column].astype(np.int32) for part in (level.pair_row, level.pair_edge))
    return Signature(ptr, colour, edge, times)
