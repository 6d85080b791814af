"""Graphs that are in memory already, PyG's or networkx's, as a data set.

PyG graphs bring their targets (`y`) and, for nodes, their splits (`train_mask`, `val_mask`, `test_mask`). Attributes of
networkx graphs are columns as those of GraphML files are: beside "label" and "x" (nodes) or "label" and "edge_attr"
(edges), which `as_graphs` reads, text is a category and a number is a feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.data.columns import Column, Role, labels_of
from wlhn.data.dataset import Dataset, TargetLevel, TaskChoice
from wlhn.data.readers.attributes import edge_attributes, listed_edges, node_attributes
from wlhn.data.readers.edges import both_ways, origin
from wlhn.data.readers.encode import Targets, encode_features, encode_split, encode_targets, labelled_only
from wlhn.data.readers.table_notes import table_notes
from wlhn.data.readers.tables import ReadOptions, Table, infer_columns
from wlhn.data.readers.values import attributes
from wlhn.data.splits import Split
from wlhn.errors import InputError
from wlhn.graphs import Graphs, as_graphs
from wlhn.graphs.convert import instance_of, one_by_one
from wlhn.loops.grouping import group_by_target

if TYPE_CHECKING:
    import networkx as nx

MASKS = ("train_mask", "val_mask", "test_mask")
OF_NODES, OF_EDGES = ("label", "x"), ("label", "edge_attr")  # what `as_graphs` reads itself


def as_dataset(
    source: Any,
    y: ArrayLike | None = None,
    *,
    name: str = "graphs",
    level: TargetLevel = "graph",
    graph_ids: Any = None,
    task: TaskChoice | None = None,
    missing: str | None = None,
    roles: Mapping[str, Role] | None = None,
) -> Dataset:
    """Graphs in memory as a data set: PyG data sets and lists (their y, unless given), networkx graphs, `Graphs`.

    Args:
        source: the graphs, or one graph.
        y: one target for each item, None or NaN where it is unknown.
        level: whether items are graphs or nodes.
        graph_ids: names of the graphs.
        task, missing, roles: as in `load`; roles are about attributes of networkx graphs.

    >>> import networkx as nx
    >>> as_dataset([nx.path_graph(3), nx.cycle_graph(3)], ["tree", "cycle"]).classes
    ('cycle', 'tree')
    >>> club = as_dataset(nx.karate_club_graph(), level="node", roles={"club": "target", "weight": "ignored"})
    >>> club.classes, club.inputs
    (('Mr. Hi', 'Officer'), ())
    """
    options = ReadOptions(task=task, missing=missing, roles=roles or {})
    parts = list(one_by_one(source))
    graphs, labels, nodes, edges = _read(parts, options)
    tables = [table for table in (nodes, edges) if table is not None]
    columns = labels + tuple(column for table in tables for column in table.columns)
    options.check_roles(*(table.frame for table in tables))
    items = len(graphs) if level == "graph" else graphs.num_nodes
    given = _pyg_targets(parts) if y is None else y
    if given is not None:
        targets = _targets_of(given, name, options)
        if len(targets.y) != items:
            raise InputError(
                f"{name}: expected {items} targets, one for each {level}, found {len(targets.y)} "
                '(level="node" or "graph" says what has targets)'
            )
    elif nodes is not None and nodes.names("target"):
        if level == "graph":
            raise InputError(f"{name}: '{nodes.names('target')[0]}' is a target of nodes; give level=\"node\"")
        targets = encode_targets(nodes, options)
    else:
        targets = Targets.none(items)
    splits: tuple[Split, ...] = ()
    if level == "node":
        in_table = () if nodes is None else encode_split(nodes, targets)
        splits = in_table or _pyg_splits(parts, targets)
    notes = table_notes(tables)
    return targets.dataset(name, graphs, level, *notes, graph_ids=graph_ids, columns=columns, splits=splits)


def graphs_in_memory(source: Any, like: Sequence[Column] = ()) -> tuple[Graphs, tuple[Column, ...]]:
    """Graphs as `as_graphs` reads them, with the attributes of networkx graphs, which are told as columns.

    With the columns of earlier graphs (`like`) categories keep their codes, and a new one has the code −1.

    >>> import networkx as nx
    >>> water = nx.Graph([(0, 1), (0, 2)])
    >>> nx.set_node_attributes(water, {0: "O", 1: "H", 2: "H"}, "element")
    >>> graphs, columns = graphs_in_memory([water])
    >>> graphs.node_label.tolist(), columns[0].values
    ([1, 0, 0], ('H', 'O'))
    """
    graphs, labels, *tables = _read(list(one_by_one(source)), ReadOptions(like=like))
    return graphs, labels + tuple(column for table in tables if table is not None for column in table.columns)


def _read(parts: Sequence[Any], options: ReadOptions) -> tuple[Graphs, tuple[Column, ...], Table | None, Table | None]:
    """(graphs, columns of labels, table of nodes, table of edges); but for the first, of networkx graphs only."""
    if not any(map(_is_networkx, parts)):
        return as_graphs(parts), (), None, None
    strange = next((part for part in parts if not _is_networkx(part)), None)
    if strange is not None:
        as_graphs([strange])  # says what is no graph at all
        raise InputError(f"networkx graphs and {type(strange).__name__} in one list; give graphs of one kind")
    names = [f"graph {k}" for k in range(len(parts))]
    nodes = node_attributes(parts, names, Path(), options, without=OF_NODES)
    edges = edge_attributes(parts, names, Path(), options.of_edges(nodes.frame.columns), without=OF_EDGES)
    parts, node_labels = _with_codes(parts, options.like, edge=False)
    parts, edge_labels = _with_codes(parts, options.like, edge=True)
    graphs = as_graphs(parts)
    node_ptr, ends, undirected = listed_edges(parts)
    source, target = both_ways(ends, undirected)
    order = group_by_target(source, target, int(node_ptr[-1]))[2]
    label, x = _with_attributes(nodes, slice(None), graphs.node_label, graphs.x)
    if x is not graphs.x and graphs.x is not None and np.issubdtype(graphs.x.dtype, np.integer):
        raise InputError("networkx graphs, x: holds categories beside other attributes; x must hold numbers (floats)")
    edge_label, attr = _with_attributes(edges, origin(ends, undirected)[order], graphs.edge_label, graphs.edge_attr)
    graphs = replace(graphs, node_label=label, x=x, edge_label=edge_label, edge_attr=attr)
    return graphs, node_labels + edge_labels, nodes, edges


def _with_attributes(
    table: Table, row: Any, own_label: NDArray[Any] | None, own_x: NDArray[Any] | None
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """The columns of a table, a row for each node or edge, behind the label and the numbers that these have already."""
    label, x = encode_features(table)
    if label is not None and own_label is not None:  # two labels: the table's becomes 0/1 columns
        columns = np.arange(len(labels_of(table.columns, edge=table.columns[0].edge)))
        x, label = _beside(x, (label[:, None] == columns).astype(np.float32)), None
    return own_label if label is None else label[row], _beside(own_x, None if x is None else x[row])


def _beside(x: NDArray[Any] | None, more: NDArray[Any] | None) -> NDArray[Any] | None:
    if x is None or more is None:
        return more if x is None else x
    return np.concatenate([x, more], axis=1)


def _with_codes(
    parts: Sequence[nx.Graph], like: Sequence[Column], *, edge: bool
) -> tuple[Sequence[nx.Graph], tuple[Column, ...]]:
    """Graphs whose attribute "label" is a code where it was text; what has no label keeps none."""

    def labelled(graph: nx.Graph) -> list[dict[str, Any]]:
        items = graph.edges(data=True) if edge else graph.nodes(data=True)
        return [data for *_, data in items if data.get("label") is not None]

    known = next((c.values for c in like if c.name == "label" and c.edge == edge and c.kind == "categories"), None)
    found = [data["label"] for part in parts for data in labelled(part)]
    if known is None and not any(isinstance(value, str) for value in found):
        return parts, ()
    values = tuple(sorted(set(found), key=lambda v: (str(type(v)), v))) if known is None else known
    code = {value: k for k, value in enumerate(values)}
    copies = [part.copy() for part in parts]
    for data in (data for copy in copies for data in labelled(copy)):
        data["label"] = code.get(data["label"], -1)
    return copies, (Column("label", "category", "categories", f"{len(values)} values", values, edge),)


def _is_networkx(graph: Any) -> bool:
    return instance_of(graph, "networkx", "Graph")


def _pyg_targets(parts: list[Any]) -> NDArray[Any] | None:
    """The y of PyG graphs, one row for each graph or node."""
    given = [part["y"] for part in parts if instance_of(part, "torch_geometric.data", "Data") and "y" in part]
    given = [value for value in given if value is not None]
    if not given:
        return None
    if len(given) < len(parts):
        raise InputError(f"{len(given)} of {len(parts)} PyG graphs have a y; give one to all or none (NaN: unknown)")
    rows = [np.atleast_1d(value.detach().cpu().numpy() if hasattr(value, "detach") else value) for value in given]
    if len({row.shape[1:] for row in rows}) > 1:
        raise InputError("the y of PyG graphs differ in their number of columns; it must be the same for all")
    values = np.concatenate(rows)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _pyg_splits(parts: list[Any], targets: Targets) -> tuple[Split, ...]:
    """The splits that PyG's masks of nodes give: one, or one for each column of the masks."""
    if not all(instance_of(part, "torch_geometric.data", "Data") and MASKS[0] in part for part in parts):
        return ()
    masks = []
    for name in MASKS:
        there = [part for part in parts if name in part]
        if there and len(there) < len(parts):
            raise InputError(f"{len(there)} of {len(parts)} PyG graphs have a {name}; give one to all or none")
        columns = [part[name].cpu().numpy().astype(bool).reshape(part.num_nodes, -1) for part in there]
        masks.append(np.concatenate(columns) if columns else np.zeros((len(targets.y), 1), bool))
    several = max(mask.shape[1] for mask in masks)
    for name, mask in zip(MASKS, masks, strict=True):
        if mask.shape[1] not in (1, several):
            raise InputError(
                f"{name}: has {mask.shape[1]} columns; it must have one, or {several} as the other masks have"
            )
    wide = [np.broadcast_to(mask, (len(mask), several)) for mask in masks]
    splits = (Split(*(np.flatnonzero(mask[:, k]) for mask in wide)) for k in range(several))
    return tuple(labelled_only(split, targets) for split in splits)


