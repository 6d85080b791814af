"""Machines: models that scikit-learn fits in one go, not epoch by epoch; otherwise models like any other.

Such a model is its training data: what a run folder keeps of it are those, and loading fits it again, from the same
seed. So nothing is pickled. A subclass says what it sees of graphs (`features`) and what learns from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.batching.colour_batch import check_edges
from wlhn.errors import InputError
from wlhn.nn.encoders import Channels, check_width
from wlhn.nn.memory import check_graph_memory
from wlhn.nn.model import Model
from wlhn.nn.pooling import graph_of_node
from wlhn.options.option import Options, option
from wlhn.options.training import InputOptions

TASKS = ("classification", "binary", "regression")
LEAST = 1e-4  # probability of what was never seen


@dataclass(frozen=True, eq=False)
class Inputs:
    """A batch of graphs in NumPy."""

    x: NDArray[Any]
    edge_index: NDArray[Any]
    batch: NDArray[Any]  # rising
    edge_attr: NDArray[Any] | None

    def graphs(self) -> list[tuple[slice, NDArray[Any]]]:
        """Of each graph, its nodes and the positions of its edges."""
        ptr = np.searchsorted(self.batch, np.arange(self.batch.max(initial=-1) + 2))
        graph_of_edge = self.batch[self.edge_index[1]]
        order = np.argsort(graph_of_edge, kind="stable")
        cuts = np.searchsorted(graph_of_edge[order], np.arange(1, len(ptr) - 1))
        parts = np.split(order, cuts)
        return [(slice(a, b), part) for a, b, part in zip(ptr[:-1], ptr[1:], parts, strict=True)]


@dataclass(frozen=True)
class MachineOptions(Options):
    rounds: int = option(3, "How many rounds of refinement, or hops, it looks.", at_least=0)


class Machine(Model, ABC):
    """The base of machines; they have no parameters, and gradients do not pass through them."""

    Options = MachineOptions
    Training = InputOptions

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        self.memory: dict[str, Tensor] = {}
        self.learners: list[Any] = []

    @abstractmethod
    def features(self, inputs: Inputs) -> NDArray[Any]:
        """One row for each graph (or node)."""

    @abstractmethod
    def classifier(self, seed: int) -> Any:
        """A scikit-learn classifier for these features."""

    @abstractmethod
    def regressor(self, seed: int) -> Any:
        """A scikit-learn regressor for these features."""

    def fit(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None,
        edge_attr: Tensor | None,
        *,
        y: Tensor,
        task: str,
        seed: int = 0,
        rows: Tensor | None = None,
    ) -> None:
        """Learn from graphs with targets as `wlhn.training.loss` has them: of all outputs, or of those in `rows`."""
        given = {"x": x, "edge_index": edge_index, "batch": graph_of_node(x, batch), "y": y}
        given |= {"task": torch.tensor(TASKS.index(task)), "seed": torch.tensor(seed)}
        if_given = {"edge_attr": edge_attr, "rows": rows}
        self.memory = given | {name: tensor for name, tensor in if_given.items() if tensor is not None}
        features = self.features(self._inputs(x, edge_index, batch, edge_attr))
        features = features if rows is None else features[rows.numpy()]
        if task == "classification":
            self.learners = [_learn(self.classifier(seed), features, y.numpy())]
            return
        columns = y.reshape(len(features), -1).numpy().T
        make = self.classifier if task == "binary" else self.regressor
        self.learners = [_learn(make(seed), features, column) for column in columns]

    @torch.no_grad()
    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        """Outputs (graphs or nodes, out_channels)."""
        if not self.learners:
            raise InputError(f"{type(self).__name__}: is not trained yet; call `fit` first")
        features = self.features(self._inputs(x, edge_index, batch, edge_attr))
        task = TASKS[int(self.memory["task"])]
        if task == "classification":
            return torch.from_numpy(_log_odds(self.learners[0], features, self.out_channels)).float()
        if task == "regression":
            return torch.from_numpy(np.stack([learner.predict(features) for learner in self.learners], axis=1)).float()
        scores = [_log_odds(learner, features, 2) for learner in self.learners]
        return torch.from_numpy(np.stack([score[:, 1] - score[:, 0] for score in scores], axis=1)).float()

    def _inputs(self, x: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Inputs:
        check_width(x, self.in_channels)
        check_edges(edge_index, len(x))
        edges = None if edge_attr is None else edge_attr.numpy()
        return Inputs(x.numpy(), edge_index.numpy(), graph_of_node(x, batch).numpy(), edges)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return dict(self.memory)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Fit again on what `state_dict` gave, or something like it: it may come from anywhere."""
        m = state_dict
        width, edge_width = (n if isinstance(n, int) else len(n) for n in (self.in_channels, self.edge_channels))
        check_graph_memory(
            m, width=width, edge_width=edge_width, outputs=self.out_channels, level=self.level, tasks=TASKS
        )
        inputs = m["x"], m["edge_index"], m["batch"], m.get("edge_attr")
        self.fit(*inputs, y=m["y"], task=TASKS[int(m["task"])], seed=int(m["seed"]), rows=m.get("rows"))


def _log_odds(learner: Any, features: NDArray[Any], classes: int) -> NDArray[Any]:
    """(rows, classes), also of classes that the learner has never seen."""
    scores = np.full((len(features), classes), np.log(LEAST))
    scores[:, learner.classes_.astype(int)] = np.log(np.maximum(learner.predict_proba(features), LEAST))
    return scores


def _learn(learner: Any, features: NDArray[Any], y: NDArray[Any]) -> Any:
    """Fit on the known targets: unknown ones weigh nothing."""
    from sklearn.base import is_classifier

    known = known_targets(y, "classification" if is_classifier(learner) else "regression")
    weight = np.zeros(len(y))
    weight[known] = 1
    return learner.fit(features, np.where(weight > 0, y, y[known[0]]), sample_weight=weight)


def known_targets(y: NDArray[Any], task: str) -> NDArray[Any]:
    """Positions of the targets that are known; for a classification they are of two classes at least."""
    known = np.flatnonzero(~np.isnan(y)) if np.issubdtype(y.dtype, np.floating) else np.arange(len(y))
    if task == "classification" and len(np.unique(y[known])) < 2:
        raise InputError("targets: all training items have the same class; a machine needs two or more to tell apart")
    return known
