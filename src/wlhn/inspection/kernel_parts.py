"""The answer of a machine on the tree, divided among the colours of the last depth.

A decision value is a sum over the colours of all depths (`colour_parts` of a machine). A node has one colour at each
depth; what a colour adds is shared evenly by its nodes, and a colour of the last depth gets what its nodes have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.hierarchy import Hierarchy

Array = NDArray[Any]


def at_last_depth(hierarchy: Hierarchy, parts: list[Array]) -> Array:
    """What the colours of the last depth have of parts of all colours.

    Args:
        hierarchy: the hierarchy of a single graph.
        parts: depth by depth, as deep as the hierarchy or less, (colours, machines).

    Returns:
        (colours of the last depth, machines), with the same sum.

    >>> import networkx as nx, wlhn
    >>> star = wlhn.refine(nx.star_graph(3), 1)  # the centre is colour 0
    >>> at_last_depth(star, [np.array([[4.0]]), np.array([[10.0], [0.0]])]).tolist()
    [[11.0], [3.0]]
    """
    each = np.zeros((1, parts[0].shape[1]))  # of a node
    for t in range(hierarchy.depth + 1):
        each = each[hierarchy.parents[t]]
        if t < len(parts):
            each = each + parts[t] / hierarchy.count(t)[:, None]
    return each * hierarchy.count(hierarchy.depth)[:, None]
