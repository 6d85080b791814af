"""Two trees in one: of nodes as they are, and of the same nodes seen less sharply, from a coarser start.

Colours that start from many features are so specific that new graphs rarely have them; colours that start from few of
these are known more often. A colour determines the coarser colour of its depth, so a hierarchy is all it takes: neither
graphs nor nodes are looked at again.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.graphs import Graphs
from wlhn.hierarchy import Hierarchy, refine
from wlhn.hierarchy.refinement import encode

Array = NDArray[Any]


def with_coarser(hierarchy: Hierarchy, values: Array) -> Hierarchy:
    """The hierarchy of graphs in which each node has a copy next to it, with neighbours among the copies alone.

    It may have colours that no node has.

    Args:
        hierarchy: of graphs; in- and out-neighbours must not count apart, unless by labels of edges.
        values: (colours of depth 0, …) what copies start from, in place of the initial values.

    >>> import networkx as nx, wlhn
    >>> path = wlhn.refine(nx.path_graph(4), 1, [5, 6, 6, 7])
    >>> for colours in with_coarser(path, np.zeros(3, int)).colours:
    ...     print(colours.reshape(4, 2).T.tolist())  # of the nodes, and of their copies
    [[1, 2, 2, 3], [0, 0, 0, 0]]
    [[4, 7, 6, 9], [1, 2, 2, 1]]
    """
    depth, first = hierarchy.depth, [0, *accumulate(hierarchy.num_colours)]
    # Colours of all depths as nodes of a graph, with the neighbours that they stand for, of the depth before: t rounds
    # see of a colour of depth t what they saw of the nodes that have it.
    degree, neighbour, edge = [np.zeros(first[1], np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    origin = [np.arange(first[1])]  # the colours of depth 0 that they descend from
    for t in range(1, depth + 1):
        sign = hierarchy.signature(t)
        degree.append(np.diff(np.concatenate([[0], np.cumsum(sign.times)])[sign.ptr]))
        neighbour.append(np.repeat(sign.colour, sign.times) + np.int32(first[t - 1]))
        edge.append(np.repeat(sign.edge, sign.times))
        origin.append(origin[-1][hierarchy.parents[t]])
    graph = Graphs(
        node_ptr=np.array([0, first[-1]]),
        row_ptr=np.concatenate([[0], *degree]).cumsum(),
        neighbour=np.concatenate(neighbour),
        edge_label=np.concatenate(edge),
    )
    code, initial_values = encode("values", np.concatenate([hierarchy.initial_values, values]), 2 * first[1])
    start, edge_values = code.reshape(2, -1)[:, np.concatenate(origin)], hierarchy.edge_values
    made = refine(graph.select([0, 0]), depth, start.reshape(-1), edge_values is not None)
    colours = [
        both.reshape(2, -1)[:, first[t] + colour]
        for t, (both, colour) in enumerate(zip(made.colours, hierarchy.colours, strict=True))
    ]
    return Hierarchy(
        node_ptr=2 * hierarchy.node_ptr,
        colours=tuple(np.ascontiguousarray(pair.T).reshape(-1) for pair in colours),
        parents=made.parents,
        start="given",
        initial_values=initial_values,
        edge_values=None if edge_values is None else edge_values[made.edge_values],
        _signatures={t: made.signature(t) for t in range(1, depth + 1)},
    )
