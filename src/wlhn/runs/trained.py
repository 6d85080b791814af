"""A trained model with all it needs to meet new graphs: its vocabulary, the colours it knows, what its outputs mean."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wlhn.batching.collator import Collator, run_model
from wlhn.batching.loader import Loader
from wlhn.batching.quotient import Quotient
from wlhn.batching.refined import make_quotient
from wlhn.data.columns import Column
from wlhn.data.dataset import Dataset, TargetLevel, Task
from wlhn.data.vocabulary import Encoded, Vocabulary
from wlhn.documents import to_json
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy import Hierarchy, assign, refine
from wlhn.hyperbolic.polar import to_ball, to_tangent
from wlhn.models.registry import build_model
from wlhn.nn.capabilities import AnswersDepthByDepth, HasPoints, needs_points
from wlhn.runs.layerwise import depths, points
from wlhn.training.fit import Fitted
from wlhn.training.loss import probabilities
from wlhn.training.numerics import check_finite
from wlhn.training.problem import GRAPHS_AT_A_TIME, Problem, collator_of, depth_of, vocabulary_of, whole_graph_nodes
from wlhn.training.scores import Scores, scores_of
from wlhn.training.settings import Settings

NODES_AT_A_TIME = 65_536  # nodes at a time, of large graphs
SETTLED = 50  # batches after which running statistics, which move by a tenth, have settled


@dataclass(frozen=True)
class Unseen:
    """How much of some graphs was not there in training.

    >>> Unseen(1, 0, (0, 2)) + Unseen(1, 1, (1, 3))
    Unseen(nodes=2, edges=1, colours=(1, 5))
    """

    nodes: int  # with a label or category that was not there
    edges: int
    colours: tuple[int, ...]  # nodes whose colour was not there, depth by depth

    def __add__(self, other: Unseen) -> Unseen:
        colours = tuple(a + b for a, b in zip(self.colours, other.colours, strict=True))
        return Unseen(self.nodes + other.nodes, self.edges + other.edges, colours)


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a model says of some graphs, and how much of them it had never seen."""

    first: int  # position of the first graph
    graphs: Graphs
    outputs: NDArray[Any]  # (graphs or nodes, channels): probabilities, or numbers of a regression
    logits: NDArray[Any]  # what probabilities are made of; they tell apart what rounds to 1
    unseen: Unseen


@dataclass(frozen=True, eq=False)
class Embedded:
    """Where a WLHN places some graphs: their nodes depth by depth, and the graphs."""

    first: int
    graphs: Graphs
    ball: NDArray[Any]  # (nodes, depths, d) points of the Poincaré ball
    tangent: NDArray[Any]  # (nodes, depths, d) log_0 of them
    graph: NDArray[Any]  # (graphs, width) what the head sees of a graph


@dataclass(frozen=True, eq=False)
class TrainedConfig:
    """What can be said of a trained model in words and numbers."""

    settings: Settings
    level: TargetLevel
    task: Task
    classes: tuple[Any, ...]
    targets: tuple[str, ...]
    out_channels: int
    columns: tuple[Column, ...]  # what the columns of the training data were taken for
    shift: Tensor  # outputs · scale + shift are in the targets' units
    scale: Tensor

    def to_json(self) -> dict[str, Any]:
        """As in config.json, where `wlhn.runs.run_folder` reads it."""
        values = {each.name: to_json(getattr(self, each.name)) for each in fields(TrainedConfig)}
        return values | {"shift": self.shift.tolist(), "scale": self.scale.tolist()}


