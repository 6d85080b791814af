"""What a trained model knows of its input: fixed on the training data, applied to any graphs.

Numbers are shifted and scaled to mean 0 and deviation 1 over the training nodes, or pass as they are. A label, category
or edge label that was not there in training becomes nothing (a row of zeros, or the category −1, which embeds to zero),
and is counted. Missing numbers are filled by the mean of the training nodes (`wlhn.data.features`). A model that shall
tell in- from out-neighbours is given every edge a second time the other way round, with a further category that says
which of the two it is.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import zero_one_columns
from wlhn.data.dataset import Dataset
from wlhn.data.features import Encoding, Filling, encoding_for, fill
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.options.training import InputOptions


@dataclass(frozen=True)
class Columns:
    """Columns of features: so many numbers, or categories, of which these were there in training.

    >>> Columns.of(np.array([[5, 0], [7, 0]])).encode(np.array([[7, 1]]))[0]
    array([[ 1, -1]])
    """

    width: int
    known: tuple[tuple[int, ...], ...] | None  # rising, column by column; None: numbers
    shift: tuple[float, ...] = ()  # of numbers, where they are standardised
    scale: tuple[float, ...] = ()

    @staticmethod
    def of(values: NDArray[Any], standardise: bool = False) -> Columns:
        if np.issubdtype(values.dtype, np.integer):
            return Columns(values.shape[1], tuple(tuple(np.unique(column).tolist()) for column in values.T))
        # Columns of 0 and 1 stay: a rare 1 would become huge. So do columns that never change.
        if not standardise or not len(values) or (stay := ((values == 0) | (values == 1)).all(axis=0)).all():
            return Columns(values.shape[1], None)
        mean, deviation = values.mean(axis=0, dtype=np.float64), values.std(axis=0, dtype=np.float64)
        stay = stay | (deviation == 0)
        shift, scale = np.where(stay, 0.0, mean), np.where(stay, 1.0, deviation)
        return Columns(values.shape[1], None, tuple(shift.tolist()), tuple(scale.tolist()))

    @property
    def channels(self) -> int | tuple[int, ...]:
        """What `input_encoder` wants to know."""
        return self.width if self.known is None else tuple(map(len, self.known))

    def encode(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """(numbers as float32 or categories as codes 0, 1, …, which rows hold an unknown category)."""
        if values.ndim != 2 or values.shape[1] != self.width:
            raise InputError(f"features: expected {self.width} columns as in training, found shape {values.shape}")
        if self.known is None:
            numbers = (values - np.array(self.shift)) / np.array(self.scale) if self.scale else values
            return np.asarray(numbers, np.float32), np.zeros(len(values), bool)
        if not np.issubdtype(values.dtype, np.integer):
            raise InputError(f"features: expected integer categories as in training, found {values.dtype}")
        columns = [_places(column, known) for column, known in zip(values.T, self.known, strict=True)]
        codes = np.stack(columns, axis=1)
        return codes, np.asarray((codes < 0).any(axis=1))


def _places(values: NDArray[Any], known: tuple[int, ...]) -> NDArray[np.int64]:
    """The place of each value among the known ones, or −1."""
    table = np.array(known, dtype=np.int64)
    place = np.minimum(np.searchsorted(table, values), max(len(table) - 1, 0))
    return np.where(table[place] == values, place, -1) if len(table) else np.full(len(values), -1)


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
    (3, 38)
    """

    nodes: Encoding
    columns: Columns
    edges: Literal["labels", "features", "both"] | None = None  # what the model sees of an edge
    edge_columns: Columns | None = None
    edge_filling: Filling | None = None  # of edges' features that are numbers
    directed: bool = False  # whether edges come in both directions, and say in which
    edge_label_values: tuple[int, ...] = ()  # rising, where labels stand beside numbers, as 0/1 columns
    blocks: tuple[tuple[int, int], ...] = ()  # of x: 0/1 columns of which every training node has one
    edge_blocks: tuple[tuple[int, int], ...] = ()  # likewise of edges' features

    @staticmethod
    def fit(dataset: Dataset, options: InputOptions | None = None) -> Vocabulary:
        """From all graphs of a data set: give it the training graphs."""
        options = options or InputOptions()
        graphs, nodes, directed = dataset.graphs, encoding_for(dataset, options), options.directed
        if directed and not graphs.has_directions:
            raise InputError(
                f"{dataset.name}: its graphs are undirected, every edge stands there in both directions; leave "
                "`directed` out (tables and edge lists are read with directions by `--directed` or "
                "`load(..., directed=True)`)"
            )
        columns = Columns.of(nodes.encode(graphs), options.standardise)
        blocks = _blocks(dataset, edge=False) if "x" in nodes.inputs else ()
        plain = Vocabulary(nodes, columns, directed=directed, blocks=blocks)
        if not options.edge_features:
            return plain
        label, attr = graphs.edge_label, graphs.edge_attr
        if label is None and attr is None:
            raise InputError(f"{dataset.name}: edges have neither labels nor features, and edge_features asks for them")
        seen = replace(
            plain,
            edges="both" if label is not None and attr is not None else "features" if label is None else "labels",
            edge_label_values=() if label is None or attr is None else tuple(np.unique(label).tolist()),
            edge_blocks=_blocks(dataset, edge=True),
        )
        values = seen._edge_values(graphs)
        filling = Filling.of(values)
        edge_columns = Columns.of(fill(filling, values)[0], options.standardise)
        return replace(seen, edge_columns=edge_columns, edge_filling=filling)

    @property
    def in_channels(self) -> int | tuple[int, ...]:
        return self.columns.channels

    @property
    def edge_channels(self) -> int | tuple[int, ...]:
        own: int | tuple[int, ...] = () if self.edge_columns is None else self.edge_columns.channels
        if not self.directed:
            return own or 0
        return own + 1 if isinstance(own, int) else (*own, 2)

    def encode(self, graphs: Graphs) -> Encoded:
        """Graphs as the model sees them, and how much of them it has never seen."""
        rows, gaps = self.nodes.encode_with_gaps(graphs)
        if self.columns.known is None and np.issubdtype(rows.dtype, np.integer) and "label" in self.nodes.inputs:
            raise InputError(
                "features: the model is of an earlier version, which took labels and whole numbers side by side for "
                "numbers; they are categories now, so train it again"
            )
        x, unknown = self.columns.encode(rows)
        unknown = unknown | gaps
        if "label" in self.nodes.inputs and graphs.node_label is not None:
            unknown = unknown | ~np.isin(graphs.node_label, self.nodes.label_values)
        unknown = unknown | _without_category(graphs.x, self.blocks)
        if not self.nodes.inputs and self.nodes.degree == "onehot":
            unknown = unknown | (graphs.degree > self.nodes.max_degree)
        plain, unseen = replace(graphs, edge_label=None, edge_attr=None), int(unknown.sum())
        if self.edge_columns is None:
            edge_x = np.empty((graphs.num_edges, 0), np.int64)
            return Encoded(_both_ways(plain, edge_x) if self.directed else plain, x, unseen, 0)
        edge_rows, edge_gaps = fill(self.edge_filling, self._edge_values(graphs))
        edge_x, unknown_edges = self.edge_columns.encode(edge_rows)
        unknown_edges = unknown_edges | edge_gaps | _without_category(graphs.edge_attr, self.edge_blocks)
        if self.edge_label_values and graphs.edge_label is not None:
            unknown_edges = unknown_edges | ~np.isin(graphs.edge_label, self.edge_label_values)
        seen = _both_ways(plain, edge_x) if self.directed else replace(plain, edge_attr=edge_x)
        return Encoded(seen, x, unseen, int(unknown_edges.sum()))

    def _edge_values(self, graphs: Graphs) -> NDArray[Any]:
        """(edges, columns) of what the model sees of an edge: a label beside numbers as 0/1 columns, beside categories
        as one more of them."""
        label, attr = graphs.edge_label, graphs.edge_attr
        lacking = [
            name
            for name, given in (("labels", label), ("features", attr))
            if given is None and self.edges in (name, "both")
        ]
        if lacking and not graphs.num_edges:  # nor anything to label
            assert self.edge_columns is not None
            width = self.edge_columns.width if self.edge_filling is None else len(self.edge_filling.means)
            return np.empty((0, width), np.float32 if self.edge_columns.known is None else np.int64)
        if lacking:
            raise InputError(f"graphs have no edge {lacking[0]}; those that the model was trained on had them")
        if self.edges == "labels":
            assert label is not None
            return label[:, None]
        assert attr is not None
        if self.edges == "features":
            return attr
        assert label is not None
        if np.issubdtype(attr.dtype, np.integer):
            return np.column_stack([label, attr])
        labels = label[:, None] == np.array(self.edge_label_values, np.int64)
        return np.concatenate([labels.astype(attr.dtype), attr], axis=1)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def _blocks(dataset: Dataset, *, edge: bool) -> tuple[tuple[int, int], ...]:
    """The 0/1 columns that stand for categories, where every row has one of these."""
    graphs = dataset.graphs
    label, values = (graphs.edge_label, graphs.edge_attr) if edge else (graphs.node_label, graphs.x)
    if values is None:
        return ()
    found = zero_one_columns(dataset.columns, values.shape[1], edge=edge, labelled=label is not None)
    return tuple((first, end) for first, end in found if (values[:, first:end].sum(axis=1) == 1).all())


def _without_category(values: NDArray[Any] | None, blocks: tuple[tuple[int, int], ...]) -> NDArray[np.bool_] | bool:
    """Which rows have none of the categories that were there in training."""
    if values is None or not blocks:
        return False
    return np.any([(values[:, first:end] == 0).all(axis=1) for first, end in blocks], axis=0)


def _both_ways(graphs: Graphs, edge_x: NDArray[Any]) -> Graphs:
    """Graphs with each edge in both directions, its row with one more column: 0 as it stands there, 1 turned round."""
    doubled, code = graphs.in_both_directions(np.arange(graphs.num_edges, dtype=np.int32))
    edge, turned = np.divmod(code, 2)
    return replace(doubled, edge_attr=np.column_stack([edge_x[edge], turned.astype(edge_x.dtype)]))