def _targets_of(y: ArrayLike, name: str, options: ReadOptions) -> Targets:
    """Targets as tables of one column have them; more than one a row are 0/1 answers or numbers."""
    import pandas as pd

    values = np.asarray(y) if not isinstance(y, list | tuple) else _array(y)
    if values.ndim == 2 and values.dtype.kind in "iufb":
        numbers = values.astype(np.float32)
        if np.isinf(numbers).any():
            raise InputError(f"{name}, y, row {np.argwhere(np.isinf(numbers))[0][0]}: must be a finite number")
        answers = options.task != "regression" and (np.isnan(numbers) | (numbers == 0) | (numbers == 1)).all()
        if not answers and options.task == "classification":
            raise InputError(f"{name}, y: several columns ({values.shape[1]}) must hold 0 and 1 for classification")
        return Targets(numbers, "binary" if answers else "regression")
    if values.ndim != 1:
        raise InputError(f"{name}, y: expected one target for each item, found shape {values.shape}")
    if options.missing:
        values = np.array([None if str(value) == options.missing else value for value in values.tolist()], dtype=object)
    column = pd.Series(values) if values.dtype.kind in "iuf" else attributes(values.tolist(), range(len(values)))
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError(f"{name}, y, row {np.flatnonzero(np.isinf(values))[0]}: must be a finite number")
    frame = pd.DataFrame({"y": column})
    columns = infer_columns(frame, replace(options, roles={"y": "target"}))
    return replace(encode_targets(Table(Path(name), frame, columns), options), targets=())


def _array(y: Sequence[Any]) -> NDArray[Any]:
    """A list as an array, of objects where kinds are mixed (numpy would make text of them)."""
    plain = np.asarray(y, dtype=object)
    if plain.ndim != 1:
        return np.asarray(y)
    kinds = {type(value) for value in y}
    return np.asarray(y) if len(kinds) == 1 else plain
