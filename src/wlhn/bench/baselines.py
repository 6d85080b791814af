"""One training epoch of each baseline against the straightforward PyG model of the same widths.

Those are written as PyG's own examples are: its layers, its DataLoader, dense matrices for DiffPool, a matrix for each
edge for ECC. HGCN, Geom-GCN and P-GNN have no counterpart in PyG.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import to_dense_adj, to_dense_batch

from wlhn.batching.collator import run_model
from wlhn.batching.loader import Loader
from wlhn.bench.epoch import BATCH, CHANNELS, LAYERS, trainer
from wlhn.bench.timing import Measured, alternate
from wlhn.data import Dataset
from wlhn.data.vocabulary import Vocabulary
from wlhn.graphs import to_pyg
from wlhn.loops.parallel import torch_threads
from wlhn.models.registry import build_model
from wlhn.nn.heads import EuclideanHead
from wlhn.options.training import InputOptions
from wlhn.training.problem import collator_of
from wlhn.training.settings import Settings

SORTED, CLUSTERS, EDGE_FILTERS = 30, 10, 16  # as our models have them


class Stack(nn.Module):
    """Convolutions, each with BatchNorm (of so many channels; 0: it has its own) and ReLU; the sum over nodes."""

    def __init__(self, convolutions: Sequence[nn.Module], width: int = CHANNELS, sees_edges: bool = False) -> None:
        super().__init__()
        self.convolutions, self.sees_edges = nn.ModuleList(convolutions), sees_edges
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) if width else nn.Identity() for _ in convolutions)

    def forward(self, h: Tensor, data: Any) -> Tensor:
        edges = (data.edge_index, data.edge_attr) if self.sees_edges else (data.edge_index,)
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            h = torch.relu(norm(convolution(h, *edges)))
        return pyg.global_add_pool(h, data.batch)


class SortPooled(nn.Module):
    """DGCNN: tanh convolutions side by side, PyG's sorting, two convolutions along it."""

    def __init__(self) -> None:
        super().__init__()
        widths = [CHANNELS] * (LAYERS + 1) + [1]
        self.convolutions = nn.ModuleList(pyg.GCNConv(a, b) for a, b in pairwise(widths))
        self.sort, width = pyg.SortAggregation(SORTED), sum(widths[1:])
        self.over_sorted_nodes = nn.Sequential(
            nn.Conv1d(1, 16, width, width), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(16, 32, 5), nn.ReLU(), nn.Flatten()
        )

    def forward(self, h: Tensor, data: Any) -> Tensor:
        outputs = []
        for convolution in self.convolutions:
            h = torch.tanh(convolution(h, data.edge_index))
            outputs.append(h)
        return self.over_sorted_nodes(self.sort(torch.cat(outputs, dim=1), data.batch)[:, None])


class DenseSAGE(nn.Module):
    """GraphSAGE layers on dense graphs, their outputs side by side."""

    def __init__(self, in_channels: int) -> None:
        super().__init__()
        widths = [in_channels] + [CHANNELS] * (LAYERS - 1)
        self.convolutions = nn.ModuleList(pyg.DenseSAGEConv(width, CHANNELS) for width in widths)
        self.norms = nn.ModuleList(nn.BatchNorm1d(CHANNELS) for _ in widths)

    def forward(self, h: Tensor, adjacency: Tensor, mask: Tensor | None = None) -> Tensor:
        outputs = []
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            h = torch.relu(norm(convolution(h, adjacency, mask).mT).mT)
            outputs.append(h)
        return torch.cat(outputs, dim=2)


class DensePooled(nn.Module):
    """DiffPool on dense matrices."""

    def __init__(self) -> None:
        super().__init__()
        side_by_side = LAYERS * CHANNELS
        self.embed, self.assign, self.pooled = DenseSAGE(CHANNELS), DenseSAGE(CHANNELS), DenseSAGE(side_by_side)
        self.to_clusters = nn.Linear(side_by_side, CLUSTERS)

    def forward(self, h: Tensor, data: Any) -> Tensor:
        dense, mask = to_dense_batch(h, data.batch)
        adjacency = to_dense_adj(data.edge_index, data.batch)
        z = self.embed(dense, adjacency, mask)
        s = self.to_clusters(self.assign(dense, adjacency, mask))
        pooled, links, link_loss, entropy = pyg.dense_diff_pool(z, adjacency, s, mask)
        out = torch.cat([z.amax(1), self.pooled(pooled, links).amax(1)], dim=1)
        return out + 0 * (link_loss + entropy)  # their gradients are part of the work


def edge_network(edge_channels: int) -> nn.Module:
    return nn.Sequential(nn.Linear(edge_channels, EDGE_FILTERS), nn.ReLU(), nn.Linear(EDGE_FILTERS, CHANNELS**2))


