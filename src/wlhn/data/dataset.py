"""A data set: graphs with targets, what their columns mean, and the splits that came with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.data.columns import Column
from wlhn.data.splits import Split
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.notebook import html_table

TargetLevel = Literal["graph", "node"]
Task = Literal["classification", "binary", "regression", "none"]
TaskChoice = Literal["classification", "regression"]  # what the user can ask for


@dataclass(frozen=True)
class Skipped:
    """An item of the source that could not be read and was left out on request."""

    position: int  # among all items of the source, those that were read and those that were not
    id: Any  # the user's name of it, or its position
    why: str


@dataclass(frozen=True, eq=False)
class Dataset:
    """Graphs with one target for each graph or each node, where it is known.

    y holds class indices 0 … C−1 (task "classification"; `classes` are the original values in that order), 0/1,
    (items, tasks) (task "binary"), or numbers (task "regression"). Without targets (task "none") it has no columns.
    A target that is unknown is the index −1 among classes and NaN elsewhere; nobody need know that who asks `labelled`.
    Numbers of x and edge_attr that are unknown are NaN; an `Encoding` fills them in.

    >>> from wlhn.data import as_dataset
    >>> import networkx as nx
    >>> club = as_dataset(nx.path_graph(3), ["a", None, "b"], level="node")
    >>> club.labelled.tolist(), club.summary
    ([True, False, True], '3 nodes, 2 with a target: 2 classes')
    """

    name: str
    graphs: Graphs
    y: NDArray[Any]
    level: TargetLevel
    task: Task
    classes: tuple[Any, ...] = ()
    targets: tuple[str, ...] = ()  # names of the columns of y
    inputs: tuple[str, ...] = ()  # what a model sees of a node: "label", "x"; nothing: its degree
    categories: tuple[int, ...] = ()  # where x is integers: how many values each column can have
    graph_ids: Sequence[Any] | None = None  # the user's names of the graphs
    columns: tuple[Column, ...] = ()
    splits: tuple[Split, ...] = ()  # as published with the data
    notes: tuple[str, ...] = ()  # what the user should know of how this was read; commands print them
    skipped: tuple[Skipped, ...] = ()  # what was left out of the source
    training_x: NDArray[Any] | None = None  # (nodes, features) that nodes have in place of x where they are trained on
    path: str | None = None  # of the user's own data, from the root; None where a name says it all, and in memory

    def __post_init__(self) -> None:
        if len(self.y) != len(self):
            raise InputError(
                f"{self.name}: expected {len(self)} targets, one for each {self.level}, found {len(self.y)}"
            )
        for name in self.inputs:
            if name not in ("label", "x") or getattr(self.graphs, {"label": "node_label"}.get(name, name)) is None:
                raise InputError(f"{self.name}: there is no node input '{name}'; there are {available(self.graphs)}")
        for split in self.splits:
            split.check_fits(len(self), self.name)

    def __len__(self) -> int:
        """The number of items that have a target: graphs or nodes."""
        return len(self.graphs) if self.level == "graph" else self.graphs.num_nodes

    def __repr__(self) -> str:
        return f"Dataset({self.name}, {self.level} {self.task}, {self.graphs!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows: sizes, what a model sees, targets, splits and notes."""
        rows: list[tuple[str, Any]] = [
            ("graphs", len(self.graphs)),
            ("nodes", self.graphs.num_nodes),
            ("directed edges", self.graphs.num_edges),
            ("a model sees", ", ".join(self.inputs) or "degree"),
        ]
        if self.task == "classification":
            times = np.bincount(self.y[self.y >= 0].astype(int), minlength=len(self.classes)).tolist()
            rows.append(("classes", ", ".join(f"{c}: {n:,}" for c, n in zip(self.classes, times, strict=False))))
        elif self.targets:
            rows.append(("targets", ", ".join(self.targets)))
        rows += [("splits", len(self.splits))] if self.splits else []
        rows += [("note", note) for note in self.notes]
        return html_table(f"{self.name}: {self.level} {self.task}", ("", ""), rows)

    @overload
    def __getitem__(self, position: int) -> Graphs: ...
    @overload
    def __getitem__(self, position: slice | Sequence[int] | NDArray[Any]) -> Dataset: ...
    def __getitem__(self, position: Any) -> Graphs | Dataset:
        """One graph, with what a model sees of its nodes: so a data set of graphs is a sequence of them. A slice,
        positions or a mask give a data set, as `select` does.

        >>> from wlhn.data import load
        >>> load("MUTAG")[-1]
        Graphs(1 graph, 16 nodes, 36 directed edges)
        >>> load("MUTAG")[:5]
        Dataset(MUTAG, graph classification, Graphs(5 graphs, 73 nodes, 160 directed edges))
        """
        if self.level == "node":
            raise InputError(f"{self.name}: its items are nodes; only a set of graphs can be indexed")
        if isinstance(position, slice) or np.ndim(position):
            return self.select(np.arange(len(self))[position])
        if not -len(self) <= position < len(self):
            raise IndexError(f"graph {position}: must be from 0 to {len(self) - 1}")
        graph = self.graphs.select([position])
        return replace(
            graph,
            node_label=graph.node_label if "label" in self.inputs else None,
            x=graph.x if "x" in self.inputs else None,
        )

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(items,) whether an item has a target, at least one where there are several."""
        return is_known(self.y, self.task)

    def true_class(self, item: int) -> Any:
        """The class of an item; None where it is unknown, or where targets are no classes."""
        return self.classes[self.y[item]] if self.task == "classification" and self.y[item] >= 0 else None

    @property
    def summary(self) -> str:
        """How many items there are, how many have a target and what it is, what is missing and what is not used."""
        known = int(self.labelled.sum())
        parts = [f"{len(self):,} {self.level}s"]
        if self.task != "none":
            what, more = ("class", "es") if self.task == "classification" else (f"{self.task} target", "s")
            what = f"{self.num_outputs} {what}{more * (self.num_outputs != 1)}"
            parts.append(f"{'all' if known == len(self) else f'{known:,}'} with a target: {what}")
        else:
            parts.append("no targets")
        parts += [f"column '{c.name}': {c.detail}" for c in self.columns if c.role == "ignored" and c.detail]
        parts += [f"{len(self.skipped):,} skipped"] * bool(self.skipped)
        return ", ".join(parts[:2]) + "".join(f"; {part}" for part in parts[2:])

    @property
    def num_outputs(self) -> int:
        """What a model has to give for an item: classes, tasks or numbers."""
        return len(self.classes) if self.task == "classification" else int(np.prod(self.y.shape[1:], dtype=int))

    def as_trained_on(self, items: NDArray[Any]) -> Dataset:
        """The data set as it looks to whoever trains on these items.

        >>> from wlhn.data import load
        >>> mutag = load("MUTAG")
        >>> mutag.as_trained_on(np.arange(100)) is mutag  # most look the same to everybody
        True
        """
        if self.training_x is None:
            return self
        x = np.array(self.graphs.x)
        x[items] = self.training_x[items]
        return replace(self, graphs=replace(self.graphs, x=x), training_x=None)

    def select(self, index: ArrayLike) -> Dataset:
        """The graphs at these positions with their targets, without splits (positions mean something else now).

        >>> from wlhn.data import load
        >>> load("MUTAG").select([5, 7]).y.tolist()
        [1, 1]
        """
        if self.level == "node":
            raise InputError(f"{self.name}: select takes graphs, and the items of this set are nodes")
        index = np.atleast_1d(np.asarray(index))
        ids = None if self.graph_ids is None else [self.graph_ids[i] for i in np.arange(len(self))[index]]
        return replace(self, graphs=self.graphs.select(index), y=self.y[index], graph_ids=ids, splits=(), skipped=())


def available(graphs: Graphs) -> tuple[str, ...]:
    """The node inputs these graphs carry."""
    given = {"label": graphs.node_label, "x": graphs.x}
    return tuple(name for name, values in given.items() if values is not None)


def is_known(y: NDArray[Any], task: Task) -> NDArray[np.bool_]:
    """(items,) where a target is known, at least one where there are several.

    >>> is_known(np.array([1, -1]), "classification").tolist(), is_known(np.array([np.nan, 1]), "regression").tolist()
    ([True, False], [False, True])
    """
    if task == "classification":
        return np.asarray(y >= 0)
    rows = y if y.ndim == 2 else y[:, None]
    return np.asarray(~np.isnan(rows.astype(np.float64)).all(axis=1))


def class_indices(values: ArrayLike) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Class indices 0 … C−1 and the original values in that order.

    >>> class_indices([3, -1, 3])
    (array([1, 0, 1]), (-1, 3))
    """
    classes, y = np.unique(np.asarray(values), return_inverse=True)
    return y.astype(np.int64).reshape(-1), tuple(classes.tolist())
