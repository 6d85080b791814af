"""What estimators share: their parameters, training, saving, and graphs of any kind as a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from wlhn.data.dataset import Dataset, Level, available
from wlhn.data.memory import graphs_in_memory
from wlhn.data.splits import Split, stratified_folds
from wlhn.errors import InputError
from wlhn.runs.run_folder import load_run, read_config, save_run
from wlhn.runs.trained import Trained
from wlhn.training.fit import fit
from wlhn.training.problem import Problem
from wlhn.training.provenance import code_version
from wlhn.training.settings import Settings


class GraphEstimator(BaseEstimator):
    """What all estimators share: their parameters are the fields of `Settings`, a seed and the share held out."""

    _level: Level = "graph"

    def __init__(
        self,
        *,
        model: str = Settings.model,
        hidden_channels: int = Settings.hidden_channels,
        num_layers: int = Settings.num_layers,
        dropout: float = Settings.dropout,
        head: str = Settings.head,
        edge_features: bool = Settings.edge_features,
        tau: float = Settings.tau,
        learn_tau: bool = Settings.learn_tau,
        learn_epsilon: bool = Settings.learn_epsilon,
        directions: str = Settings.directions,
        readout: str = Settings.readout,
        frozen_encoder: bool = Settings.frozen_encoder,
        attention_heads: int = Settings.attention_heads,
        aggregation: str = Settings.aggregation,
        hops: int = Settings.hops,
        curvature: float = Settings.curvature,
        learn_curvature: bool = Settings.learn_curvature,
        attention: bool = Settings.attention,
        local_aggregation: bool = Settings.local_aggregation,
        latent: str = Settings.latent,
        anchor_sets: int = Settings.anchor_sets,
        anchor_hops: int = Settings.anchor_hops,
        sort_nodes: int = Settings.sort_nodes,
        clusters: int = Settings.clusters,
        sum_first: bool = Settings.sum_first,
        svm_penalty: float = Settings.svm_penalty,
        trees: int = Settings.trees,
        learning_rate: float = Settings.learning_rate,
        optimizer: str = Settings.optimizer,
        weight_decay: float = Settings.weight_decay,
        batch_size: int = Settings.batch_size,
        epochs: int = Settings.epochs,
        patience: int = Settings.patience,
        monitor: str = Settings.monitor,
        degree: str = Settings.degree,
        standardise: bool = Settings.standardise,
        validation_share: float = 0.1,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.hidden_channels = hidden_channels
        self.num_layers = num_layers
        self.dropout = dropout
        self.head = head
        self.edge_features = edge_features
        self.tau = tau
        self.learn_tau = learn_tau
        self.learn_epsilon = learn_epsilon
        self.directions = directions
        self.readout = readout
        self.frozen_encoder = frozen_encoder
        self.attention_heads = attention_heads
        self.aggregation = aggregation
        self.hops = hops
        self.curvature = curvature
        self.learn_curvature = learn_curvature
        self.attention = attention
        self.local_aggregation = local_aggregation
        self.latent = latent
        self.anchor_sets = anchor_sets
        self.anchor_hops = anchor_hops
        self.sort_nodes = sort_nodes
        self.clusters = clusters
        self.sum_first = sum_first
        self.svm_penalty = svm_penalty
        self.trees = trees
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.epochs = epochs
        self.patience = patience
        self.monitor = monitor
        self.degree = degree
        self.standardise = standardise
        self.validation_share = validation_share
        self.random_state = random_state

    def _settings(self) -> Settings:
        values = {field.name: getattr(self, field.name) for field in fields(Settings)}
        # Grid searches hand in numpy's numbers.
        return Settings.from_json({k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()})

    def _fit(self, dataset: Dataset, nodes: ArrayLike | None = None) -> Self:
        """Train on the items of a data set, or on some of its nodes."""
        items = np.arange(len(dataset)) if nodes is None else np.arange(len(dataset))[np.asarray(nodes)]
        problem = Problem(
            dataset, _hold_out(dataset.y, items, self.validation_share, self.random_state), self._settings()
        )
        fitted = fit(problem, self.random_state)
        self.trained_ = Trained.of(problem, fitted)
        self.history_ = fitted.history
        self.n_iter_ = len(fitted.history)
        return self

    def _outputs(self, graphs: Any) -> NDArray[Any]:
        check_is_fitted(self, "trained_")
        data = graphs_of(graphs, self._level, self.trained_).graphs
        return np.concatenate([part.outputs for part in self.trained_.predict(data)])

    def save(self, folder: str | PathLike[str]) -> None:
        """Keep a fitted estimator in a new folder, without pickle."""
        check_is_fitted(self, "trained_")
        about = {"estimator": type(self).__name__, "parameters": self.get_params(), "version": code_version()}
        save_run(Path(folder), self.trained_, about, {})

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """What `save` kept."""
        config = read_config(Path(folder))
        if config.get("estimator") != cls.__name__:
            raise InputError(f"{folder}: holds {config.get('estimator', 'a run')}, expected a {cls.__name__}")
        estimator = cls(**config["parameters"])
        estimator.trained_ = load_run(Path(folder))
        return estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.non_deterministic = False
        return tags


def graphs_of(graphs: Any, level: Level, trained: Trained | None = None) -> Dataset:
    """Graphs of any kind as a data set, read as a trained model's were; its targets only where it is one already."""
    if isinstance(graphs, Dataset):
        if graphs.level != level:
            raise InputError(f"{graphs.name}: its items are {graphs.level}s, expected {level}s")
        return replace(graphs, splits=())
    collection, columns = graphs_in_memory(graphs, () if trained is None else trained.columns)
    items = len(collection) if level == "graph" else collection.num_nodes
    nothing = np.empty((items, 0), np.float32)
    return Dataset("graphs", collection, nothing, level, "none", inputs=available(collection), columns=columns)


def flat(y: Any, level: Level) -> NDArray[Any]:
    """Targets in a row; of nodes, one array for each graph may be given."""
    if level == "node" and isinstance(y, Sequence) and len(y) and isinstance(y[0], np.ndarray | list | tuple):
        return np.concatenate([np.asarray(part) for part in y])
    return np.asarray(y)


def _hold_out(y: NDArray[Any], items: NDArray[Any], share: float, seed: int) -> Split:
    """A share of the items validates, stratified by class; the rest is learned from."""
    if not 0 < share < 1:
        raise InputError(f"validation_share: expected a share between 0 and 1, found {share}")
    if len(items) < 2:
        raise InputError(f"fit: {len(items)} items, expected at least 2, one to learn from and one to validate")
    fold = stratified_folds(y[items], folds=min(max(2, round(1 / share)), len(items)), seed=seed)[0]
    rest = np.setdiff1d(np.arange(len(items)), fold.test)
    return Split(train=items[rest], valid=items[fold.test], test=[])
