"""Graphs of any kind for a fit, and new ones so that labels mean the same: text is coded as the fit coded it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Column, Dataset, labels_of
from wlhn.data.display import node_names
from wlhn.data.memory import graphs_in_memory
from wlhn.errors import InputError
from wlhn.graphs import Graphs

Array = NDArray[Any]


def read_graphs(source: Any, like: Sequence[Column] | None = None) -> tuple[Graphs, tuple[Column, ...]]:
    """Graphs and the names of their labels; with the columns of a fit (`like`), in its codes.

    Unlike `graphs_in_memory`, labels that the fit did not have keep codes of their own: two that differ stay different.

    >>> import networkx as nx
    >>> def path(*labels):
    ...     graph = nx.path_graph(len(labels))
    ...     nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    ...     return [graph]
    >>> _, columns = read_graphs(path("C", "O"))
    >>> read_graphs(path("N", "O", "F"), columns)[0].node_label.tolist()
    [3, 1, 2]
    """
    if isinstance(source, Dataset):
        graphs, columns = source.graphs, source.columns
    else:
        graphs, columns = graphs_in_memory(source)
    _check_nodes(graphs)
    if like is None:
        return graphs, columns
    coded = isinstance(source, Graphs | Dataset) or all(isinstance(part, Graphs) for part in source)

    def label(values: Array | None, edge: bool) -> Array | None:
        known, names = labels_of(like, edge=edge), labels_of(columns, edge=edge)
        if values is None or names == known or (coded and not names):
            return values
        return _as_fitted(values, names, known, "edge labels" if edge else "node labels")

    new = replace(graphs, node_label=label(graphs.node_label, False), edge_label=label(graphs.edge_label, True))
    return new, tuple(like)


def value_names(source: Any, graphs: Graphs, columns: Sequence[Column]) -> dict[str | int, dict[int, str]]:
    """What codes are called, by column: labels that were text, atoms of known sets of molecules.

    >>> from wlhn.data import load
    >>> mutag = load("MUTAG")
    >>> value_names(mutag, mutag.graphs, ())["label"][1]
    'N'
    """
    if not isinstance(source, Dataset):
        return {"label": {code: str(name) for code, name in enumerate(labels_of(columns))}}
    shown = node_names(source)
    named: str | int = 0 if graphs.node_label is None else "label"
    codes = graphs.node_label if named == "label" else None if graphs.x is None else graphs.x[:, 0]
    if codes is None or not shown[0]:
        return {}
    values, node = np.unique(codes, return_index=True)
    return {named: dict(zip(values.tolist(), shown[node].tolist(), strict=True))}


def _as_fitted(codes: Array, names: tuple[Any, ...], known: tuple[Any, ...], what: str) -> Array:
    if not known:
        raise InputError(f"{what}: expected numbers as in the fit, found text")
    if not names:  # labels that are no text stand for themselves
        names, codes = tuple(np.unique(codes).tolist()), np.unique(codes, return_inverse=True)[1]
    place = {name: code for code, name in enumerate(known)}
    for name in names:
        place.setdefault(name, len(place))
    return np.array([place[name] for name in names], np.int64)[codes]


def _check_nodes(graphs: Graphs) -> None:
    empty = np.flatnonzero(np.diff(graphs.node_ptr) == 0)
    if not len(graphs):
        raise InputError("there are no graphs; give at least one")
    if len(empty):
        raise InputError(f"graph {empty[0]} has no nodes, so there is nothing to compare: leave it out")
