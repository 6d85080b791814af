"""Mini-batches of encoded graphs, in the form that a model computes on: unions of colours, or nodes as in PyG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wlhn.batching.colour_batch import ColourBatch
from wlhn.batching.matrices import lasting
from wlhn.batching.refined import make_quotient
from wlhn.data.dataset import TargetLevel
from wlhn.data.vocabulary import Encoded
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.options.training import TrainingOptions


@dataclass(frozen=True, eq=False)
class NodeBatch:
    """A batch of graphs as PyG has it."""

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    edge_attr: Tensor | None

    def to(self, device: Any) -> NodeBatch:
        """The same batch on another device."""
        edge_attr = None if self.edge_attr is None else self.edge_attr.to(device)
        return NodeBatch(self.x.to(device), self.edge_index.to(device), self.batch.to(device), edge_attr)


class Collator:
    """Encoded graphs that give the mini-batch of any positions, as colours or as nodes.

    Args:
        encoded: the graphs.
        on_colours: whether mini-batches are rows of colours, else of nodes.
        depth: layers of the model, which is how deep colours are refined.
        level: what has targets, graphs or nodes.
        whole_graph_nodes: of node tasks with more nodes than this, mini-batches are nodes with all they depend on.

    >>> from wlhn.data import load
    >>> from wlhn.data.vocabulary import Vocabulary
    >>> mutag = load("MUTAG")
    >>> encoded = Vocabulary.fit(mutag).encode(mutag.graphs)
    >>> Collator(encoded, on_colours=False).batch(np.array([0, 1])).x.shape
    torch.Size([30, 7])
    """

    def __init__(
        self,
        encoded: Encoded,
        on_colours: bool,
        depth: int = 0,
        level: TargetLevel = "graph",
        whole_graph_nodes: int = TrainingOptions.whole_graph_nodes,
    ) -> None:
        graphs = encoded.graphs
        empty = np.flatnonzero(np.diff(graphs.node_ptr) == 0)
        if len(empty):
            raise InputError(f"graph {empty[0]}: has no nodes; a model needs at least one")
        self.graphs, self.x, self.level, self.whole_graph_nodes = graphs, encoded.x, level, whole_graph_nodes
        edges = graphs.edge_attr is not None
        self.quotient = make_quotient(graphs, encoded.x, depth, edges, level == "node") if on_colours else None

    @property
    def by_nodes(self) -> bool:
        """Whether nodes come as `batch_of_nodes`: there are too many for whole graphs to be mini-batches."""
        return self.quotient is not None and self.level == "node" and self.graphs.num_nodes > self.whole_graph_nodes

    def batch_of_nodes(self, nodes: NDArray[Any]) -> ColourBatch:
        """These nodes with all they depend on."""
        assert self.quotient is not None
        return self.quotient.batch_of_nodes(nodes)

    def batch(self, index: NDArray[Any]) -> ColourBatch | NodeBatch:
        """The graphs at these positions as one batch."""
        if self.quotient is not None:
            return self.quotient.batch(index)
        part = Graphs(
            self.graphs.node_ptr, self.graphs.row_ptr, self.graphs.neighbour, self.x, None, None, self.graphs.edge_attr
        ).select(index)
        assert part.x is not None
        return NodeBatch(
            x=torch.from_numpy(part.x),
            edge_index=lasting(torch.from_numpy(part.edge_index.astype(np.int64))),
            batch=torch.from_numpy(part.graph_of_node),
            edge_attr=None if part.edge_attr is None else torch.from_numpy(part.edge_attr),
        )

    def work(self) -> NDArray[Any]:
        """About how much work each item of a batch is, graph or node: rows, and the entries between them."""
        if self.by_nodes:
            return 1 + self.graphs.degree
        if self.quotient is not None:
            return self.quotient.work()
        return np.diff(self.graphs.node_ptr) + np.diff(self.graphs.row_ptr[self.graphs.node_ptr])


def run_model(model: nn.Module, batch: ColourBatch | NodeBatch) -> Tensor:
    """A model's outputs for a batch; they come back to the CPU from wherever the model is."""
    place = next(model.parameters(), torch.empty(0)).device
    if place.type != "cpu":
        return _run(model, batch.to(place)).cpu()
    return _run(model, batch)


def _run(model: nn.Module, batch: ColourBatch | NodeBatch) -> Tensor:
    if isinstance(batch, ColourBatch):
        outputs: Tensor = model.run_on_colours(batch)  # type: ignore[operator]
        return outputs
    return model(batch.x, batch.edge_index, batch.batch, batch.edge_attr)
