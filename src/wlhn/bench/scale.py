"""Large graphs on one machine: time and memory of every step from an array of edges to learning and embedding.

Random graphs, ten directed edges for each node on average; three rounds from degrees, WLHN with 64 dimensions. Nodes
are learned from in batches, each with the colours it depends on, and embedded depth by depth, every colour once. Large
collections are graphs drawn, with repeats, from a data set: their number grows, their kinds only as far as it has them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from wlhn.batching.quotient import Quotient
from wlhn.batching.refined import make_quotient
from wlhn.bench.refinement import random_edges
from wlhn.bench.timing import Measured, peak_memory
from wlhn.data.dataset import Dataset
from wlhn.data.vocabulary import Vocabulary
from wlhn.graphs import Graphs
from wlhn.hierarchy import refine
from wlhn.hyperbolic.polar import to_tangent
from wlhn.models.wlhn import WLHN
from wlhn.options.checks import check_at_least
from wlhn.options.training import TrainingOptions
from wlhn.runs.layerwise import depths, points
from wlhn.runs.trained import NODES_AT_A_TIME

ROUNDS, DIMENSION, CLASSES, STEPS = 3, 64, 8, 5
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)  # nodes
COLLECTIONS = (1_000, 10_000, 100_000, 400_000)  # graphs
BATCH = 128  # graphs


@dataclass(frozen=True)
class Scale(Measured):
    """Seconds for each step; peak memory is that of the process so far, so sizes rise."""

    nodes: int
    directed_edges: int
    colours: int  # of the last depth
    group_seconds: float  # edges → graph
    refine_seconds: float  # graph → hierarchy
    count_seconds: float  # hierarchy → colours with their counted neighbours, ready for batches
    step_seconds: float  # one training step on a mini-batch of nodes, on average
    step_rows: int  # rows of colours in such a step, all depths together
    embed_seconds: float  # all nodes
    peak_gigabytes: float

    @property
    def microseconds_per_node(self) -> float:
        """From the array of edges to a vector for every node."""
        total = self.group_seconds + self.refine_seconds + self.count_seconds + self.embed_seconds
        return 1e6 * total / self.nodes


def scale(max_nodes: int = SIZES[-2], seed: int = 0, report: Callable[[Scale], None] = lambda row: None) -> list[Scale]:
    """Graphs from ten thousand nodes to as many as asked for; `report` hears of each size in turn."""
    check_at_least("nodes", max_nodes, 100)
    measure(min(5_000, max_nodes), seed)  # compile
    rows = []
    for nodes in [size for size in SIZES if size <= max_nodes] or [max_nodes]:
        rows.append(measure(nodes, seed))
        report(rows[-1])
    return rows


def measure(nodes: int, seed: int) -> Scale:
    """One graph of this size."""
    seconds: dict[str, float] = {}

    @contextmanager
    def timed(step: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        seconds[f"{step}_seconds"] = time.perf_counter() - start

    edges, _ = random_edges(10 * nodes, seed)
    with timed("group"):
        graphs = Graphs.from_edges(edges, nodes)
    del edges
    with timed("refine"):
        hierarchy = refine(graphs, ROUNDS, "degree")
    with timed("count"):
        quotient = Quotient(hierarchy, torch.from_numpy(hierarchy.initial_values[:, None].astype(np.float32)))
    torch.manual_seed(seed)
    model = WLHN(1, CLASSES, level="node", hidden_channels=DIMENSION, num_layers=ROUNDS)
    optimizer = torch.optim.Adam(model.parameters())
    random = np.random.default_rng(seed)
    rows = 0
    with timed("step"):
        for _ in range(STEPS):
            chosen = random.integers(0, nodes, min(TrainingOptions.nodes_per_batch, nodes))
            batch = quotient.batch_of_nodes(chosen)
            rows = max(rows, sum(batch.num_rows))
            loss = F.cross_entropy(model.run_on_colours(batch), torch.from_numpy(graphs.degree[chosen] % CLASSES))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    vectors = np.empty((nodes, DIMENSION), np.float32)
    with timed("embed"), tempfile.TemporaryDirectory(prefix="wlhn") as folder:
        layers = depths(model, quotient, Path(folder), every=False)
        for here in np.split(np.arange(nodes), range(NODES_AT_A_TIME, nodes, NODES_AT_A_TIME)):
            vectors[here] = to_tangent(*points(layers, hierarchy, here)[-1][:2]).numpy()
    seconds["step_seconds"] /= STEPS
    return Scale(
        nodes=nodes,
        directed_edges=graphs.num_edges,
        colours=hierarchy.num_colours[-1],
        step_rows=rows,
        peak_gigabytes=peak_memory() / 1e9,
        **seconds,
    )


@dataclass(frozen=True)
class Collection(Measured):
    """One row of the table of collections; peak memory is that of the process so far."""

    graphs: int
    nodes: int
    colours: int  # of the last depth
    refine_seconds: float  # graphs → colours with their counted neighbours, ready for batches
    step_seconds: float  # one training step on BATCH graphs, on average
    peak_gigabytes: float


def collections(
    dataset: Dataset, max_graphs: int = COLLECTIONS[-1], seed: int = 0, steps: int = 4 * STEPS
) -> list[Collection]:
    """Collections drawn from a data set, from a thousand graphs to as many as asked for."""
    vocabulary = Vocabulary.fit(dataset)
    torch.manual_seed(seed)
    model = WLHN(vocabulary.in_channels, CLASSES, hidden_channels=DIMENSION, num_layers=ROUNDS)
    optimizer = torch.optim.Adam(model.parameters())
    random = np.random.default_rng(seed)
    rows = []
    for size in [100, *([size for size in COLLECTIONS if size <= max_graphs] or [max_graphs])]:
        encoded = vocabulary.encode(dataset.graphs.select(random.integers(0, len(dataset.graphs), size)))
        start = time.perf_counter()
        quotient = make_quotient(encoded.graphs, encoded.x, ROUNDS)
        refined = time.perf_counter()
        for _ in range(steps):
            outputs = model.run_on_colours(quotient.batch(random.integers(0, size, BATCH)))
            optimizer.zero_grad()
            F.cross_entropy(outputs, torch.zeros(BATCH, dtype=torch.long)).backward()
            optimizer.step()
        rows.append(
            Collection(
                graphs=size,
                nodes=encoded.graphs.num_nodes,
                colours=quotient.hierarchy.num_colours[-1],
                refine_seconds=refined - start,
                step_seconds=(time.perf_counter() - refined) / steps,
                peak_gigabytes=peak_memory() / 1e9,
            )
        )
    return rows[1:]  # the first compiled
