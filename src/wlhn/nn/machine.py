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
from wlhn.data.class_weights import weights_of_items
from wlhn.errors import InputError
from wlhn.nn.memory import TASKS, check_graph_memory
from wlhn.nn.model import Model
from wlhn.nn.pooling import graph_of_node
from wlhn.options.option import Options, option
from wlhn.options.training import ClassWeights, InputOptions

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


class FittedModel(Model, ABC):
    """The base of models that are fitted in one go; they have no parameters, and gradients do not pass through them."""

    Options = MachineOptions
    Training = InputOptions

    @property
    @abstractmethod
    def memory(self) -> dict[str, Tensor]:
        """What a run folder keeps; empty before `fit`."""

    @abstractmethod
    def fit_on(self, inputs: Inputs, y: Tensor, task: str, seed: int, rows: Tensor | None) -> None:
        """`fit`, from a batch of graphs in NumPy."""

    @abstractmethod
    def answer(self, inputs: Inputs) -> Tensor:
        """`forward`, from a batch of graphs in NumPy."""

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
        self.fit_on(self._inputs(x, edge_index, batch, edge_attr), y, task, seed, rows)

    @torch.no_grad()
    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        """Outputs (graphs or nodes, out_channels)."""
        return self.answer(self._inputs(x, edge_index, batch, edge_attr))

    def _inputs(self, x: Tensor, edge_index: Tensor, batch: Tensor | None, edge_attr: Tensor | None) -> Inputs:
        self.check_inputs(x, edge_attr)
        check_edges(edge_index, len(x))
        edges = None if edge_attr is None else edge_attr.numpy()
        return Inputs(x.numpy(), edge_index.numpy(), graph_of_node(x, batch).numpy(), edges)

    @property
    def widths(self) -> tuple[int, int]:
        """Columns of features of nodes and of edges."""
        width, edge_width = (n if isinstance(n, int) else len(n) for n in (self.in_channels, self.edge_channels))
        return width, edge_width

    def check_fitted(self) -> None:
        if not self.memory:
            raise InputError(f"{type(self).__name__}: is not trained yet; call `fit` first")

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return dict(self.memory)


class Machine(FittedModel):
    """The base of machines that learn from features of graphs or nodes."""

    memory: dict[str, Tensor] = {}  # noqa: RUF012  (replaced by `fit`, never changed)

    @abstractmethod
    def features(self, inputs: Inputs) -> NDArray[Any]:
        """One row for each graph (or node)."""

    @abstractmethod
    def classifier(self, seed: int) -> Any:
        """A scikit-learn classifier for these features."""

    @abstractmethod
    def regressor(self, seed: int) -> Any:
        """A scikit-learn regressor for these features."""

    def fit_on(self, inputs: Inputs, y: Tensor, task: str, seed: int, rows: Tensor | None) -> None:
        given = {"y": y, "task": torch.tensor(TASKS.index(task)), "seed": torch.tensor(seed)}
        graphs = {name: torch.from_numpy(array) for name, array in vars(inputs).items() if array is not None}
        features = self.features(inputs)
        features = features if rows is None else features[rows.numpy()]
        make = self.regressor if task == "regression" else self.classifier
        kind: ClassWeights = getattr(self.options, "class_weights", "none")  # a machine may offer it, or not
        learners = [_learn(make(seed), features, column, task, kind) for column in of_each_target(y.numpy(), task)]
        # Last, so that a fit that fails leaves the machine as it was.
        self.memory, self.learners = graphs | given | ({} if rows is None else {"rows": rows}), learners

    def answer(self, inputs: Inputs) -> Tensor:
        self.check_fitted()
        features, task = self.features(inputs), TASKS[int(self.memory["task"])]
        if task == "classification":
            outputs = _log_odds(self.learners[0], features, self.out_channels)
        elif task == "regression":
            outputs = np.stack([learner.predict(features) for learner in self.learners], axis=1)
        else:
            scores = [_log_odds(learner, features, 2) for learner in self.learners]
            outputs = np.stack([score[:, 1] - score[:, 0] for score in scores], axis=1)
        return torch.from_numpy(outputs).float()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Fit again on what `state_dict` gave, or something like it: it may come from anywhere."""
        m = state_dict
        check_graph_memory(m, *self.widths, outputs=self.out_channels, level=self.level)
        inputs = m["x"], m["edge_index"], m["batch"], m.get("edge_attr")
        self.fit(*inputs, y=m["y"], task=TASKS[int(m["task"])], seed=int(m["seed"]), rows=m.get("rows"))


def _log_odds(learner: Any, features: NDArray[Any], classes: int) -> NDArray[Any]:
    """(rows, classes), also of classes that the learner has never seen."""
    scores = np.full((len(features), classes), np.log(LEAST))
    scores[:, learner.classes_.astype(int)] = np.log(np.maximum(learner.predict_proba(features), LEAST))
    return scores


def _learn(learner: Any, features: NDArray[Any], y: NDArray[Any], task: str, kind: ClassWeights) -> Any:
    """Fit on the known targets: unknown ones weigh nothing. One of several that is always yes, never, or unknown has
    nothing to tell apart, and a constant answer."""
    known = known_targets(y, task)
    if task != "classification" and (always := constant_answer(y[known], task)) is not None:
        return _constant(always, task)
    weight, of_known = np.zeros(len(y)), weights_of_items(y[known], task, kind)
    weight[known] = 1 if of_known is None else of_known
    return learner.fit(features, np.where(weight > 0, y, y[known[0]]), sample_weight=weight)


def _constant(answer: float, task: str) -> Any:
    """A learner that always gives a decision value, or a number: −1, 0 and 1 are no, unknown and yes."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if task == "regression":
        return DummyRegressor(strategy="constant", constant=answer).fit([[0]], [answer])
    classes = [0, 1] if answer == 0 else [(1 + answer) / 2]
    return DummyClassifier(strategy="uniform").fit([[0]] * len(classes), classes)


def constant_answer(y: NDArray[Any], task: str) -> float | None:
    """The decision value where there is nothing to tell apart: one of many yes-or-no targets may be always yes, never,
    or unknown.

    >>> constant_answer(np.array([1.0, 1.0]), "binary"), constant_answer(np.array([1.0, 0.0]), "binary")
    (1.0, None)
    """
    if task == "binary":
        values = np.unique(y)
        return None if len(values) > 1 else 2.0 * float(values[0]) - 1 if len(values) else 0.0
    return None if len(y) else 0.0


def of_each_target(y: NDArray[Any], task: str) -> list[NDArray[Any]]:
    """One column for each machine's targets."""
    return [y] if task == "classification" else list(y.reshape(len(y), -1).T)


def known_targets(y: NDArray[Any], task: str) -> NDArray[Any]:
    """Positions of the targets that are known; for a classification they are of two classes at least."""
    known = np.flatnonzero(~np.isnan(y)) if np.issubdtype(y.dtype, np.floating) else np.arange(len(y))
    if task == "classification" and len(np.unique(y[known])) < 2:
        raise InputError("targets: all training items have the same class; a machine needs two or more to tell apart")
    return known
