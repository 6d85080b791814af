"""TU Dortmund's text format (Morris et al. 2020), from a folder or a zip.

NAME_A.txt lists directed edges "row, column" over nodes numbered from 1 through all graphs, NAME_graph_indicator.txt
the graph of each node, and one file each the labels (integers) and attributes (numbers) of nodes, edges and graphs.

Official files double edges (both IMDB sets) and hold self-loops (COLLAB): an edge is kept once, self-loops are dropped
unless asked for, as PyG's TUDataset does. Nodes that no edge names are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import Column
from wlhn.data.dataset import Dataset, Task, TaskChoice, available, class_indices
from wlhn.data.readers.archive import Archive
from wlhn.data.readers.edges import simple_graphs
from wlhn.data.readers.text import read_integers, read_numbers
from wlhn.errors import InputError
from wlhn.loops.edges import first_bad_edge

SUFFIX = "_A.txt"


def read_tu(path: str | Path, *, self_loops: bool = False, task: TaskChoice | None = None) -> Dataset:
    """A data set in TU format; its targets are the graph labels, or the graph attributes if there are none.

    For regression (`task`) they are the graph attributes, or the labels as numbers if there are none.

    >>> from wlhn.data.registry import mutag_folder
    >>> read_tu(mutag_folder())
    Dataset(MUTAG, graph classification, Graphs(188 graphs, 3,371 nodes, 7,442 directed edges))
    """
    with Archive(path) as files:
        return _Reader(files).dataset(self_loops=self_loops, task=task)


def is_tu(path: Path) -> bool:
    """Whether a folder holds a TU data set."""
    return path.is_dir() and any(path.glob(f"*{SUFFIX}"))


def source_files(path: Path) -> list[Path]:
    """Everything the result depends on."""
    return sorted(path.glob("*.txt")) if path.is_dir() else [path]


class _Reader:
    """The files of one set by their TU names."""

    def __init__(self, files: Archive) -> None:
        names = [name.removesuffix(SUFFIX) for name in files.names if name.endswith(SUFFIX)]
        if len(names) != 1:
            raise InputError(f"{files.path}: expected one file NAME{SUFFIX}, found {len(names)}")
        self.files, self.name = files, names[0]

    def file(self, kind: str) -> str:
        return f"{self.name}_{kind}.txt"

    def has(self, kind: str) -> bool:
        return self.file(kind) in self.files.names

    def where(self, kind: str) -> str:
        return self.files.where(self.file(kind))

    def integers(self, kind: str, rows: int | None = None, **options: Any) -> NDArray[Any]:
        if not self.has(kind):
            raise InputError(f"{self.where(kind)}: no such file beside {self.name}{SUFFIX}")
        with self.files.open(self.file(kind)) as stream:
            return read_integers(stream, self.where(kind), rows=rows, **options)

    def labels(self, kind: str, rows: int | None = None) -> NDArray[Any] | None:
        """One label for each line; several columns are joined into one label."""
        if not self.has(kind):
            return None
        values = self.integers(kind, rows)
        return values[:, 0] if values.shape[1] == 1 else np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)

    def numbers(self, kind: str, rows: int | None = None) -> NDArray[Any] | None:
        if not self.has(kind):
            return None
        with self.files.open(self.file(kind)) as stream:
            return read_numbers(stream, self.where(kind), rows)

    def dataset(self, *, self_loops: bool, task: TaskChoice | None) -> Dataset:
        y, found, classes = self.targets(task)
        graph = self.integers("graph_indicator", columns=1)[:, 0] - 1
        if len(graph) and (graph.min() < 0 or graph.max() >= len(y)):
            line = int(np.flatnonzero((graph < 0) | (graph >= len(y)))[0])
            raise InputError(
                f"{self.where('graph_indicator')}, line {line + 1}: expected a graph from 1 to {len(y)}, "
                f"found {graph[line] + 1}"
            )
        edges = self.integers("A", columns=2, dtype=np.int32)
        edges -= 1
        source, target = edges[:, 0], edges[:, 1]
        self.check_edges(source, target, graph)
        nodes, edge = len(graph), len(edges)
        label, x = self.labels("node_labels", nodes), self.numbers("node_attributes", nodes)
        node_ids = None
        if (np.diff(graph) < 0).any():  # nodes of a graph stand together, in their order
            order = np.argsort(graph, kind="stable")
            rank = np.argsort(order)
            source, target = rank[source], rank[target]
            label, x = (None if v is None else v[order] for v in (label, x))
            node_ids = (order + 1).tolist()
        graphs, notes = simple_graphs(
            (source, target),
            np.concatenate([[0], np.cumsum(np.bincount(graph, minlength=len(y)))]),
            self_loops=self_loops,
            node_label=label,
            x=x,
            edge_label=self.labels("edge_labels", edge),
            edge_attr=self.numbers("edge_attributes", edge),
            node_ids=node_ids,
        )
        return Dataset(
            name=self.name,
            graphs=graphs,
            y=y,
            level="graph",
            task=found,
            classes=classes,
            inputs=available(graphs),
            columns=tuple(self.columns(label, x, y, found)),
            notes=notes,
        )

    def targets(self, task: TaskChoice | None) -> tuple[NDArray[Any], Task, tuple[Any, ...]]:
        as_numbers = task == "regression" and self.has("graph_attributes")
        labels = None if as_numbers else self.labels("graph_labels")
        if labels is not None:
            if task == "regression":
                return labels.astype(np.float32), "regression", ()
            y, classes = class_indices(labels)
            return y, "classification", classes
        numbers = None if task == "classification" else self.numbers("graph_attributes")
        if numbers is None:
            raise InputError(f"{self.where('graph_labels')}: no such file; it has the targets")
        return numbers[:, 0] if numbers.shape[1] == 1 else numbers, "regression", ()

    def check_edges(self, source: NDArray[Any], target: NDArray[Any], graph: NDArray[Any]) -> None:
        line = int(first_bad_edge(source, target, graph))
        if line < 0:
            return
        u, v = int(source[line]) + 1, int(target[line]) + 1
        there = f"{self.where('A')}, line {line + 1}"
        if min(u, v) < 1 or max(u, v) > len(graph):
            raise InputError(f"{there}: expected nodes from 1 to {len(graph)}, found {u} and {v}")
        raise InputError(
            f"{there}: edge {u}, {v} joins graph {graph[u - 1] + 1} and graph {graph[v - 1] + 1}, "
            "both ends must lie in one graph"
        )

    def columns(self, label: Any, x: Any, y: NDArray[Any], task: Task) -> list[Column]:
        columns = []
        if label is not None:
            columns.append(Column("node_labels", "feature", "categories", f"{len(np.unique(label))} values"))
        if x is not None:
            columns.append(Column("node_attributes", "feature", "numeric", f"{x.shape[1]} columns"))
        if self.has("edge_labels"):
            columns.append(Column("edge_labels", "feature", "categories"))
        if self.has("edge_attributes"):
            columns.append(Column("edge_attributes", "feature", "numeric"))
        if task == "classification":
            columns.append(Column("graph_labels", "target", "categories", f"{y.max(initial=-1) + 1} classes"))
        else:
            name = "graph_attributes" if self.has("graph_attributes") else "graph_labels"
            columns.append(Column(name, "target", "numeric", f"{1 if y.ndim == 1 else y.shape[1]} columns"))
        return columns
