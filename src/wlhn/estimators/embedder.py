"""Vectors of graphs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wlhn.errors import InputError
from wlhn.estimators.base import GraphEstimator, graphs_of
from wlhn.estimators.targets import are_fractions, flat, with_classes, with_numbers
from wlhn.models.registry import model_class
from wlhn.nn.capabilities import AnswersDepthByDepth, HasVoices
from wlhn.runs.trained import untrained


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
            self.trained_ = untrained(data, self._settings(), self.random_state)
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
        network: Any = model.network if isinstance(model, HasVoices) else model
        if not isinstance(network, AnswersDepthByDepth):
            raise InputError(f"{self.trained_.settings.model}: does not say how wide its vectors are, so has no names")
        return int(network.readout.width(options.hidden_channels, len(network.layers)))  # type: ignore[attr-defined]
