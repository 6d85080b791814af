"""Nearest graphs by what they have in common: optimal assignment in the tree of colours, without any learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.data.features import encoding
from wlhn.hierarchy import Hierarchy, refine
from wlhn.inspection.similar import graph_wl_distances
from wlhn.kernels import ColourCounts, compare_graphs
from wlhn.runs.trained import Trained

ROUNDS = 3  # where no run says how deep to look


@dataclass(frozen=True, eq=False)
class Alike:
    """The most similar graphs, first the most similar; the graph itself is left out."""

    index: NDArray[Any]  # positions
    similarity: NDArray[Any]  # 0 to 1
    wl_distance: NDArray[Any]  # steps in the tree


def tree_of(dataset: Dataset, trained: Trained | None = None, rounds: int = ROUNDS) -> Hierarchy:
    """The tree to compare graphs in: of what a run sees and as deep; else from labels, features or degrees."""
    if trained is not None:
        return trained.quotient(dataset.graphs, trained.colours.depth or ROUNDS).hierarchy
    return refine(dataset.graphs, rounds, encoding(dataset).encode(dataset.graphs) if dataset.inputs else "degree")


def alike(hierarchy: Hierarchy, graph: int, count: int) -> Alike:
    """The graphs most like one of a hierarchy.

    >>> import networkx as nx, wlhn
    >>> found = alike(wlhn.refine([nx.path_graph(3), nx.path_graph(4), nx.complete_graph(3)], 2), 0, 2)
    >>> found.index.tolist(), found.wl_distance.tolist()
    ([1, 2], [5, 10])
    """
    counts = ColourCounts.of(hierarchy)
    similarity = compare_graphs("oa", counts.select([graph]), counts)[0]
    others = np.delete(np.arange(len(similarity)), graph)
    chosen = others[np.argsort(-similarity[others], kind="stable")[:count]]
    return Alike(chosen, similarity[chosen], graph_wl_distances(hierarchy, graph, chosen))
