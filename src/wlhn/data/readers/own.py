"""The user's own files: graph files with a table of targets, or one graph as a table of nodes and one of edges.

Graph files are GraphML, GML, or edge lists (two names a line, perhaps with a weight; a name alone is a node without
edges; # is a comment). Edge lists and edge tables are undirected unless told otherwise, GraphML and GML say it
themselves. Attributes of nodes and of edges are columns; a role goes to the column of that name, the nodes' first.
Where a node attribute has the role "target", the items are nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wlhn.data.dataset import Dataset, Role, available
from wlhn.data.readers.attributes import collected, edge_attributes, node_attributes
from wlhn.data.readers.edge_tables import read_edges
from wlhn.data.readers.encode import Targets, encode_features, encode_split, encode_targets
from wlhn.data.readers.graph_files import read_graph_file
from wlhn.data.readers.tables import (
    DEFAULTS,
    ReadOptions,
    Table,
    check_known,
    check_no_features,
    check_roles,
    read_table,
    table_notes,
)
from wlhn.data.readers.values import shown
from wlhn.errors import InputError


def read_graph_files(
    files: Sequence[str | Path],
    options: ReadOptions = DEFAULTS,
    *,
    targets: str | Path | None = None,
    name: str = "graphs",
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
    paths = [Path(file) for file in files]
    if not paths:
        raise InputError(f"{name}: has no graph file; it needs at least one")
    graphs = [read_graph_file(path, directed=options.directed) for path in paths]
    where, folder = [path.name for path in paths], paths[0].parent
    nodes = node_attributes(graphs, where, folder, options)
    edge = edge_attributes(graphs, where, folder, options.of_edges(nodes.frame.columns))
    tables = [nodes, edge]
    if targets is not None:
        if nodes.names("target"):
            raise InputError(f"{targets}: '{nodes.names('target')[0]}' of nodes is a target too; keep one of them")
        expected: tuple[Role, ...] = ("id", "target")
        told = read_table(Path(targets), options.of_nodes(), expected=expected, named=("split",), rest="target")
        tables.append(told)
    check_roles(options, *(table.frame for table in tables))
    of_items = nodes if nodes.names("target") else None
    if targets is not None:
        check_no_features(told, elsewhere={*nodes.frame.columns, *edge.frame.columns})
        of_items = replace(told, frame=told.frame.iloc[_rows_of(paths, told)])
    known = Targets.none(len(paths)) if of_items is None else encode_targets(of_items, options)
    collection, notes = collected(graphs, nodes, edge, self_loops=options.self_loops)
    return Dataset(
        name=name,
        graphs=collection,
        level="node" if of_items is nodes else "graph",
        inputs=available(collection),
        graph_ids=where,
        columns=tuple(column for table in tables for column in table.columns),
        splits=() if of_items is None else encode_split(of_items, known),
        **known.and_notes(*table_notes([nodes, edge]), *notes),
    )


def read_node_tables(
    edges: str | Path, nodes: str | Path, options: ReadOptions = DEFAULTS, *, name: str = "graph"
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
    of_nodes = options.of_nodes()
    vertex = read_table(Path(nodes), of_nodes, expected=("id", "target"), named=("split",))
    check_known(vertex.path, vertex.frame, of_nodes.like)
    ids = vertex.one("id").tolist()
    place = _lines_by_name(vertex, ids, "node")
    of_edges = options.of_edges(vertex.frame.columns)
    edge = read_edges(Path(edges), place, of_edges, among=vertex.path, others=[vertex.frame])
    label, x = encode_features(vertex)
    graphs, (direction, *notes) = edge.graph(ids, options, node_label=label, x=x)
    targets = encode_targets(vertex, options)
    return Dataset(
        name=name,
        graphs=graphs,
        level="node",
        inputs=available(graphs),
        columns=vertex.columns + edge.columns,
        splits=encode_split(vertex, targets),
        **targets.and_notes(direction, *table_notes([vertex]), *notes),
    )


def _lines_by_name(table: Table, names: Sequence[Any], what: str) -> dict[Any, int]:
    """Where each name stands in a table, which lists none of them twice."""
    place: dict[Any, int] = {}
    for k, name in enumerate(names):
        if place.setdefault(name, k) != k:
            raise InputError(f"{table.path}, line {k + 2}: {what} '{shown(name)}' is listed twice; keep one line")
    return place


def _rows_of(paths: list[Path], table: Table) -> list[int]:
    """The row of each file."""
    names = [str(value) for value in table.one("id").tolist()]
    row = _lines_by_name(table, names, "graph")
    rows = []
    for path in paths:
        found = [row[key] for key in (path.name, path.stem) if key in row]
        if not found:
            raise InputError(f"{table.path}: has no line for the graph {path.name}; add one with its name or stem")
        rows.append(found[0])
    if len(rows) < len(names):
        extra = min(set(range(len(names))) - set(rows))
        raise InputError(
            f"{table.path}, line {extra + 2}: there is no graph file '{shown(names[extra])}'; each line needs one"
        )
    return rows
