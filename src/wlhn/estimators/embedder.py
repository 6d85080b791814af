"""Vectors of graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wlhn.data.dataset import class_indices
from wlhn.estimators.base import GraphEstimator, graphs_of
from wlhn.runs.trained import untrained


class GraphEmbedder(TransformerMixin, GraphEstimator):
    """Vectors of graphs, h_G = Σ log_0 over their nodes' points: learned from targets, or with random weights.

    >>> import networkx as nx
    >>> GraphEmbedder(hidden_channels=16).fit_transform([nx.path_graph(4), nx.cycle_graph(4)]).shape
    (2, 16)
    """

    def fit(self, graphs: Any, y: Any = None) -> Self:
        """With y, train to predict it (numbers with a fraction are regressed); without, keep the random weights."""
        data = graphs_of(graphs, "graph")
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
        data = graphs_of(graphs, "graph", self.trained_).graphs
        return np.concatenate([part.graph for part in self.trained_.embed(data)])
