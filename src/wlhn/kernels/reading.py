"""Graphs of any kind for a fit, and new ones so that labels mean the same: text is coded as the fit coded it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import Column, feature_places, label_column, labels_of, one_hot_columns
from wlhn.data.dataset import Dataset
from wlhn.data.display import node_names
from wlhn.data.memory import graphs_in_memory
from wlhn.data.readers.values import named
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.graphs.convert import one_by_one

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
        source = list(one_by_one(source))  # a generator has them once, and they are read twice
        graphs, columns = graphs_in_memory(source)
    _check_nodes(graphs)
    if like is None:
        return graphs, columns
    if isinstance(source, Dataset):
        _check_categories(graphs, columns, like)
    elif columns:
        graphs, columns = graphs_in_memory(source, _with_labels_of(columns, like))
    coded = isinstance(source, Dataset) or all(isinstance(part, Graphs) for part in source)

    def label(values: Array | None, edge: bool) -> Array | None:
        known, names = labels_of(like, edge=edge), labels_of(columns, edge=edge)
        if values is None or names == known or (coded and not names):
            return values
        return _as_fitted(values, names, known, "edge labels" if edge else "node labels")

    new = replace(graphs, node_label=label(graphs.node_label, False), edge_label=label(graphs.edge_label, True))
    return new, tuple(like)


def _with_labels_of(columns: Sequence[Column], like: Sequence[Column]) -> list[Column]:
    """The columns of a fit, but for labels, which have the values of these: they are coded as the fit's later."""
    there = {(column.name, column.edge): column for column in columns}
    labels = [column for edge in (False, True) if (column := label_column(like, edge=edge)) is not None]
    return [
        replace(column, values=there[column.name, column.edge].values)
        if column in labels and (column.name, column.edge) in there
        else column
        for column in like
        if column not in labels or column.name != "label" or (column.name, column.edge) in there
    ]


def _check_categories(graphs: Graphs, columns: Sequence[Column], like: Sequence[Column]) -> None:
    """0/1 columns of categories mean the same in a data set as in the fit, as far as both have columns."""

    def zero_one(of: Sequence[Column], edge: bool) -> dict[str, tuple[Any, ...]]:
        labelled = (graphs.edge_label if edge else graphs.node_label) is not None
        label = label_column(of, edge=edge) if labelled else None
        kept = [c for c in of if c.edge == edge and c.is_feature and c.kind == "categories" and c is not label]
        return {c.name: c.values for c in kept}

    for edge in (False, True):
        fitted, found = zero_one(like, edge), zero_one(columns, edge)
        if fitted and found and list(fitted.items()) != list(found.items()):
            raise InputError(
                f"columns {named(found)}: their categories are not those of the fit in columns {named(fitted)}; read "
                "the new data like the fitted ones (load(path, like=fitted.columns))"
            )


def value_names(source: Any, graphs: Graphs, columns: Sequence[Column]) -> dict[str | int, dict[int, str]]:
    """What codes are called, by column: labels that were text, atoms of known sets of molecules; a 0/1 column of a
    category by that, or by its number, where it is 1.

    >>> from wlhn.data import load
    >>> mutag = load("MUTAG")
    >>> value_names(mutag, mutag.graphs, ())["label"][1]
    'N'
    """
    names = _zero_one_names(graphs, columns)
    if not isinstance(source, Dataset):
        return names | {"label": {code: str(name) for code, name in enumerate(labels_of(columns))}}
    shown = node_names(source)
    named: str | int = 0 if graphs.node_label is None else "label"
    codes = graphs.node_label if named == "label" else None if graphs.x is None else graphs.x[:, 0]
    if codes is None or not shown[0]:
        return names
    values, node = np.unique(codes, return_index=True)
    return names | {named: dict(zip(values.tolist(), shown[node].tolist(), strict=True))}


def _zero_one_names(graphs: Graphs, columns: Sequence[Column]) -> dict[str | int, dict[int, str]]:
    if graphs.x is None:
        return {}
    called = {k: str(k) for k in one_hot_columns(graphs.x)}
    for column, first, _ in feature_places(columns, graphs.x.shape[1], edge=False, labelled=False):
        if column.kind == "categories" and first >= 0:
            values = ("missing" if value is None else str(value) for value in column.values)
            called |= {first + k: f"{column.name} {value}" for k, value in enumerate(values)}
    return {k: {0: "", 1: name} for k, name in called.items()}


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
