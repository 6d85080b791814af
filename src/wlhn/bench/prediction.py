"""Answers of a trained WLHN against PyG's GIN: how long one graph takes, and how many graphs a second.

Ours starts from graphs as they were read: it encodes them, refines their colours, runs the model, and says which
colours training had not. GIN has PyG's graphs with their features ready, gives the softmax of its outputs, and no more;
its weights are random, which costs the same. Small graphs are drawn from a data set, with repetition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch_geometric.loader import DataLoader

from wlhn.bench.epoch import BATCH, CHANNELS, LAYERS, PlainGIN, check_graphs_with_classes, pyg_graphs
from wlhn.bench.timing import Measured, alternate
from wlhn.data import Dataset
from wlhn.data.splits import Split
from wlhn.loops.parallel import torch_threads
from wlhn.options.checks import check_at_least
from wlhn.runs.trained import Trained
from wlhn.training.fit import fit
from wlhn.training.problem import GRAPHS_AT_A_TIME, Problem
from wlhn.training.settings import Settings

ANSWERS = 20  # of one graph's answer, for each round of all graphs


@dataclass(frozen=True)
class PredictionTimes(Measured):
    """Best seconds for one graph, and graphs a second over many."""

    dataset: str
    graphs: int
    wlhn_latency: float
    gin_latency: float
    wlhn_per_second: float
    gin_per_second: float

    @property
    def latency_ratio(self) -> float:
        """WLHN/GIN, seconds."""
        return self.wlhn_latency / self.gin_latency

    @property
    def throughput_ratio(self) -> float:
        """WLHN/GIN, graphs a second."""
        return self.wlhn_per_second / self.gin_per_second


def measure_prediction(
    dataset: Dataset, *, num_graphs: int = 100_000, repeats: int = 3, num_threads: int = 2, seed: int = 0
) -> PredictionTimes:
    """Answers for one graph and for many, contestants taking turns."""
    check_graphs_with_classes(dataset)
    check_at_least("graphs", num_graphs, 1)
    items = np.arange(len(dataset))
    settings = Settings.of(hidden_channels=CHANNELS, num_layers=LAYERS, batch_size=BATCH, epochs=1)
    with torch_threads(num_threads):
        problem = Problem(dataset, Split(items[1:], items[:1], items[:0]), settings)
        trained = Trained.of(problem, fit(problem, seed))
        drawn = np.random.default_rng(seed).integers(0, len(dataset), num_graphs)
        ours, theirs = dataset.graphs.select(drawn), _pyg(dataset, drawn)
        one = {"wlhn": lambda: list(trained.predict(ours.select([0]))), "gin": lambda: theirs(1)}
        latency = alternate(one, ANSWERS * repeats)
        every = {
            "wlhn": lambda: [len(part.outputs) for part in trained.predict(ours)],
            "gin": lambda: theirs(num_graphs),
        }
        seconds = alternate(every, repeats)
    return PredictionTimes(
        dataset=dataset.name,
        graphs=num_graphs,
        wlhn_latency=latency["wlhn"],
        gin_latency=latency["gin"],
        wlhn_per_second=num_graphs / seconds["wlhn"],
        gin_per_second=num_graphs / seconds["gin"],
    )


def _pyg(dataset: Dataset, drawn: Any) -> Callable[[int], Any]:
    """A function that answers the first so many of the drawn graphs."""
    graphs = pyg_graphs(dataset)
    width = graphs[0].x.shape[1]
    model = PlainGIN(width, dataset.num_outputs, hidden_channels=CHANNELS, num_layers=LAYERS).eval()
    many = [graphs[i] for i in drawn]

    @torch.no_grad()
    def answer(count: int) -> Any:
        if count == 1:  # as one would ask for it: no batch, no loader
            return model(many[0].x, many[0].edge_index).softmax(1)
        batches = DataLoader(many[:count], GRAPHS_AT_A_TIME)
        return [model(b.x, b.edge_index, b.batch).softmax(1) for b in batches]

    return answer
