"""A data set, a split and settings made ready to train: features encoded, targets checked, batches at hand."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wlhn.batching.collator import Collator, run_model
from wlhn.batching.loader import Loader
from wlhn.data.dataset import Dataset, TargetLevel
from wlhn.data.splits import Split
from wlhn.data.vocabulary import Encoded, Vocabulary
from wlhn.errors import InputError
from wlhn.models.registry import build_model, model_class
from wlhn.options.training import TrainingOptions
from wlhn.training.balance import loss_weights
from wlhn.training.loss import check_targets
from wlhn.training.metrics import METRICS, metric_of
from wlhn.training.settings import Settings

GRAPHS_AT_A_TIME = 256  # where no batch size is set: models without mini-batches, and answers


@dataclass(frozen=True, eq=False)
class Scored:
    """A batch and which of its outputs have a target here: all of them, or (node tasks) some rows."""

    inputs: Any
    items: NDArray[Any]  # positions in the data set
    rows: Tensor | None

    def outputs(self, model: nn.Module) -> Tensor:
        outputs = run_model(model, self.inputs)
        return outputs if self.rows is None else outputs[self.rows]


class Problem:
    """What `fit` trains on.

    >>> from wlhn.data import load
    >>> from wlhn.data.splits import stratified_folds
    >>> mutag = load("MUTAG")
    >>> problem = Problem(mutag, stratified_folds(mutag.y)[0], Settings.of(num_layers=2))
    >>> problem.metric, [len(batch.items) for batch in problem.batches(problem.split.valid)]
    ('accuracy', [17])
    """

    def __init__(self, dataset: Dataset, split: Split, settings: Settings) -> None:
        self.out_channels = dataset.num_outputs
        y = check_targets(dataset.task, dataset.y, self.out_channels)
        split = split.check_fits(len(dataset), dataset.name)
        if not (labelled := dataset.labelled).all():
            split = split.among(labelled)
        for part in ("train", "valid"):
            if not len(getattr(split, part)):
                raise InputError(f"{dataset.name}: the split has no {part} items with a target; it needs at least one")
        self.split, self.settings = split, settings
        self.dataset = dataset = dataset.as_trained_on(split.train)
        self.metric = metric_of(dataset.task, self.out_channels, settings.training.metric)
        self.class_weight: Tensor | None = None  # of networks; machines weigh by themselves
        if isinstance(settings.training, TrainingOptions):
            kind = settings.training.class_weights
            self.class_weight = loss_weights(dataset.task, dataset.y[split.train], self.out_channels, kind)
        # Nodes of a graph are seen together whatever part they are in; of graphs, only those to train on count.
        seen = dataset if dataset.level == "node" else replace(dataset, splits=()).select(split.train)
        self.vocabulary = vocabulary_of(settings, seen)
        self.shift, self.scale = _standardisation(dataset.task, y[torch.from_numpy(split.train)])
        self.y = y if dataset.task == "classification" else (y - self.shift) / self.scale
        self.encoded = self.vocabulary.encode(dataset.graphs)
        self.collator = collator_of(settings, self.encoded, dataset.level)

    def but(self, settings: Settings) -> Problem:
        """The same for settings that differ in options of the model, in none that say how deep it looks."""
        other = copy(self)
        other.settings = settings
        return other

    def build(self) -> nn.Module:
        """The model, with fresh weights."""
        return build_model(
            self.settings.model,
            self.settings.options,
            self.vocabulary.in_channels,
            self.out_channels,
            self.dataset.level,
            self.vocabulary.edge_channels,
        )

    def batches(self, items: NDArray[Any], shuffle_seed: int | None = None) -> Loader[Scored]:
        """Batches that cover these items; of node tasks, whole graphs with the rows that count, or, of large graphs,
        the nodes themselves with what they depend on.
        """
        if self.collator.by_nodes:
            return Loader(
                lambda nodes: Scored(self.collator.batch_of_nodes(nodes), nodes, None),
                items,
                self.settings.network.nodes_per_batch,
                shuffle=shuffle_seed is not None,
                seed=shuffle_seed or 0,
                keep=False,
            )
        graphs, wanted = items, None
        if self.dataset.level == "node":
            wanted = np.zeros(len(self.dataset), bool)
            wanted[items] = True
            graphs = np.unique(self.dataset.graphs.graph_of_node[items])
        batch_size = getattr(self.settings.training, "batch_size", GRAPHS_AT_A_TIME)
        single = len(graphs) <= batch_size  # then order would change nothing
        shuffle = shuffle_seed is not None and not single

        def collate(index: NDArray[Any]) -> Scored:
            if wanted is None:
                return Scored(self.collator.batch(index), index, None)
            ptr = self.dataset.graphs.node_ptr
            nodes = np.concatenate([np.arange(ptr[g], ptr[g + 1]) for g in index])
            rows = np.flatnonzero(wanted[nodes])
            return Scored(self.collator.batch(index), nodes[rows], torch.from_numpy(rows))

        return Loader(collate, graphs, batch_size, shuffle, shuffle_seed or 0)

    def targets(self, batch: Scored) -> Tensor:
        """What outputs for a batch are compared with."""
        return self.y[torch.from_numpy(batch.items)]

    def score(self, items: NDArray[Any], outputs: Tensor) -> float:
        """How good outputs, in the targets' own units, are by the metric."""
        return METRICS[self.metric].score(self.dataset.y[items], outputs.numpy())

    def stream(self, items: NDArray[Any]) -> Iterator[Scored]:
        """Batches that cover these items, made one by one and not kept."""
        loader = self.batches(items)
        for first in range(0, len(loader.index), loader.batch_size):
            yield loader.collate(loader.index[first : first + loader.batch_size])

    def outputs(self, model: nn.Module, items: NDArray[Any]) -> tuple[NDArray[Any], Tensor]:
        """(items as they come, outputs in the targets' own units), in evaluation mode."""
        model.eval()
        order, outputs = [], []
        with torch.no_grad():
            for batch in self.stream(items):
                order.append(batch.items)
                outputs.append(batch.outputs(model))
        return np.concatenate(order), torch.cat(outputs) * self.scale + self.shift


