"""The user's own files: graph files with a table of targets, or one graph as a table of nodes and one of edges.

Graph files are GraphML, GML, or edge lists (two names a line, perhaps with a weight; a name alone is a node without
edges; # is a comment). Edge lists and edge tables are undirected unless told otherwise, GraphML and GML say it
themselves. Attributes of nodes and of edges are columns; a role goes to the column of that name, the nodes' first.
Where a node attribute has the role "target", the items are nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wlhn.data.dataset import Column, Dataset, Role, TargetLevel, TaskChoice, available
from wlhn.data.readers.attributes import collected, edge_attributes, node_attributes
from wlhn.data.readers.edge_tables import read_edges
from wlhn.data.readers.edges import both_ways, simple_graphs
from wlhn.data.readers.encode import Targets, encode_features, encode_split, encode_targets
from wlhn.data.readers.graph_files import read_graph_file
from wlhn.data.readers.tables import Table, check_known, check_no_features, check_roles, read_table, table_notes
from wlhn.data.readers.values import shown
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
    task: TaskChoice | None = None,
    missing: str | None = None,
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
    graphs = [read_graph_file(path, directed=directed) for path in paths]
    where = [path.name for path in paths]
    reading: dict[str, Any] = {"roles": roles, "like": [c for c in like if not c.edge], "task": task}
    nodes = node_attributes(graphs, where, paths[0].parent, **reading)
    edge = edge_attributes(graphs, where, paths[0].parent, _others(roles, nodes.frame), like)
    table = None
    if targets is not None:
        if nodes.names("target"):
            raise InputError(f"{targets}: '{nodes.names('target')[0]}' of nodes is a target too; keep one of them")
        expected: tuple[Role, ...] = ("id", "target")
        table = read_table(
            Path(targets), expected=expected, named=("split",), rest="target", missing=missing, **reading
        )
    check_roles(roles, nodes.frame, edge.frame, *([] if table is None else [table.frame]))
    level: TargetLevel = "node" if nodes.names("target") else "graph"
    if table is not None:
        check_no_features(table, elsewhere={*nodes.frame.columns, *edge.frame.columns})
        table = Table(table.path, table.frame.iloc[_rows_of(paths, table)], table.columns)
    of_items = nodes if level == "node" else table
    known = Targets.none(len(paths)) if of_items is None else encode_targets(of_items, task, missing, like)
    collection, notes = collected(graphs, nodes, edge, self_loops=self_loops)
    return Dataset(
        name=name,
        graphs=collection,
        level=level,
        inputs=available(collection),
        graph_ids=where,
        columns=nodes.columns + edge.columns + (() if table is None else table.columns),
        splits=() if of_items is None else encode_split(of_items, known),
        **known.and_notes(*table_notes([nodes, edge]), *notes),
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
    task: TaskChoice | None = None,
    missing: str | None = None,
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
    reading: dict[str, Any] = {"roles": roles, "like": [c for c in like if not c.edge], "task": task}
    vertex = read_table(Path(nodes), expected=("id", "target"), named=("split",), missing=missing, **reading)
    check_known(vertex.path, vertex.frame, reading["like"])
    ids = vertex.one("id").tolist()
    place: dict[Any, int] = {}
    for k, node in enumerate(ids):
        if place.setdefault(node, k) != k:
            raise InputError(f"{vertex.path}, line {k + 2}: node '{shown(node)}' stands there twice; keep one line")
    edge = read_edges(
        Path(edges),
        place,
        among=vertex.path,
        roles=_others(roles, vertex.frame),
        like=[column for column in like if column.edge],
        others=[vertex.frame],
    )
    label, x = encode_features(vertex)
    plain = ids == list(range(len(ids)))
    source, target = both_ways(edge.ends, not directed)
    graphs, notes = simple_graphs(
        source,
        target,
        np.array([0, len(ids)]),
        self_loops=self_loops,
        node_label=label,
        x=x,
        node_ids=None if plain else ids,
        **edge.attributes(not directed),
    )
    targets = encode_targets(vertex, task, missing, like)
    direction = "edges are directed" if directed else "edges are taken as undirected"
    return Dataset(
        name=name,
        graphs=graphs,
        level="node",
        inputs=available(graphs),
        columns=vertex.columns + edge.columns,
        splits=encode_split(vertex, targets),
        **targets.and_notes(direction, *table_notes([vertex]), *edge.notes, *notes),
    )


def _others(roles: Mapping[str, Role] | None, nodes: pd.DataFrame) -> dict[str, Role]:
    """The roles that are not about columns of nodes."""
    return {name: role for name, role in (roles or {}).items() if name not in nodes.columns}


def _rows_of(paths: list[Path], table: Table) -> list[int]:
    """The row of each file."""
    names = [str(value) for value in table.one("id").tolist()]
    row: dict[str, int] = {}
    for k, given in enumerate(names):
        if row.setdefault(given, k) != k:
            raise InputError(
                f"{table.path}, line {k + 2}: '{shown(given)}' stands there twice; keep one line for each graph"
            )
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
