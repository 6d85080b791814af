"""Classes and numbers of graphs and of nodes."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from wlhn.data.dataset import Level, class_indices
from wlhn.estimators.base import GraphEstimator, flat, graphs_of


class _Classifier(ClassifierMixin, GraphEstimator):
    def fit(self, graphs: Any, y: Any = None, nodes: ArrayLike | None = None) -> Self:
        """Learn classes; `nodes` (positions or a mask) says which nodes have a class to learn, all without it."""
        data = graphs_of(graphs, self._level)
        codes, classes = (data.y, data.classes) if y is None else class_indices(flat(y, self._level))
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
        return float(super().score(graphs, flat(y, self._level), sample_weight))

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """What `save` kept."""
        estimator = super().load(folder)
        estimator.classes_ = np.array(estimator.trained_.classes)
        return estimator


class _Regressor(RegressorMixin, GraphEstimator):
    def fit(self, graphs: Any, y: Any = None, nodes: ArrayLike | None = None) -> Self:
        """Learn numbers, one or several for each item; `nodes` as in classifiers."""
        data = graphs_of(graphs, self._level)
        values = data.y if y is None else np.asarray(flat(y, self._level), np.float32)
        return self._fit(replace(data, y=values, task="regression", classes=()), nodes)

    def predict(self, graphs: Any) -> NDArray[Any]:
        """One number for each item, or a row of them."""
        outputs = self._outputs(graphs)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def score(self, graphs: Any, y: Any, sample_weight: Any = None) -> float:
        """R²."""
        return float(super().score(graphs, flat(y, self._level), sample_weight))


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
