"""The estimators: classes and numbers of graphs and of nodes, vectors of graphs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from wlhn.data.dataset import Dataset, TargetLevel
from wlhn.errors import InputError
from wlhn.estimators.base import GraphEstimator, graphs_of, own_targets, own_values
from wlhn.estimators.targets import are_fractions, check_among, flat, known, numbers, with_classes, with_numbers
from wlhn.models.registry import model_class
from wlhn.nn.capabilities import AnswersDepthByDepth, HasNetworks
from wlhn.runs.trained import untrained


class _Classifier(ClassifierMixin, GraphEstimator):
    def fit(self, graphs: Any, y: Any = None, nodes: ArrayLike | None = None) -> Self:
        """Learn classes.

        Args:
            graphs: a list of networkx or PyG graphs, a single one, or a data set.
            y: a class for each item, None or NaN where it is unknown: such items are not learned from. Rows of 0 and 1
                are several labels for each item. Without y, that of PyG graphs or of a data set.
            nodes: which nodes to learn from, positions or a mask; without it and without y, the split of a data set or
                the masks of a PyG graph (`train_mask`, `val_mask`), else all nodes that have a class.
        """
        if y is None:
            data = own_targets(graphs, self._level, "classification")
            if data.task not in ("classification", "binary"):
                raise InputError(f"fit: a classifier needs classes, and the targets of {data.name} are {data.task}")
            if data.task == "classification" and len(data.classes) < 2:
                with_classes(data, np.array(data.classes))  # says so
        else:
            data = with_classes(graphs_of(graphs, self._level), flat(y, self._level))
        return self._fit(data, nodes)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of `predict_proba`."""
        trained = self.trained_
        return np.array(trained.classes) if trained.task == "classification" else np.arange(trained.out_channels)

    def predict_proba(self, graphs: Any) -> NDArray[Any]:
        """(items, classes) in the order of `classes_`; with several labels an item, (items, labels), each of its 1."""
        return self._outputs(graphs)

    def predict(self, graphs: Any) -> NDArray[Any]:
        """The most likely class of each item; with several labels an item, rows of 0 and 1."""
        outputs = self._outputs(graphs)
        if self.trained_.task == "binary":
            return (outputs > 0.5).astype(np.int64)
        return np.array(self.trained_.classes)[outputs.argmax(axis=1)]

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy over the items that have a target; without y, that of a data set or of PyG graphs.

        With several labels an item, all that are known of it must be right; where all are, this is scikit-learn's
        subset accuracy.
        """
        values = own_values(graphs, self._level, "classification") if y is None else flat(y, self._level)
        there = known(values)
        true, said = np.array(values[there].tolist()), self.predict(graphs)[there]
        if said.ndim == 2:
            bits = numbers(true)
            true = np.where(np.isnan(bits), said, bits)  # no answer to an unknown label is wrong
        elif isinstance(graphs, Dataset):  # its y holds positions; else a class that was not learned counts as wrong
            check_among(true, self.trained_.classes)
        weight = None if sample_weight is None else np.asarray(sample_weight)[there]
        return float(accuracy_score(true, said, sample_weight=weight))


class _Regressor(RegressorMixin, GraphEstimator):
    def fit(self, graphs: Any, y: Any = None, nodes: ArrayLike | None = None) -> Self:
        """Learn numbers, one or several for each item; graphs, gaps in y, and `nodes` as in classifiers."""
        if y is None:
            data = own_targets(graphs, self._level, "regression")
            if data.task != "regression":
                raise InputError(
                    f"fit: a regressor needs numbers, and the targets of {data.name} are classes; to learn whole "
                    "numbers as such, load them with task='regression'"
                )
        else:
            data = with_numbers(graphs_of(graphs, self._level), flat(y, self._level))
        return self._fit(data, nodes)

    def predict(self, graphs: Any) -> NDArray[Any]:
        """One number for each item, or a row of them."""
        outputs = self._outputs(graphs)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R² over the items whose targets are all known; without y, those of a data set or of PyG graphs."""
        values = numbers(own_values(graphs, self._level, "regression") if y is None else flat(y, self._level))
        there = ~np.isnan(values.reshape(len(values), -1)).any(axis=1)
        weight = None if sample_weight is None else np.asarray(sample_weight)[there]
        return float(r2_score(values[there], self.predict(graphs)[there], sample_weight=weight))


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
    >>> y = [club.nodes[v].pop("club") for v in club]  # what stays there is a feature
    >>> NodeClassifier(epochs=5).fit(club, y, nodes=range(20)).predict(club).shape
    (34,)
    """

    _level: TargetLevel = "node"


class NodeRegressor(_Regressor):
    """Numbers of nodes; see `NodeClassifier`."""

    _level: TargetLevel = "node"


class GraphEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator):
    """Vectors of graphs, h_G = Σ log_0 over their nodes' points: learned from targets, or with random weights.

    `set_output(transform="pandas")` (or "polars") makes tables of them, with `get_feature_names_out` as columns.

    >>> import networkx as nx
    >>> GraphEmbedder(hidden_channels=16).fit_transform([nx.path_graph(4), nx.cycle_graph(4)]).shape
    (2, 16)
    """

    def fit(self, graphs: Any, y: Any = None) -> Self:
        """With y, train to predict it (numbers with a fraction are regressed); without, keep the random weights."""
        data = graphs_of(graphs, "graph")
        if not hasattr(model_class(self._model_name()), "levels"):
            raise InputError(
                f"{self._model_name()} places nothing in hyperbolic space; take a model that does, as wlhn"
            )
        if y is None:
            self.trained_ = untrained(data, self._settings(), self._seed())
            return self
        values = flat(y, "graph")
        return self._fit((with_numbers if are_fractions(values) else with_classes)(data, values))

    def transform(self, graphs: Any) -> NDArray[Any]:
        """(graphs, width) vectors."""
        check_is_fitted(self, "trained_")
        data = graphs_of(graphs, "graph", self.trained_).graphs
        return np.concatenate([part.graph for part in self.trained_.embed(data)])

    @property
    def _n_features_out(self) -> int:
        """How wide vectors are; scikit-learn makes names of it."""
        options, model = self.trained_.settings.options, self.trained_.model
        network: Any = model.networks[0] if isinstance(model, HasNetworks) else model
        if not isinstance(network, AnswersDepthByDepth):
            raise InputError(f"{self.trained_.settings.model}: does not say how wide its vectors are, so has no names")
        return int(network.readout.width(options.hidden_channels, len(network.layers)))  # type: ignore[attr-defined]
