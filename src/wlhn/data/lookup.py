"""Graphs and nodes by the names the user knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from wlhn.data.dataset import Dataset
from wlhn.data.readers.graph_files import GRAPH_FILES
from wlhn.errors import InputError


def graph_names(dataset: Dataset) -> Sequence[Any]:
    """The user's names of the graphs, or their positions."""
    return range(len(dataset.graphs)) if dataset.graph_ids is None else dataset.graph_ids


def graph_position(dataset: Dataset, name: str) -> int:
    """The position of the graph of this name (of a file, the ending may go); without names, the position itself.

    >>> from wlhn.data import load
    >>> graph_position(load("atlas"), "G7"), graph_position(load("MUTAG"), "12")
    (6, 12)
    """
    known = [str(known) for known in graph_names(dataset)]
    if name not in known:
        files = [full for full in known if PurePath(full).suffix in GRAPH_FILES and PurePath(full).stem == name]
        if len(files) > 1:
            raise InputError(f"{dataset.name}: graph {name!r} may be {' or '.join(files)}; give one of these names")
        name = files[0] if files else name
    for each in dataset.skipped:
        if name == str(each.id) and name not in known:
            raise InputError(f"{dataset.name}: graph {name!r} was skipped: {each.why}")
    return _find(f"{dataset.name}: no graph", known, name)


def node_position(dataset: Dataset, name: str) -> int:
    """The position of a node among all: its name, with the graph's name before it where there are several (G7/2).

    >>> from wlhn.data import load
    >>> node_position(load("karate"), "33"), node_position(load("MUTAG"), "1/0")
    (33, 17)
    """
    graph, within = 0, name
    if len(dataset.graphs) > 1:
        graph_name, slash, within = name.rpartition("/")
        if not slash:
            raise InputError(f"node {name}: must be GRAPH/NODE, as there are {len(dataset.graphs)} graphs")
        graph = graph_position(dataset, graph_name)
    ids = [str(known) for known in dataset.graphs.ids(graph)]
    return int(dataset.graphs.node_ptr[graph]) + _find(f"{dataset.name}: no node", ids, within)


def node_name(dataset: Dataset, node: int) -> str:
    """What `node_position` finds again."""
    graphs = dataset.graphs
    graph = int(np.searchsorted(graphs.node_ptr, node, side="right")) - 1
    within = node - int(graphs.node_ptr[graph])
    own = str(within if graphs.node_ids is None else graphs.node_ids[node])
    return own if len(graphs) == 1 else f"{graph_names(dataset)[graph]}/{own}"


def _find(what: str, known: Sequence[str], name: str) -> int:
    if name not in known:
        raise InputError(f"{what} {name!r}; there are {known[0]!r} … {known[-1]!r} ({len(known)})")
    return known.index(name)
