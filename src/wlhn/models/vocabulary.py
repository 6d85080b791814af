"""What a trained model knows of its input: fixed on the training data, applied to any graphs.

Numbers pass as they are. A label, category or edge label that was not there in training becomes nothing (a row of
zeros, or the category −1, which embeds to zero), and is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.data.features import Degree, Encoding, encoding
from wlhn.errors import InputError
from wlhn.graphs import Graphs


@dataclass(frozen=True)
class Columns:
    """Columns of features: numbers, or categories of these sizes."""

    kind: Literal["numbers", "categories"]
    sizes: tuple[int, ...]  # of numbers: 1 each

    @staticmethod
    def of(values: NDArray[Any]) -> Columns:
        if np.issubdtype(values.dtype, np.integer):
            return Columns("categories", tuple(int(top) + 1 for top in values.max(axis=0, initial=0)))
        return Columns("numbers", (1,) * values.shape[1])

    @property
    def channels(self) -> int | tuple[int, ...]:
        """What `input_encoder` wants to know."""
        return len(self.sizes) if self.kind == "numbers" else self.sizes

    def encode(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """(the columns as float32 or int64, which rows hold an unknown category)."""
        if values.ndim != 2 or values.shape[1] != len(self.sizes):
            raise InputError(f"features: expected {len(self.sizes)} columns as in training, found {values.shape[1:]}")
        if self.kind == "numbers":
            return np.asarray(values, np.float32), np.zeros(len(values), bool)
        if not np.issubdtype(values.dtype, np.integer):
            raise InputError(f"features: expected integer categories as in training, found {values.dtype}")
        unknown = (values < 0) | (values >= np.array(self.sizes))
        return np.where(unknown, -1, values).astype(np.int64), np.asarray(unknown.any(axis=1))


@dataclass(frozen=True, eq=False)
class Encoded:
    """Graphs as a model sees them."""

    graphs: Graphs  # edge_attr encoded, where the model sees edges
    x: NDArray[Any]
    unseen_nodes: int  # nodes with a label or category that training had not
    unseen_edges: int


@dataclass(frozen=True)
class Vocabulary:
    """How nodes and edges become rows that mean the same in training and ever after.

    >>> from wlhn.data import load
    >>> mutag = load("MUTAG")
    >>> vocabulary = Vocabulary.fit(mutag.select([0, 1, 2]))
    >>> vocabulary.in_channels, vocabulary.encode(mutag.graphs).unseen_nodes
    (3, 32)
    """

    nodes: Encoding
    columns: Columns
    edge_labels: tuple[int, ...] = ()  # known ones, rising
    edge_columns: Columns | None = None

    @staticmethod
    def fit(dataset: Dataset, degree: Degree = "scalar", edges: bool = False) -> Vocabulary:
        """From all graphs of a data set: give it the training graphs."""
        graphs, nodes = dataset.graphs, encoding(dataset, degree=degree)
        columns = Columns.of(nodes.encode(graphs))
        if not edges:
            return Vocabulary(nodes, columns)
        if graphs.edge_label is not None:
            known = tuple(np.unique(graphs.edge_label).tolist())
            return Vocabulary(nodes, columns, known, Columns("categories", (len(known),)))
        if graphs.edge_attr is None:
            raise InputError(f"{dataset.name}: edges have neither labels nor features, expected either (edge_features)")
        return Vocabulary(nodes, columns, edge_columns=Columns.of(graphs.edge_attr))

    @property
    def in_channels(self) -> int | tuple[int, ...]:
        return self.columns.channels

    @property
    def edge_channels(self) -> int | tuple[int, ...]:
        return 0 if self.edge_columns is None else self.edge_columns.channels

    def encode(self, graphs: Graphs) -> Encoded:
        """Graphs as the model sees them, and how much of them it has never seen."""
        x, unknown = self.columns.encode(self.nodes.encode(graphs))
        if "label" in self.nodes.inputs and graphs.node_label is not None:
            unknown = unknown | ~np.isin(graphs.node_label, self.nodes.label_values)
        if not self.nodes.inputs and self.nodes.degree == "onehot":
            unknown = unknown | (graphs.degree > self.nodes.max_degree)
        if self.edge_columns is None:
            return Encoded(replace(graphs, edge_label=None, edge_attr=None), x, int(unknown.sum()), 0)
        edge_x, unknown_edges = self.edge_columns.encode(self._edge_values(graphs))
        seen = replace(graphs, edge_label=None, edge_attr=edge_x)
        return Encoded(seen, x, int(unknown.sum()), int(unknown_edges.sum()))

    def _edge_values(self, graphs: Graphs) -> NDArray[Any]:
        given = graphs.edge_label if self.edge_labels else graphs.edge_attr
        if given is None:
            raise InputError(f"graphs have no edge {'labels' if self.edge_labels else 'features'}, training had")
        if not self.edge_labels:
            return given
        known = np.array(self.edge_labels)
        place = np.minimum(np.searchsorted(known, given), len(known) - 1)
        return np.where(known[place] == given, place, -1)[:, None]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> Vocabulary:
        """What `to_json` gave.

        >>> from wlhn.data import load
        >>> vocabulary = Vocabulary.fit(load("MUTAG"), edges=True)
        >>> Vocabulary.from_json(vocabulary.to_json()) == vocabulary
        True
        """
        nodes: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in document["nodes"].items()}
        edge_columns = document["edge_columns"]
        return Vocabulary(
            nodes=Encoding(**nodes),
            columns=_columns(document["columns"]),
            edge_labels=tuple(document["edge_labels"]),
            edge_columns=None if edge_columns is None else _columns(edge_columns),
        )


def _columns(document: Mapping[str, Any]) -> Columns:
    return Columns(document["kind"], tuple(document["sizes"]))
