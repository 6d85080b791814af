"""Estimators in scikit-learn's style, for lists of graphs instead of rows of numbers.

Graphs are a list of networkx or PyG graphs, or a `wlhn.data.Dataset`. For graphs, y has one target each; for nodes, one
for each node of all graphs in a row, or one array for each graph. A share of the items is held out inside `fit` to
choose the epoch. Fitted estimators are saved as run folders, which `wlhn predict` reads too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wlhn.data.dataset import Dataset, Level, available, class_indices
from wlhn.data.memory import graphs_in_memory
from wlhn.data.splits import Split, stratified_folds
from wlhn.errors import InputError
from wlhn.evaluation.fit import fit
from wlhn.evaluation.problem import Problem
from wlhn.evaluation.provenance import code_version
from wlhn.evaluation.run_folder import load_run, read_config, save_run
from wlhn.evaluation.settings import Settings
from wlhn.evaluation.trained import Trained, untrained


class _GraphEstimator(BaseEstimator):
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
        data = _graphs_of(graphs, self._level, self.trained_).graphs
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


class _Classifier(ClassifierMixin, _GraphEstimator):
    def fit(self, graphs: Any, y: Any = None, nodes: ArrayLike | None = None) -> Self:
        """Learn classes; `nodes` (positions or a mask) says which nodes have a class to learn, all without it."""
        data = _graphs_of(graphs, self._level)
        codes, classes = (data.y, data.classes) if y is None else class_indices(_flat(y, self._level))
        self._fit(replace(data, y=codes, task="classification", classes=classes), nodes)
        self.classes_ = np.array(classes)
        return self

    def predict_proba(self, graphs: Any) -> NDArray[Any]:
        """(items, classes) in the order of `classes_`."""
        return self._outputs(graphs)

    def predict(self, graphs: Any) -> NDArray[Any]:
        """The most likely class of each item."""
        outputs = self._outputs(graphs)
        return np.array(self.trained_.classes)[outputs.argmax(axis=1)]

    def score(self, graphs: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy."""
        return float(super().score(graphs, _flat(y, self._level), sample_weight))

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """What `save` kept."""
        estimator = super().load(folder)
        estimator.classes_ = np.array(estimator.trained_.classes)
        return estimator


class _Regressor(RegressorMixin, _GraphEstimator):
    def fit(self, graphs: Any, y: Any = None, nodes: ArrayLike | None = None) -> Self:
        """Learn numbers, one or several for each item; `nodes` as in classifiers."""
        data = _graphs_of(graphs, self._level)
        values = data.y if y is None else np.asarray(_flat(y, self._level), np.float32)
        return self._fit(replace(data, y=values, task="regression", classes=()), nodes)

    def predict(self, graphs: Any) -> NDArray[Any]:
        """One number for each item, or a row of them."""
        outputs = self._outputs(graphs)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def score(self, graphs: Any, y: Any, sample_weight: Any = None) -> float:
        """R²."""
        return float(super().score(graphs, _flat(y, self._level), sample_weight))


class GraphClassifier(_Classifier):
    """Classes of graphs.

    >>> import networkx as nx
    >>> graphs = [nx.path_graph(n) for n in range(4, 14)] + [nx.cycle_graph(n) for n in range(4, 14)]
    >>> classifier = GraphClassifier(epochs=40, learning_rate=0.01).fit(graphs, ["path"] * 10 + ["cycle"] * 10)
    >>> classifier.predict([nx.path_graph(5)]).tolist()
    ['path']
    """


class GraphRegressor(_Regressor):
    """Numbers of graphs.

    >>> import networkx as nx
    >>> graphs = [nx.path_graph(n) for n in range(4, 24)]
    >>> GraphRegressor(epochs=5).fit(graphs, [float(len(g)) for g in graphs]).predict(graphs[:2]).shape
    (2,)
    """


class NodeClassifier(_Classifier):
    """Classes of nodes.

    >>> import networkx as nx
    >>> club = nx.karate_club_graph()
    >>> y = [club.nodes[v]["club"] for v in club]
    >>> NodeClassifier(epochs=5).fit(club, y, nodes=range(20)).predict(club).shape
    (34,)
    """

    _level: Level = "node"


class NodeRegressor(_Regressor):
    """Numbers of nodes; see `NodeClassifier`."""

    _level: Level = "node"


class GraphEmbedder(TransformerMixin, _GraphEstimator):
    """Vectors of graphs, h_G = Σ log_0 over their nodes' points: learned from targets, or with random weights.

    >>> import networkx as nx
    >>> GraphEmbedder(hidden_channels=16).fit_transform([nx.path_graph(4), nx.cycle_graph(4)]).shape
    (2, 16)
    """

    def fit(self, graphs: Any, y: Any = None) -> Self:
        """With y, train to predict it (numbers with a fraction are regressed); without, keep the random weights."""
        data = _graphs_of(graphs, "graph")
        if y is None:
            self.trained_ = untrained(data, self._settings(), self.random_state)
            return self
        values = np.asarray(y)
        if np.issubdtype(values.dtype, np.floating):
            return self._fit(replace(data, y=values.astype(np.float32), task="regression", classes=()))
        codes, classes = class_indices(values)
        return self._fit(replace(data, y=codes, task="classification", classes=classes))

    def transform(self, graphs: Any) -> NDArray[Any]:
        """(graphs, width) vectors."""
        check_is_fitted(self, "trained_")
        data = _graphs_of(graphs, "graph", self.trained_).graphs
        return np.concatenate([part.graph for part in self.trained_.embed(data)])


def _graphs_of(graphs: Any, level: Level, trained: Trained | None = None) -> Dataset:
    """Graphs of any kind as a data set, read as a trained model's were; its targets only where it is one already."""
    if isinstance(graphs, Dataset):
        if graphs.level != level:
            raise InputError(f"{graphs.name}: its items are {graphs.level}s, expected {level}s")
        return replace(graphs, splits=())
    collection, columns = graphs_in_memory(graphs, () if trained is None else trained.columns)
    items = len(collection) if level == "graph" else collection.num_nodes
    nothing = np.empty((items, 0), np.float32)
    return Dataset("graphs", collection, nothing, level, "none", inputs=available(collection), columns=columns)


def _flat(y: Any, level: Level) -> NDArray[Any]:
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
