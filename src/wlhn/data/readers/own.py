"""The user's own files: graph files with a table of targets, or one graph as a table of nodes and one of edges.

Graph files are GraphML, GML, or edge lists (two names a line; a name alone is a node without edges; # is a comment).
Edge lists and edge tables are undirected unless told otherwise, GraphML and GML say it themselves. Attributes of nodes
and of edges are columns; a role goes to the column of that name, the nodes' first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Column, Dataset, Role, available
from wlhn.data.readers.edge_tables import ENDS, end_columns, read_ends
from wlhn.data.readers.edges import simple_graphs
from wlhn.data.readers.encode import Targets, encode_features, encode_split, encode_targets
from wlhn.data.readers.graph_files import read_graph_file
from wlhn.data.readers.tables import Table, check_roles, infer_columns, read_table
from wlhn.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def read_graph_files(
    files: Sequence[str | Path],
    *,
    targets: str | Path | None = None,
    name: str = "graphs",
    directed: bool | None = None,
    self_loops: bool = False,
    roles: Mapping[str, Role] | None = None,
    like: Sequence[Column] = (),
) -> Dataset:
    """Graph files, one graph each, with a table of targets: a column of file names (the ending may go) and targets.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "path.edgelist").write_text("a b\\nb c\\n")
    >>> _ = (folder / "triangle.edgelist").write_text("a b\\nb c\\nc a\\n")
    >>> _ = (folder / "targets.csv").write_text("file,y\\ntriangle,cycle\\npath,tree\\n")
    >>> dataset = read_graph_files(sorted(folder.glob("*.edgelist")), targets=folder / "targets.csv")
    >>> dataset.graph_ids, [dataset.classes[k] for k in dataset.y]
    (['path.edgelist', 'triangle.edgelist'], ['tree', 'cycle'])
    """
    import pandas as pd

    paths = [Path(file) for file in files]
    if not paths:
        raise InputError(f"{name}: expected at least one graph file")
    graphs = [read_graph_file(path, directed=directed) for path in paths]
    earlier = [column for column in like if not column.edge]
    frame = pd.DataFrame(
        [_plain(data) for graph in graphs for _, data in graph.nodes(data=True)],
        index=[f"{path.name}, node {node!r}" for path, graph in zip(paths, graphs, strict=True) for node in graph],
    )
    nodes = Table(paths[0].parent, frame, infer_columns(frame, expected=(), roles=roles, like=earlier))
    edge = _edge_attributes(paths, graphs, _others(roles, frame), like)
    table = None
    if targets is not None:
        table = read_table(
            Path(targets), expected=("id", "target"), named=("split",), rest="target", roles=roles, like=earlier
        )
    check_roles(roles, frame, edge.frame, *([] if table is None else [table.frame]))
    label, x = encode_features(nodes)
    node_ptr = np.concatenate([[0], np.cumsum([len(graph) for graph in graphs])]).astype(np.int64)
    ends = np.concatenate([_ends(graph) + start for graph, start in zip(graphs, node_ptr, strict=False)])
    both_ways = np.concatenate([np.full(graph.number_of_edges(), not graph.is_directed()) for graph in graphs])
    ends, row = _directed(ends, both_ways)
    edge_label, edge_attr = (None if values is None else values[row] for values in encode_features(edge))
    collection, notes = simple_graphs(
        ends[:, 0],
        ends[:, 1],
        node_ptr,
        self_loops=self_loops,
        node_label=label,
        x=x,
        edge_label=edge_label,
        edge_attr=edge_attr,
        node_ids=[node for graph in graphs for node in graph.nodes],
    )
    order = None if table is None else _rows_of(paths, table)
    return Dataset(
        name=name,
        graphs=collection,
        level="graph",
        inputs=available(collection),
        graph_ids=[path.name for path in paths],
        columns=nodes.columns + edge.columns + (() if table is None else table.columns),
        splits=() if table is None else encode_split(_reordered(table, order)),
        notes=notes,
        **vars(Targets.none(len(paths)) if table is None else encode_targets(_reordered(table, order))),
    )


def read_node_tables(
    edges: str | Path,
    nodes: str | Path,
    *,
    name: str = "graph",
    directed: bool | None = None,
    self_loops: bool = False,
    roles: Mapping[str, Role] | None = None,
    like: Sequence[Column] = (),
) -> Dataset:
    """One graph for node tasks: a table of edges (ends, labels, numbers) and a table of nodes (id, features, target).

    Ids are whatever the tables hold.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "nodes.csv").write_text("id,age,club\\nann,31,a\\nbob,27,b\\n")
    >>> _ = (folder / "edges.csv").write_text("from,to\\nann,bob\\n")
    >>> dataset = read_node_tables(folder / "edges.csv", folder / "nodes.csv")
    >>> dataset.graphs.x.tolist(), dataset.classes
    ([[31.0], [27.0]], ('a', 'b'))
    """
    earlier = [column for column in like if not column.edge]
    vertex = read_table(Path(nodes), expected=("id", "target"), named=("split",), roles=roles, like=earlier)
    of_edges: dict[str, Any] = {
        "roles": _others(roles, vertex.frame),
        "like": [column for column in like if column.edge],
    }
    columns, header = end_columns(Path(edges), **of_edges)
    check_roles(roles, vertex.frame, header)
    ids = vertex.one("id").tolist()
    place: dict[Any, int] = {}
    for k, node in enumerate(ids):
        if place.setdefault(node, k) != k:
            raise InputError(f"{vertex.path}, line {k + 2}: node {node!r} stands there twice, expected each once")
    ends = read_ends(Path(edges), columns, place, among=vertex.path).T
    ends, row = _directed(ends, np.full(len(ends), not directed))
    edge_label = edge_attr = None
    if len(columns) > len(ENDS) and Path(edges).suffix != ".parquet":  # then the table has to be seen as a whole
        edge = read_table(Path(edges), expected=ENDS, **of_edges)
        columns = edge.columns
        edge_label, edge_attr = (None if values is None else values[row] for values in encode_features(edge))
    label, x = encode_features(vertex)
    plain = ids == list(range(len(ids)))
    graphs, notes = simple_graphs(
        ends[:, 0],
        ends[:, 1],
        np.array([0, len(ids)]),
        self_loops=self_loops,
        node_label=label,
        x=x,
        edge_label=edge_label,
        edge_attr=edge_attr,
        node_ids=None if plain else ids,
    )
    return Dataset(
        name=name,
        graphs=graphs,
        level="node",
        inputs=available(graphs),
        columns=vertex.columns + _of_edges(columns),
        splits=encode_split(vertex),
        notes=(("edges directed" if directed else "edges undirected"), *notes),
        **vars(encode_targets(vertex)),
    )


def _edge_attributes(
    paths: list[Path], graphs: list[nx.Graph], roles: Mapping[str, Role], like: Sequence[Column]
) -> Table:
    """The edges of all files as a table. An attribute that some of them lack is ignored, unless it is asked for."""
    import pandas as pd

    listed = [(path, *edge) for path, graph in zip(paths, graphs, strict=True) for edge in graph.edges(data=True)]
    frame = pd.DataFrame(
        [_plain(data, without="id") for *_, data in listed],  # GraphML's name of an edge
        index=[f"{path.name}, edge {u!r} to {v!r}" for path, u, v, _ in listed],
    )
    earlier = [column for column in like if column.edge]
    asked = {*roles, *(column.name for column in earlier)}
    partial: dict[str, Role] = {
        name: "ignored" for name in frame.columns if name not in asked and frame[name].isna().any()
    }
    columns = infer_columns(frame, expected=(), roles=partial | dict(roles), like=earlier)
    columns = tuple(replace(c, detail="missing for some edges") if c.name in partial else c for c in columns)
    return Table(paths[0].parent, frame, _of_edges(columns))


def _plain(data: Mapping[str, Any], without: str = "") -> dict[str, Any]:
    """Attributes that are a single value; GML nests how things are drawn."""
    return {name: value for name, value in data.items() if name != without and not isinstance(value, dict | list)}


def _others(roles: Mapping[str, Role] | None, nodes: pd.DataFrame) -> dict[str, Role]:
    """The roles that are not about columns of nodes."""
    return {name: role for name, role in (roles or {}).items() if name not in nodes.columns}


def _of_edges(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(replace(column, edge=True) for column in columns)


def _ends(graph: nx.Graph) -> NDArray[np.int64]:
    """The edges as positions of nodes, (edges, 2)."""
    place = {node: k for k, node in enumerate(graph.nodes)}
    return np.array([(place[u], place[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2)


def _directed(ends: NDArray[Any], both_ways: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Edges with those that run both ways in both directions, and the edge that each comes from."""
    back = np.flatnonzero(both_ways & (ends[:, 0] != ends[:, 1]))
    return np.concatenate([ends, ends[back, ::-1]]), np.concatenate([np.arange(len(ends)), back])


def _rows_of(paths: list[Path], table: Table) -> list[int]:
    """The row of each file."""
    names = [str(value) for value in table.one("id").tolist()]
    row: dict[str, int] = {}
    for k, given in enumerate(names):
        if row.setdefault(given, k) != k:
            raise InputError(f"{table.path}, line {k + 2}: '{given}' stands there twice, expected each graph once")
    rows = []
    for path in paths:
        found = [row[key] for key in (path.name, path.stem) if key in row]
        if not found:
            raise InputError(f"{table.path}: no line for the graph {path.name}, expected its name or stem")
        rows.append(found[0])
    if len(rows) < len(names):
        extra = min(set(range(len(names))) - set(rows))
        raise InputError(f"{table.path}, line {extra + 2}: no graph file '{names[extra]}', expected one for each line")
    return rows


def _reordered(table: Table, order: list[int] | None) -> Table:
    return Table(table.path, table.frame.iloc[order], table.columns)
