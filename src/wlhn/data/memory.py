"""Graphs that are in memory already, PyG's or networkx's, as a data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.data.dataset import Column, Dataset, Level, available, class_indices
from wlhn.data.readers.encode import Targets
from wlhn.data.splits import Split
from wlhn.errors import InputError
from wlhn.graphs import Graphs, as_graphs
from wlhn.graphs.convert import instance_of


def as_dataset(
    source: Any, y: ArrayLike | None = None, *, name: str = "graphs", level: Level = "graph", graph_ids: Any = None
) -> Dataset:
    """Graphs in memory as a data set: PyG data sets and lists (their y, unless given), networkx graphs, `Graphs`.

    >>> as_dataset([nx.path_graph(3), nx.cycle_graph(3)], ["tree", "cycle"]).classes
    ('cycle', 'tree')
    """
    single = isinstance(source, nx.Graph | Graphs | np.ndarray) or instance_of(source, "torch_geometric.data", "Data")
    parts = [source] if single else list(source)
    source = source if single else parts
    graphs, columns = graphs_in_memory(source)
    given = _pyg_targets(parts) if y is None else np.asarray(y)
    items = len(graphs) if level == "graph" else graphs.num_nodes
    targets = Targets.none(items) if given is None else _targets_of(given)
    return Dataset(
        name=name,
        graphs=graphs,
        level=level,
        inputs=available(graphs),
        graph_ids=graph_ids,
        columns=columns,
        splits=_pyg_splits(source) if level == "node" else (),
        **vars(targets),
    )


def graphs_in_memory(source: Any, like: Sequence[Column] = ()) -> tuple[Graphs, tuple[Column, ...]]:
    """Graphs as `as_graphs` reads them; labels that are text in networkx graphs become categories, told as columns.

    With the columns of earlier graphs (`like`) categories keep their codes, and a new one has the code −1.

    >>> water = nx.Graph([(0, 1), (0, 2)])
    >>> nx.set_node_attributes(water, {0: "O", 1: "H", 2: "H"}, "label")
    >>> graphs, columns = graphs_in_memory([water])
    >>> graphs.node_label.tolist(), columns[0].values
    ([1, 0, 0], ('H', 'O'))
    """
    parts = [source] if isinstance(source, nx.Graph) else source
    if not isinstance(parts, Sequence) or not any(isinstance(part, nx.Graph) for part in parts):
        return as_graphs(source), ()
    columns = []
    for edge in (False, True):
        known = next((c.values for c in like if c.name == "label" and c.edge == edge and c.kind == "categories"), None)
        found = [value for part in parts if isinstance(part, nx.Graph) for value in _labels(part, edge)]
        if known is None and not any(isinstance(value, str) for value in found):
            continue
        values = tuple(sorted({v for v in found if v is not None}, key=lambda v: (str(type(v)), v)))
        values = values if known is None else known
        parts = [_coded(part, edge, values) if isinstance(part, nx.Graph) else part for part in parts]
        columns.append(Column("label", "category", "categories", f"{len(values)} values", values, edge))
    return as_graphs(parts), tuple(columns)


def _labels(graph: nx.Graph, edge: bool) -> Iterable[Any]:
    items = graph.edges(data="label") if edge else graph.nodes(data="label")
    return (value for *_, value in items)


def _coded(graph: nx.Graph, edge: bool, values: tuple[Any, ...]) -> nx.Graph:
    """A copy whose labels are positions among the values; what has no label keeps none."""
    code, graph = {value: k for k, value in enumerate(values)}, graph.copy()
    for *_, data in graph.edges(data=True) if edge else graph.nodes(data=True):
        if data.get("label") is not None:
            data["label"] = code.get(data["label"], -1)
    return graph


def _pyg_targets(parts: list[Any]) -> NDArray[Any] | None:
    """The y of PyG graphs, one row for each graph or node."""
    given = [part["y"] for part in parts if instance_of(part, "torch_geometric.data", "Data") and "y" in part]
    if len(given) < len(parts) or not given:
        return None
    values = np.concatenate([np.atleast_1d(value.detach().cpu().numpy()) for value in given])
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _pyg_splits(data: Any) -> tuple[Split, ...]:
    """The split that PyG's masks of one graph's nodes give, as its node data sets have them."""
    masks = ("train_mask", "val_mask", "test_mask")
    if not instance_of(data, "torch_geometric.data", "Data") or not all(mask in data for mask in masks):
        return ()
    columns = [data[mask].cpu().numpy().reshape(data.num_nodes, -1).T for mask in masks]  # one row a split
    return tuple(Split(*(np.flatnonzero(mask) for mask in parts)) for parts in zip(*columns, strict=True))


def _targets_of(y: NDArray[Any]) -> Targets:
    """Numbers with a fraction, or more than one a row, are regression targets, the rest are classes."""
    if y.ndim == 1 and not np.issubdtype(y.dtype, np.floating):
        return Targets(*_classes(y))
    if y.ndim == 2 and (np.isnan(y) | (y == 0) | (y == 1)).all():
        return Targets(y.astype(np.float32), "binary")
    if not np.isfinite(y).all():
        raise InputError(f"y, row {np.argwhere(~np.isfinite(y))[0][0]}: expected a finite number")
    return Targets(y.astype(np.float32), "regression")


def _classes(y: NDArray[Any]) -> tuple[NDArray[np.int64], Any, tuple[Any, ...]]:
    indices, classes = class_indices(y)
    return indices, "classification", classes
