"""Attributes of networkx graphs as columns, whether the graphs come from files or from memory.

The nodes of all graphs are the rows of one table, the edges those of another. Attributes that are no single value (GML
nests how things are drawn) are columns that are ignored, so that they can be seen to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import Role
from wlhn.data.readers.edges import simple_graphs
from wlhn.data.readers.encode import encode_features
from wlhn.data.readers.limits import check_text
from wlhn.data.readers.tables import ReadOptions, Table, infer_columns
from wlhn.data.readers.values import attributes, check_name, shown
from wlhn.graphs import Graphs

if TYPE_CHECKING:
    import networkx as nx


def node_attributes(
    graphs: Sequence[nx.Graph], names: Sequence[str], path: Path, options: ReadOptions, without: Sequence[str] = ()
) -> Table:
    """The nodes of all graphs as a table; the names of the graphs say where a row is."""
    rows = [data for graph in graphs for _, data in graph.nodes(data=True)]
    index = [f"{name}, node '{shown(node)}'" for name, graph in zip(names, graphs, strict=True) for node in graph]
    return _table(path, rows, index, options.of_nodes(), without)


def edge_attributes(
    graphs: Sequence[nx.Graph],
    names: Sequence[str],
    path: Path,
    options: ReadOptions,
    without: Sequence[str] = ("id",),  # GraphML's name of an edge
) -> Table:
    """The edges of all graphs as a table; the options are those of edges (`ReadOptions.of_edges`)."""
    listed = [(name, *edge) for name, graph in zip(names, graphs, strict=True) for edge in graph.edges(data=True)]
    index = [f"{name}, edge '{shown(u)}' to '{shown(v)}'" for name, u, v, _ in listed]
    table = _table(path, [data for *_, data in listed], index, options, without)
    return Table(path, table.frame, tuple(replace(column, edge=True) for column in table.columns))


def collected(
    graphs: Sequence[nx.Graph], nodes: Table, edges: Table, *, self_loops: bool
) -> tuple[Graphs, tuple[str, ...]]:
    """The graphs as flat arrays, with the features of both tables; every edge once."""
    label, x = encode_features(nodes)
    edge_label, edge_attr = encode_features(edges)
    node_ptr, ends, undirected = listed_edges(graphs)
    return simple_graphs(
        ends,
        node_ptr,
        self_loops=self_loops,
        undirected=undirected,
        node_label=label,
        x=x,
        edge_label=edge_label,
        edge_attr=edge_attr,
        node_ids=[node for graph in graphs for node in graph.nodes],
    )


def _table(
    path: Path, rows: list[dict[Any, Any]], index: list[str], options: ReadOptions, without: Sequence[str]
) -> Table:
    import pandas as pd

    named = [{str(name): value for name, value in row.items()} for row in rows]
    names = [name for name in dict.fromkeys(name for row in named for name in row) if name not in without]
    check_text(str(path), len(names), "columns")
    check_text(str(path), len(names) * len(rows), "attributes")
    for name in names:
        check_name(name, str(path))
    given = {name: [row.get(name) for row in named] for name in names}
    plain = {name: [None if _nested(value) else value for value in values] for name, values in given.items()}
    nested = [name for name in names if not any(v is not None for v in plain[name]) and any(map(_nested, given[name]))]
    absent = [c.name for c in options.like if c.is_feature and c.name not in (*names, *without)]
    plain |= {name: [None] * len(rows) for name in absent}  # what no node has is missing everywhere
    frame = pd.DataFrame({name: attributes(values, index) for name, values in plain.items()}, index=index)
    ignored: dict[str, Role] = {name: "ignored" for name in nested if name not in options.roles}
    columns = infer_columns(frame, replace(options, roles=ignored | dict(options.roles)))
    detail = "lists or records, not single values"
    return Table(path, frame, tuple(replace(c, detail=detail) if c.name in ignored else c for c in columns))


def _nested(value: Any) -> bool:
    return value is not None and not isinstance(value, str | bool | int | float | np.generic)


def listed_edges(graphs: Sequence[nx.Graph]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """(offsets of the graphs' nodes, ends (2, edges) of edges as networkx lists them, which are undirected)."""
    node_ptr = np.concatenate([[0], np.cumsum([len(graph) for graph in graphs])]).astype(np.int64)
    ends = []
    for graph, start in zip(graphs, node_ptr.tolist(), strict=False):
        place = {node: k for k, node in enumerate(graph.nodes, start)}
        ends += [(place[u], place[v]) for u, v in graph.edges()]
    undirected = np.repeat([not graph.is_directed() for graph in graphs], [graph.number_of_edges() for graph in graphs])
    return node_ptr, np.array(ends, dtype=np.int64).reshape(-1, 2).T, undirected
