"""The user's own files: graph files with a table of targets, or one graph as a table of nodes and one of edges.

Graph files are GraphML, GML, or edge lists (two names a line; a name alone is a node without edges; # is a comment).
Edge lists and edge tables are undirected unless told otherwise, GraphML and GML say it themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Column, Dataset, Role, available
from wlhn.data.edges import simple_graphs
from wlhn.data.encode import Targets, encode_features, encode_split, encode_targets
from wlhn.data.graph_files import read_graph_file
from wlhn.data.tables import Table, check_roles, infer_columns, read_table
from wlhn.errors import InputError


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
    frame = pd.DataFrame(
        [data for graph in graphs for _, data in graph.nodes(data=True)],
        index=[f"{path.name}, node {node!r}" for path, graph in zip(paths, graphs, strict=True) for node in graph],
    )
    nodes = Table(paths[0].parent, frame, infer_columns(frame, expected=(), roles=roles, like=like))
    table = None
    if targets is not None:
        table = read_table(
            Path(targets), expected=("id", "target"), named=("split",), rest="target", roles=roles, like=like
        )
    check_roles(roles, frame, *([] if table is None else [table.frame]))
    label, x = encode_features(nodes)
    node_ptr = np.concatenate([[0], np.cumsum([len(graph) for graph in graphs])]).astype(np.int64)
    edges = np.concatenate([_edges(graph) + start for graph, start in zip(graphs, node_ptr, strict=False)])
    collection, notes = simple_graphs(
        edges[:, 0],
        edges[:, 1],
        node_ptr,
        self_loops=self_loops,
        node_label=label,
        x=x,
        node_ids=[node for graph in graphs for node in graph.nodes],
    )
    order = None if table is None else _rows_of(paths, table)
    return Dataset(
        name=name,
        graphs=collection,
        level="graph",
        inputs=available(collection),
        graph_ids=[path.name for path in paths],
        columns=nodes.columns + (() if table is None else table.columns),
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

    Ids are whatever the tables hold. A role goes to the table that has a column of that name, the nodes' first.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "nodes.csv").write_text("id,age,club\\nann,31,a\\nbob,27,b\\n")
    >>> _ = (folder / "edges.csv").write_text("from,to\\nann,bob\\n")
    >>> dataset = read_node_tables(folder / "edges.csv", folder / "nodes.csv")
    >>> dataset.graphs.x.tolist(), dataset.classes
    ([[31.0], [27.0]], ('a', 'b'))
    """
    vertex = read_table(Path(nodes), expected=("id", "target"), named=("split",), roles=roles, like=like)
    mine = {n: r for n, r in (roles or {}).items() if n not in vertex.frame.columns}
    edge = read_table(Path(edges), expected=("from", "to"), roles=mine)
    check_roles(roles, vertex.frame, edge.frame)
    ids = vertex.one("id").tolist()
    place: dict[Any, int] = {}
    for k, node in enumerate(ids):
        if place.setdefault(node, k) != k:
            raise InputError(f"{vertex.path}, line {k + 2}: node {node!r} stands there twice, expected each once")
    ends = np.stack([_places(edge, role, place, vertex.path) for role in ("from", "to")], axis=1)
    edge_label, edge_attr = encode_features(edge)
    if not directed:
        back = np.flatnonzero(ends[:, 0] != ends[:, 1])
        ends = np.concatenate([ends, ends[back, ::-1]])
        edge_label, edge_attr = (None if v is None else np.concatenate([v, v[back]]) for v in (edge_label, edge_attr))
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
        columns=vertex.columns + edge.columns,
        splits=encode_split(vertex),
        notes=(("edges directed" if directed else "edges undirected"), *notes),
        **vars(encode_targets(vertex)),
    )


def _edges(graph: nx.Graph) -> NDArray[np.int64]:
    """Edges as positions of nodes, undirected ones in both directions."""
    place = {node: k for k, node in enumerate(graph.nodes)}
    edges = np.array([(place[u], place[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2)
    return edges if graph.is_directed() else np.concatenate([edges, edges[edges[:, 0] != edges[:, 1], ::-1]])


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


def _places(edge: Table, role: Role, place: Mapping[Any, int], nodes: Path) -> NDArray[np.int64]:
    ends = edge.one(role).tolist()
    for k, end in enumerate(ends):
        if end not in place:
            raise InputError(f"{edge.path}, line {k + 2}: node {end!r} is not in {nodes}, expected one of its ids")
    return np.array([place[end] for end in ends], dtype=np.int64)
