"""One training epoch of WLHN against the plain GIN it contains, against HGCN, and against itself node by node.

GIN is PyG's: GINConv, global_add_pool and PyG's DataLoader, in the same widths and with the same head, optimiser and
batch size. WLHN runs on colours with our loader. Both shuffle, put their batches together, and take every step of an
epoch; what is done once for a data set (reading, refining) is outside.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv

from wlhn.batching.loader import Loader
from wlhn.batching.refined import make_quotient
from wlhn.bench.timing import Measured, alternate, peak_memory, reset_peak_memory
from wlhn.data import Dataset, features
from wlhn.errors import InputError
from wlhn.graphs import to_pyg
from wlhn.loops.parallel import torch_threads
from wlhn.models import WLHN
from wlhn.models.gin import GIN
from wlhn.models.hgcn import PoincareHGCN

TEN = (  # the paper's
    "MUTAG",
    "DD",
    "NCI1",
    "PROTEINS",
    "ENZYMES",
    "IMDB-BINARY",
    "IMDB-MULTI",
    "REDDIT-BINARY",
    "REDDIT-MULTI-5K",
    "COLLAB",
)
CHANNELS, LAYERS, BATCH = 64, 3, 128


class PlainGIN(GIN):
    """GIN by PyG's own layers. (Our baseline has the same ones with a faster sum over neighbours.)"""

    def represent(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor | None) -> Tensor:
        for layer in self.layers:
            h = torch.relu(GINConv.forward(layer, h, edge_index))
        return h


@dataclass(frozen=True)
class EpochTimes(Measured):
    """One row of the table: best seconds of each, and what data and training add in a process of its own."""

    dataset: str
    nodes: int
    colours: int  # at the last depth, over the whole set
    wlhn_seconds: float
    gin_seconds: float
    per_node_seconds: float
    wlhn_megabytes: float
    gin_megabytes: float

    @property
    def ratio(self) -> float:
        """WLHN/GIN."""
        return self.wlhn_seconds / self.gin_seconds


def check_graphs_with_classes(dataset: Dataset) -> None:
    """Data sets of other things than graphs to classify are refused."""
    if dataset.level != "graph" or dataset.task != "classification":
        raise InputError(f"{dataset.name}: must be graphs with classes, found {dataset.level} {dataset.task}")


def measure_epoch(dataset: Dataset, *, repeats: int = 5, num_threads: int = 2) -> EpochTimes:
    """Epochs of the contestants on one data set, taking turns, best of several."""
    check_graphs_with_classes(dataset)
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:  # each in a process of its own
        memory = {each: pool.apply(_one_epoch, (each, dataset, num_threads)) for each in ("wlhn", "gin")}
    contestants = {"wlhn_seconds": "wlhn", "gin_seconds": "gin", "per_node_seconds": "wlhn_per_node"}
    with torch_threads(num_threads):
        epochs = {key: make_epoch(contestant, dataset) for key, contestant in contestants.items()}
        best = alternate(epochs, repeats, warm_up=1)
    return EpochTimes(
        dataset=dataset.name,
        nodes=dataset.graphs.num_nodes,
        colours=make_quotient(dataset.graphs, features(dataset), LAYERS).hierarchy.num_colours[-1],
        wlhn_megabytes=memory["wlhn"] / 1e6,
        gin_megabytes=memory["gin"] / 1e6,
        **best,
    )


def make_epoch(contestant: str, dataset: Dataset) -> Callable[[], None]:
    """A function that trains the contestant for one epoch."""
    torch.manual_seed(0)
    x, y = features(dataset), torch.from_numpy(np.array(dataset.y))
    wlhn = partial(WLHN, lengths="fixed")  # as the paper has it
    kinds: dict[str, Any] = {"wlhn": wlhn, "wlhn_per_node": wlhn, "gin": PlainGIN, "hgcn": PoincareHGCN}
    model = kinds[contestant](x.shape[1], dataset.num_outputs, hidden_channels=CHANNELS, num_layers=LAYERS)
    if contestant == "wlhn":
        quotient = make_quotient(dataset.graphs, x, LAYERS)
        loader = Loader(lambda i: (quotient.batch(i), y[torch.from_numpy(i)]), np.arange(len(y)), BATCH, shuffle=True)
        return trainer(model, lambda: ((model.run_on_colours(batch), target) for batch, target in loader))
    batches = DataLoader(pyg_graphs(dataset), BATCH, shuffle=True)
    return trainer(model, lambda: ((model(b.x, b.edge_index, b.batch), b.y) for b in batches))


def pyg_graphs(dataset: Dataset) -> list[Data]:
    """Graphs as PyG has them, with the features that networks see and their targets."""
    x, y = features(dataset), torch.from_numpy(np.array(dataset.y))
    graphs, ptr = to_pyg(dataset.graphs), dataset.graphs.node_ptr
    for g, data in enumerate(graphs):
        data.x = torch.from_numpy(x[ptr[g] : ptr[g + 1]])
        data.y = y[g : g + 1] if dataset.level == "graph" else y[ptr[g] : ptr[g + 1]]
    return graphs


def trainer(model: nn.Module, outputs: Callable[[], Iterator[tuple[Tensor, Tensor]]]) -> Callable[[], None]:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    def epoch() -> None:
        model.train()
        for out, target in outputs():
            optimizer.zero_grad()
            cross_entropy(out, target).backward()
            optimizer.step()

    return epoch


def _one_epoch(contestant: str, dataset: Dataset, num_threads: int) -> int:
    """Peak memory of an epoch, batches and prepared data included, over what a process has with all code loaded."""
    with torch_threads(num_threads):
        make_epoch(contestant, dataset.select(np.arange(4)))()  # import and compile
        before = reset_peak_memory()
        make_epoch(contestant, dataset)()
    return peak_memory() - before