def vocabulary_of(settings: Settings, dataset: Dataset) -> Vocabulary:
    """What the features of these graphs mean to a model of these settings."""
    return Vocabulary.fit(dataset, settings.training)


def collator_of(settings: Settings, encoded: Encoded, level: TargetLevel) -> Collator:
    """Encoded graphs as the model of these settings computes on them."""
    on_colours = runs_on_colours(settings, level)
    return Collator(encoded, on_colours, depth_of(settings, level), level, whole_graph_nodes(settings))


def whole_graph_nodes(settings: Settings) -> int:
    """How many nodes are taken in one piece; a machine has no such option, and takes as many as networks do."""
    return int(getattr(settings.training, "whole_graph_nodes", TrainingOptions.whole_graph_nodes))


def runs_on_colours(settings: Settings, level: TargetLevel) -> bool:
    """Whether the model computes on colours; others never refine."""
    model = model_class(settings.model)
    return hasattr(model, "run_on_colours") and level in model.colour_levels


def depth_of(settings: Settings, level: TargetLevel) -> int:
    """How deep in the tree a model of these settings looks: its layers or rounds; 0 if it knows no colours."""
    options = settings.options
    return int(getattr(options, "num_layers", getattr(options, "rounds", 0))) if runs_on_colours(settings, level) else 0


def _standardisation(task: str, y: Tensor) -> tuple[Tensor, Tensor]:
    """(mean, standard deviation) of a regression's training targets; (0, 1) of others, which stay what they are."""
    if task != "regression":
        return torch.zeros(()), torch.ones(())
    known = ~torch.isnan(y)
    count = known.sum(0).clamp_min(1)
    mean = torch.where(known, y, 0.0).sum(0) / count
    deviation = (torch.where(known, (y - mean) ** 2, 0.0).sum(0) / count).sqrt()
    return mean, torch.where(deviation > 0, deviation, 1.0)