@dataclass(frozen=True, eq=False)
class Trained(TrainedConfig):
    """A model that can be applied, saved and loaded (`wlhn.runs.run_folder`)."""

    vocabulary: Vocabulary
    colours: Hierarchy  # of the training graphs
    model: nn.Module

    @staticmethod
    def of(problem: Problem, fitted: Fitted) -> Trained:
        """What is worth keeping of a finished run."""
        dataset = problem.dataset
        encoded = problem.encoded
        if dataset.level == "graph":
            encoded = problem.vocabulary.encode(dataset.graphs.select(problem.split.train))
        return Trained(
            settings=problem.settings,
            vocabulary=problem.vocabulary,
            colours=_known_colours(encoded, problem.settings, dataset.level),
            level=dataset.level,
            task=dataset.task,
            classes=dataset.classes,
            targets=dataset.targets,
            out_channels=problem.out_channels,
            columns=dataset.columns,
            shift=problem.shift,
            scale=problem.scale,
            model=fitted.model,
        )

    def predict(self, graphs: Graphs, chunk: int = GRAPHS_AT_A_TIME) -> Iterator[Predicted]:
        """Predictions for graphs, so many at a time."""
        if self.model.training:  # to walk through all modules takes a tenth of what one small graph takes
            self.model.eval()
        for first, part, encoded, collator in self._parts(graphs, chunk, self.level):
            with torch.no_grad():
                if collator.by_nodes and isinstance(self.model, AnswersDepthByDepth):
                    model = self.model
                    paths = self._paths(model, collator, model.readout.every_depth)
                    outputs = torch.cat([model.head(model.readout.rows(path)) for path in paths])
                else:
                    outputs = run_model(self.model, collator.batch(np.arange(len(part))))
                outputs = outputs * self.scale + self.shift
            before = first if self.level == "graph" else int(graphs.node_ptr[first])
            check_finite(outputs, self.level, range(before, before + len(outputs)))
            yield Predicted(
                first, part, probabilities(self.task, outputs).numpy(), outputs.numpy(), self._unseen(encoded)
            )

    def embed(self, graphs: Graphs, chunk: int = GRAPHS_AT_A_TIME) -> Iterator[Embedded]:
        """Points and tangent vectors of nodes at every depth, and the vectors of graphs, so many graphs at a time."""
        model = needs_points(self.model, self.settings.model)
        if not len(graphs):
            raise InputError("there are no graphs to embed; give at least one")
        self.model.eval()
        for first, part, _, collator in self._parts(graphs, chunk, "node"):
            with torch.no_grad():
                if collator.by_nodes and isinstance(model, AnswersDepthByDepth):
                    paths = self._paths(model, collator, every=True)
                    ball, tangent, graph = zip(*(_of_path(model, path) for path in paths), strict=True)
                    yield Embedded(first, part, np.concatenate(ball), np.concatenate(tangent), np.add.reduce(graph))
                else:
                    yield Embedded(first, part, *_of_batch(model, collator.batch(np.arange(len(part)))))

    def quotient(self, graphs: Graphs, depth: int | None = None) -> Quotient:
        """The colours of graphs as the model sees them, as deep as it looks, or as said."""
        encoded = self.vocabulary.encode(graphs)
        depth = self.colours.depth if depth is None else depth
        return make_quotient(encoded.graphs, encoded.x, depth, encoded.graphs.edge_attr is not None)

    def _parts(self, graphs: Graphs, chunk: int, level: TargetLevel) -> Iterator[tuple[int, Graphs, Encoded, Collator]]:
        """So many graphs at a time, or a large one alone."""
        first, most = 0, whole_graph_nodes(self.settings)
        while first < len(graphs):
            room = int(np.searchsorted(graphs.node_ptr, graphs.node_ptr[first] + most, side="right")) - 1
            last = max(min(first + chunk, room), first + 1)
            part = graphs if last - first == len(graphs) else graphs.select(np.arange(first, last))
            encoded = self.vocabulary.encode(part)
            yield first, part, encoded, collator_of(self.settings, encoded, level)
            first = last

    def _paths(self, model: AnswersDepthByDepth, collator: Collator, every: bool) -> Iterator[Any]:
        """The points of a large graph's nodes at every depth, or at the last, so many nodes at a time."""
        assert collator.quotient is not None
        hierarchy = collator.quotient.hierarchy
        with tempfile.TemporaryDirectory(prefix="wlhn") as folder:
            layers = depths(model, collator.quotient, Path(folder), every)
            starts = range(NODES_AT_A_TIME, hierarchy.num_nodes, NODES_AT_A_TIME)
            for nodes in np.split(np.arange(hierarchy.num_nodes), starts):
                yield points(layers, hierarchy, nodes)

    def _unseen(self, encoded: Encoded) -> Unseen:
        new = assign(self.colours, encoded.graphs, initial=encoded.x)
        colours = tuple(int((colour < 0).sum()) for colour in new.colours)
        return Unseen(encoded.unseen_nodes, encoded.unseen_edges, colours)


