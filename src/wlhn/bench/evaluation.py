"""Whole evaluations: `wlhn evaluate` with the lean grid, against the same jobs done with PyG's GIN and PyG's loader.

WLHN goes first: its early stopping says how many epochs each job has. GIN then does the same jobs, with the same
splits, settings and number of epochs, and scores validation items after each, and test items at the end of final jobs.
It keeps no best weights, writes no checkpoints, reports no numerics and stops nowhere early; its graphs are PyG's from
the start, its input features made once. Ours is timed from the data set on: hashes, splits, colours, files of results.
Imports and compiled loops are there before both. One thread each, as jobs have.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from wlhn.batching.refined import forget_hierarchies
from wlhn.bench.epoch import PlainGIN, pyg_graphs
from wlhn.bench.timing import Measured, alternate
from wlhn.data import Dataset
from wlhn.data.splits import Split
from wlhn.errors import InputError
from wlhn.evaluation.evaluate import JOBS, Evaluation
from wlhn.evaluation.grids import read_grid
from wlhn.evaluation.job_folder import read_result
from wlhn.evaluation.jobs import JobResult
from wlhn.evaluation.protocols import PROTOCOLS
from wlhn.loops.parallel import torch_threads
from wlhn.training.settings import Settings

THREE = ("MUTAG", "NCI1", "Cornell")


@dataclass(frozen=True)
class EvaluationTimes(Measured):
    """Best seconds of whole evaluations, and what they consist of."""

    dataset: str
    splits: int
    jobs: int
    epochs: int  # over all jobs
    wlhn_seconds: float
    gin_seconds: float

    @property
    def ratio(self) -> float:
        """WLHN/GIN."""
        return self.wlhn_seconds / self.gin_seconds


def measure_evaluation(
    dataset: Dataset, *, num_splits: int | None = None, repeats: int = 1, seed: int = 0, epochs: int | None = None
) -> EvaluationTimes:
    """Both evaluations of one data set, taking turns, best of several; `epochs` asks for fewer than the grid's."""
    if dataset.task != "classification":
        raise InputError(f"{dataset.name}: must have classes, found {dataset.task}")
    protocol = PROTOCOLS["ten-fold" if dataset.level == "graph" else "fixed-splits"]
    splits, given = protocol.splits(dataset, seed), {} if epochs is None else {"epochs": epochs}
    candidates = read_grid("lean", "wlhn", dataset.level, given)
    done: list[JobResult] = []

    def wlhn(candidates: list[Settings], splits: int | None, final_runs: int | None = None) -> None:
        forget_hierarchies()  # colours that an earlier one has left
        with tempfile.TemporaryDirectory(prefix="wlhn") as folder:
            asked: dict[str, Any] = {"num_splits": splits, "final_runs": final_runs, "seed": seed}
            Evaluation(dataset, candidates, Path(folder), protocol=protocol, **asked).run()
            done[:] = [read_result(path) for path in sorted((Path(folder) / JOBS).glob("*.json"))]

    with torch_threads(1):
        gin = make_jobs(dataset, splits)
        wlhn(read_grid("lean", "wlhn", dataset.level, {"epochs": 1})[:1], 1, 1)  # import and compile
        for result in done:
            gin(result)
        contestants: dict[str, Callable[[], Any]] = {
            "wlhn_seconds": lambda: wlhn(candidates, num_splits),
            "gin_seconds": lambda: [gin(result) for result in done],
        }
        best = alternate(contestants, repeats)
    return EvaluationTimes(
        dataset=dataset.name,
        splits=min(num_splits or len(splits), len(splits)),
        jobs=len(done),
        epochs=sum(result.epochs for result in done),
        **best,
    )


def make_jobs(dataset: Dataset, splits: list[Split]) -> Callable[[JobResult], float]:
    """A function that does a job as PyG's GIN would: the accuracy on what the job scores last."""
    graphs = pyg_graphs(dataset)

    def part(items: NDArray[Any], batch_size: int, shuffle: bool = False) -> Any:
        """Batches of these graphs; of nodes, their one graph with those that count."""
        if dataset.level == "graph":
            return DataLoader([graphs[i] for i in items], batch_size, shuffle=shuffle)
        (graph,) = graphs
        return [Data(x=graph.x, edge_index=graph.edge_index, y=graph.y, counted=torch.from_numpy(items))]

    def do(result: JobResult) -> float:
        settings, split = result.job.settings, splits[result.job.split]
        options: Any = settings.options  # of a network
        training = settings.network
        model = PlainGIN(
            graphs[0].x.shape[1],
            dataset.num_outputs,
            level=dataset.level,
            hidden_channels=options.hidden_channels,
            num_layers=options.num_layers,
            dropout=options.dropout,
        )
        optimizer = torch.optim.Adam(
            model.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay, fused=True
        )
        train, valid = part(split.train, training.batch_size, shuffle=True), part(split.valid, training.batch_size)
        score = 0.0
        for _ in range(result.epochs):
            model.train()
            for batch in train:
                optimizer.zero_grad()
                cross_entropy(*_answers(model, batch)).backward()
                optimizer.step()
            score = _accuracy(model, valid)
        return _accuracy(model, part(split.test, training.batch_size)) if result.job.test else score

    return do


def _answers(model: nn.Module, batch: Data) -> tuple[torch.Tensor, torch.Tensor]:
    """(outputs, targets) of what counts in a batch."""
    outputs = model(batch.x, batch.edge_index, getattr(batch, "batch", None))
    return (outputs[batch.counted], batch.y[batch.counted]) if "counted" in batch else (outputs, batch.y)


def _accuracy(model: nn.Module, batches: Any) -> float:
    model.eval()
    right, count = 0, 0
    with torch.no_grad():
        for batch in batches:
            outputs, target = _answers(model, batch)
            right, count = right + int((outputs.argmax(1) == target).sum()), count + len(target)
    return right / count
