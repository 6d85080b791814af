"""Colours in words: a colour of depth t is a node and what lies around it up to t steps away.

`N(C(N, 2×O), H)` is a node N with two neighbours; one of them, C, has the neighbours N and twice O. A neighbour that
comes by an edge with a label has that label before it, `1:C`. Long names end with `…`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.hierarchy import Hierarchy

LONGEST = 100  # characters


def substructures(
    hierarchy: Hierarchy, describe: Callable[[Any], str] = str, describe_edge: Callable[[Any], str] = str
) -> list[NDArray[Any]]:
    """A description of each colour, depth by depth.

    >>> import networkx as nx, wlhn
    >>> [names.tolist() for names in substructures(wlhn.refine(nx.path_graph(3), 2, "degree"))]
    [['1', '2'], ['1(2)', '2(2×1)'], ['1(2(2×1))', '2(2×1(2))']]
    """
    value = np.array([describe(row) for row in hierarchy.initial_values], dtype=object)
    names = [np.array([_shortened(text) for text in value], dtype=object)]
    edges = None if hierarchy.edge_values is None else [describe_edge(row) for row in hierarchy.edge_values]
    for t in range(1, hierarchy.depth + 1):
        known, parent = hierarchy.signature(t), hierarchy.parents[t]
        value = value[parent]
        ptr, colour, edge, times = (a.tolist() for a in known)
        found = []
        for c in range(len(parent)):
            around, length = [], 0
            for k in range(ptr[c], ptr[c + 1]):
                by = "" if edges is None else f"{edges[edge[k]]}:"
                often = f"{times[k]}×" if times[k] > 1 else ""
                around.append(often + by + names[-1][colour[k]])
                length += len(around[-1])
                if length > LONGEST:
                    break
            found.append(_shortened(f"{value[c]}({', '.join(sorted(around))})" if around else str(value[c])))
        names.append(np.array(found, dtype=object))
    return names


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