def untrained(dataset: Dataset, settings: Settings, seed: int) -> Trained:
    """A model with random weights whose running statistics are those of the data: what structure alone gives."""
    vocabulary = vocabulary_of(settings, dataset)
    encoded = vocabulary.encode(dataset.graphs)
    collator = collator_of(settings, encoded, dataset.level)
    batches = Loader(collator.batch, np.arange(len(dataset.graphs)), settings.network.batch_size)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        widths = vocabulary.in_channels, 1, dataset.level, vocabulary.edge_channels
        model = build_model(settings.model, settings.options, *widths)
        model.train()
        for _ in range(-(-SETTLED // len(batches))):
            for batch in batches:
                run_model(model, batch)
    return Trained(
        settings=settings,
        vocabulary=vocabulary,
        colours=_known_colours(encoded, settings, dataset.level),
        level=dataset.level,
        task="none",
        classes=(),
        targets=(),
        out_channels=1,
        columns=dataset.columns,
        shift=torch.zeros(()),
        scale=torch.ones(()),
        model=model,
    )


def _known_colours(encoded: Encoded, settings: Settings, level: TargetLevel) -> Hierarchy:
    return refine(encoded.graphs, depth_of(settings, level), encoded.x, encoded.graphs.edge_attr is not None)


def _of_batch(model: HasPoints, batch: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """(ball points of nodes, tangent vectors, vectors of graphs)."""
    assert batch.node_row is not None
    ball, tangent, place = [], [], batch.node_row
    levels = list(model.levels(batch))
    for level, (z, _) in zip((*batch.levels[::-1], None), levels[::-1], strict=True):
        ball.append(to_ball(z.r[place], z.e[place]))
        tangent.append(to_tangent(z.r[place], z.e[place]))
        place = place if level is None else level.parent[place].long()
    return _stack(ball[::-1]), _stack(tangent[::-1]), model.graph_representation(batch).numpy()


def _of_path(model: AnswersDepthByDepth, path: list[tuple[Tensor, Tensor, Tensor]]) -> tuple[Any, Any, Any]:
    """The same of some nodes of one graph, whose vector is a sum over its nodes."""
    ball, tangent = [to_ball(r, e) for r, e, _ in path], [to_tangent(r, e) for r, e, _ in path]
    return _stack(ball), _stack(tangent), model.readout.rows(path).sum(0, keepdim=True).numpy()


def _stack(depths: list[Tensor]) -> NDArray[Any]:
    return torch.stack(depths, dim=1).numpy()


def targets_for(trained: Trained, dataset: Dataset) -> NDArray[Any]:
    """The targets of a data set in the model's own terms, or an `InputError` that says why they are not comparable."""
    if dataset.level != trained.level:
        raise InputError(
            f"{dataset.name}: its items are {dataset.level}s, and the model answers for {trained.level}s; "
            "give data like those it was trained on"
        )
    if dataset.task == "none" or not dataset.labelled.any():
        raise InputError(f"{dataset.name}: has no targets to score answers by")
    if dataset.task != trained.task or (not trained.classes and dataset.num_outputs != trained.out_channels):
        found, wanted = f"{dataset.num_outputs} {dataset.task}", f"{trained.out_channels} {trained.task}"
        raise InputError(f"{dataset.name}: its targets are {found}, and the model was trained on {wanted}")
    if dataset.classes == trained.classes:
        return dataset.y
    place = {name: k for k, name in enumerate(trained.classes)}
    codes = [place.get(name, -2) for name in dataset.classes]
    y = np.array([*codes, -1])[dataset.y]  # the last, −1, stays unknown
    if (y == -2).any():
        new = dataset.classes[int(dataset.y[y == -2][0])]
        raise InputError(f"{dataset.name}: the class {new} was not there in training, which had {trained.classes}")
    return y


def score(trained: Trained, dataset: Dataset, logits: NDArray[Any] | None = None) -> Scores:
    """Every metric of a model's answers for the items of a data set that have a target.

    `logits` are what `Trained.predict` gives, where they are known already.
    """
    y = targets_for(trained, dataset)
    if logits is None:
        logits = np.concatenate([part.logits for part in trained.predict(dataset.graphs)])
    return scores_of(trained.task, y, logits, trained.classes)