def perceptron() -> nn.Module:
    """GIN's."""
    linear = [nn.Linear(CHANNELS, CHANNELS) for _ in range(2)]
    return nn.Sequential(linear[0], nn.ReLU(), nn.BatchNorm1d(CHANNELS), linear[1])


def stacked(layer: Callable[[], nn.Module]) -> Callable[[int], nn.Module]:
    return lambda edge_channels: Stack([layer() for _ in range(LAYERS)])


HOPS = [0, 1, 2]
PLAIN: dict[str, tuple[Callable[[int], nn.Module], int]] = {  # body for so many edge channels, and its width
    "gin": (lambda edge_channels: Stack([pyg.GINConv(perceptron()) for _ in range(LAYERS)], width=0), CHANNELS),
    "gcn": (stacked(lambda: pyg.GCNConv(CHANNELS, CHANNELS)), CHANNELS),
    "gat": (stacked(lambda: pyg.GATConv(CHANNELS, CHANNELS // 4, 4)), CHANNELS),
    "graphsage": (stacked(lambda: pyg.SAGEConv(CHANNELS, CHANNELS)), CHANNELS),
    "mixhop": (
        lambda edge_channels: Stack(
            [pyg.MixHopConv(len(HOPS) * CHANNELS if t else CHANNELS, CHANNELS, HOPS) for t in range(LAYERS)],
            len(HOPS) * CHANNELS,
        ),
        len(HOPS) * CHANNELS,
    ),
    "dgcnn": (lambda edge_channels: SortPooled(), 32 * (SORTED // 2 - 4)),
    "diffpool": (lambda edge_channels: DensePooled(), 2 * LAYERS * CHANNELS),
    "ecc": (
        lambda edge_channels: Stack(
            [pyg.NNConv(CHANNELS, CHANNELS, edge_network(edge_channels), aggr="mean") for _ in range(LAYERS)],
            sees_edges=True,
        ),
        CHANNELS,
    ),
}


class Plain(nn.Module):
    """relu(Linear), a body of `PLAIN`, and the head that all models have."""

    def __init__(self, name: str, in_channels: int, out_channels: int, edge_channels: int) -> None:
        super().__init__()
        body, width = PLAIN[name]
        self.encoder, self.body = nn.Linear(in_channels, CHANNELS), body(edge_channels)
        self.head = EuclideanHead(width, out_channels)

    def forward(self, data: Any) -> Tensor:
        return self.head(self.body(torch.relu(self.encoder(data.x)), data))


@dataclass(frozen=True)
class BaselineTimes(Measured):
    """Best seconds of an epoch of one model, ours and PyG's."""

    model: str
    seconds: float
    pyg_seconds: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.pyg_seconds


def measure_baselines(dataset: Dataset, *, repeats: int = 5, num_threads: int = 2) -> Iterator[BaselineTimes]:
    """Model by model, ours and PyG's take turns on one data set of graphs with classes and labels of edges."""
    with torch_threads(num_threads):
        for model in PLAIN:
            epochs = {"seconds": _ours(model, dataset), "pyg_seconds": _plain(model, dataset)}
            yield BaselineTimes(model, **alternate(epochs, repeats, warm_up=1))


def _ours(name: str, dataset: Dataset) -> Callable[[], None]:
    settings = Settings.of(name, hidden_channels=CHANNELS, num_layers=LAYERS)
    vocabulary = Vocabulary.fit(dataset, InputOptions(edge_features=name == "ecc"))
    channels, edge_channels = vocabulary.in_channels, vocabulary.edge_channels
    model = build_model(name, settings.options, channels, dataset.num_outputs, "graph", edge_channels)
    y = torch.from_numpy(np.array(dataset.y))
    collator = collator_of(settings, vocabulary.encode(dataset.graphs), "graph")
    loader = Loader(lambda i: (collator.batch(i), y[torch.from_numpy(i)]), np.arange(len(y)), BATCH, shuffle=True)
    return trainer(model, lambda: ((run_model(model, batch), target) for batch, target in loader))


def _plain(name: str, dataset: Dataset) -> Callable[[], None]:
    encoded = Vocabulary.fit(dataset, InputOptions(edge_features=name == "ecc")).encode(dataset.graphs)
    graphs: list[Data] = to_pyg(replace(encoded.graphs, x=encoded.x))
    values = 0 if encoded.graphs.edge_attr is None else int(encoded.graphs.edge_attr.max()) + 1
    for data, y in zip(graphs, torch.from_numpy(np.array(dataset.y)), strict=True):
        data.y = y
        if values:
            data.edge_attr = nn.functional.one_hot(data.edge_attr[:, 0], values).float()
    model = Plain(name, encoded.x.shape[1], dataset.num_outputs, values)
    batches = DataLoader(graphs, BATCH, shuffle=True)
    return trainer(model, lambda: ((model(batch), batch.y) for batch in batches))
