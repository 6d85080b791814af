"""Answers of a trained WLHN against PyG's GIN: how long one graph takes, and how many graphs a second.

Ours starts from graphs as they were read: it encodes them, refines their colours, runs the model, and says which
colours training had not. GIN has PyG's graphs with their features ready, gives the softmax of its outputs, and no more;
its weights are random, which costs the same. Small graphs are drawn from a data set, with repetition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.loader import DataLoader

from wlhn.bench.epoch import BATCH, CHANNELS, LAYERS, PlainGIN
from wlhn.bench.timing import alternate, threads
from wlhn.data import features, load
from wlhn.data.splits import Split
from wlhn.errors import InputError
from wlhn.graphs import Graphs, to_pyg
from wlhn.runs.trained import Trained
from wlhn.training.fit import fit
from wlhn.training.problem import GRAPHS_AT_A_TIME, Problem
from wlhn.training.settings import Settings

ROUNDS = 20  # of one graph's answer, for each round of all graphs


@dataclass(frozen=True)
class PredictionTimes:
    """Best seconds for one graph, and graphs a second over many."""

    dataset: str
    graphs: int
    wlhn_latency: float
    gin_latency: float
    latency_ratio: float  # WLHN/GIN, seconds
    wlhn_per_second: float
    gin_per_second: float
    throughput_ratio: float  # WLHN/GIN, graphs a second


def measure_prediction(
    name: str = "MUTAG",
    *,
    num_graphs: int = 100_000,
    data_root: str | Path | None = None,
    repeats: int = 3,
    num_threads: int = 2,
    seed: int = 0,
) -> PredictionTimes:
    """Answers for one graph and for many, contestants taking turns."""
    dataset = load(name, data_root=data_root)
    if dataset.level != "graph" or dataset.task != "classification":
        raise InputError(f"{name}: expected graphs with classes, found {dataset.level} {dataset.task}")
    if num_graphs < 1:
        raise InputError(f"graphs: expected 1 or more, found {num_graphs}")
    items = np.arange(len(dataset))
    settings = Settings.of(hidden_channels=CHANNELS, num_layers=LAYERS, batch_size=BATCH, epochs=1)
    with threads(num_threads):
        problem = Problem(dataset, Split(items[1:], items[:1], items[:0]), settings)
        trained = Trained.of(problem, fit(problem, seed))
        drawn = np.random.default_rng(seed).integers(0, len(dataset), num_graphs)
        ours, theirs = dataset.graphs.select(drawn), _pyg(dataset, drawn)
        one: dict[str, Callable[[], Any]] = {
            "wlhn": lambda: _answer(trained, ours.select(np.array([0]))),
            "gin": lambda: theirs(1),
        }
        latency = alternate(one, ROUNDS * repeats)
        every: dict[str, Callable[[], Any]] = {
            "wlhn": lambda: _answer(trained, ours),
            "gin": lambda: theirs(num_graphs),
        }
        seconds = alternate(every, repeats)
    return PredictionTimes(
        dataset=dataset.name,
        graphs=num_graphs,
        wlhn_latency=latency["wlhn"],
        gin_latency=latency["gin"],
        latency_ratio=latency["wlhn"] / latency["gin"],
        wlhn_per_second=num_graphs / seconds["wlhn"],
        gin_per_second=num_graphs / seconds["gin"],
        throughput_ratio=seconds["gin"] / seconds["wlhn"],
    )


def _answer(trained: Trained, graphs: Graphs) -> int:
    """How many answers there are, once all are given."""
    return sum(len(predicted.outputs) for predicted in trained.predict(graphs))


def _pyg(dataset: Any, drawn: Any) -> Callable[[int], int]:
    """A function that answers the first so many of the drawn graphs."""
    x, ptr = features(dataset), dataset.graphs.node_ptr
    model = PlainGIN(x.shape[1], dataset.num_outputs, hidden_channels=CHANNELS, num_layers=LAYERS).eval()
    graphs = to_pyg(dataset.graphs)
    for g, data in enumerate(graphs):
        data.x = torch.from_numpy(x[ptr[g] : ptr[g + 1]])
    many = [graphs[i] for i in drawn]

    def answer(count: int) -> int:
        with torch.no_grad():
            if count == 1:  # as one would ask for it: no batch, no loader
                return len(model(many[0].x, many[0].edge_index).softmax(1))
            batches = DataLoader(many[:count], GRAPHS_AT_A_TIME)
            return sum(len(model(b.x, b.edge_index, b.batch).softmax(1)) for b in batches)

    return answer
