"""A linear machine on explicit features of graphs: for tens of thousands of them, where no square matrix fits.

Columns are colours of at least `min_graphs` training graphs, coded as `wlhn.kernels.features` has it, in rows of length
1. Three classes or more have a machine each, against the rest.

With `coarse`, each node has a copy next to it from which all but its first category is hidden, and colours of copies
are counted like any others: nothing else knows of them but what divides an answer among nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.data.class_weights import weights_of_items
from wlhn.errors import InputError
from wlhn.hierarchy import Hierarchy
from wlhn.kernels.coarser import with_coarser
from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.features import Code, coded_rows, for_scikit_learn, largest_counts
from wlhn.kernels.matching import cut, match
from wlhn.nn.machine import MachineOptions, constant_answer, known_targets, of_each_target
from wlhn.nn.memory import shaped, within
from wlhn.nn.tree_machine import TreeMachine
from wlhn.options.option import option
from wlhn.options.training import ClassWeightOptions

Array = NDArray[Any]
HIDDEN_CATEGORY = -2  # not -1: a category that is hidden is not one that is unknown
HIDDEN_NUMBER = -(2.0**62)  # finite, as run folders want it, and no number of a node


@dataclass(frozen=True)
class WLLinearOptions(ClassWeightOptions, MachineOptions):
    code: Code = option(
        "thermometer",
        "What a machine sees of a colour that n nodes have: a 0/1 for each k up to n (a linear machine on these is an "
        "optimal assignment machine), log(1 + n), or n.",
    )
    min_graphs: int = option(2, "Colours of fewer training graphs are left out.", at_least=1)
    svm_penalty: float = option(1.0, "C, what a training error costs the machine.", above=0)
    coarse: bool = option(
        False,
        "Whether colours of a coarser tree are counted as well: it starts from the first of several categorical "
        "features (the element of an atom), or, where there is one feature or numbers, from bare structure.",
    )


class WLLinear(TreeMachine):
    """Linear support vector machine on counted colours, for many graphs.

    >>> import torch
    >>> model = WLLinear(in_channels=1, out_channels=2, rounds=2, min_graphs=1)
    >>> edges, batch = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]]), torch.tensor([0, 0, 1, 1, 1])
    >>> model.fit(torch.ones(5, 1), edges, batch, None, y=torch.tensor([0, 1]), task="classification")
    >>> model(torch.ones(5, 1), edges, batch).argmax(1)
    tensor([0, 1])
    """

    Options = WLLinearOptions

    def learn(self, hierarchy: Hierarchy, y: Array, task: str, seed: int) -> tuple[Hierarchy, dict[str, Array]]:
        from sklearn.svm import LinearSVC, LinearSVR

        hierarchy = self._seen(hierarchy)
        tree, counts = ColourCounts.of(hierarchy).pruned(hierarchy, self.options.min_graphs)
        if not counts.num_known:
            raise InputError(
                f"wl-linear: no colour is in {self.options.min_graphs} of the {hierarchy.num_graphs} graphs that it is "
                "given to learn from; take features that nodes have in common, bins or clusters of numbers, or, with "
                "the model wl-linear, min_graphs=1"
            )
        steps = largest_counts(counts.matrix) if self.options.code == "thermometer" else None
        features = for_scikit_learn(self._features(ColourCounts.of_new(tree, hierarchy), steps))
        coefficient, intercept = [], []
        for column in of_each_target(y, task):
            known = known_targets(column, task)
            if (always := constant_answer(column[known], task)) is not None:
                coefficient.append(np.zeros((1, features.shape[1])))
                intercept.append(np.array([always]))
                continue
            made = (LinearSVR if task == "regression" else LinearSVC)(
                C=self.options.svm_penalty, random_state=seed, max_iter=10_000
            )
            weight = weights_of_items(column[known], task, self.options.class_weights)
            made.fit(features[known], column[known], weight)
            coefficient.append(made.coef_.reshape(-1, features.shape[1]))
            intercept.append(np.atleast_1d(made.intercept_))
        numbers = {"coefficient": np.concatenate(coefficient), "intercept": np.concatenate(intercept)}
        return tree, numbers if steps is None else numbers | {"steps": steps}

    @property
    def numbers(self) -> tuple[str, ...]:
        return ("coefficient", "steps") if self.options.code == "thermometer" else ("coefficient",)

    def check_numbers(self, memory: Mapping[str, Tensor], colours: list[int], machines: int) -> None:
        coefficient, columns = memory["coefficient"], sum(colours)
        if "steps" in memory:
            steps, size = shaped("steps", memory["steps"], (columns,)), coefficient.numel()
            within("steps", steps, 1, size + 1)  # so that their sum can be counted
            columns = int(steps.sum())
        shaped("coefficient", coefficient, (machines, columns), (torch.float64,))

    def num_machines(self, classes: int) -> int:
        return classes

    def recall(self, memory: Mapping[str, Array]) -> None:
        self.coefficient, self.intercept = memory["coefficient"], memory["intercept"]
        self.steps = memory.get("steps")

    def decisions(self, hierarchy: Hierarchy) -> Array:
        features = self._features(ColourCounts.of_new(self.fitted_tree, self._seen(hierarchy)), self.steps)
        return np.asarray(features @ self.coefficient.T) + self.intercept

    def _seen(self, hierarchy: Hierarchy) -> Hierarchy:
        """The hierarchy of what it counts: the nodes, or the nodes with a copy next to each."""
        if not self.options.coarse:
            return hierarchy
        values, channels = hierarchy.initial_values, self.in_channels
        shown, hidden = (0, HIDDEN_NUMBER) if isinstance(channels, int) else (len(channels) > 1, HIDDEN_CATEGORY)
        return with_coarser(hierarchy, np.where(np.arange(values.shape[1]) < shown, values, hidden))

    def _features(self, counts: ColourCounts, steps: Array | None) -> Any:
        return coded_rows(counts, np.arange(counts.num_known), self.options.code, steps, normalised=True)

    def class_scores(self, values: Array, classes: int) -> Array:
        return values

    def lead(self, classes: int, wanted: int, rival: int) -> Array:
        each = np.eye(classes)
        return each[wanted] - each[rival]

    def colour_parts(self, hierarchy: Hierarchy) -> tuple[Array, list[Array]]:
        """(b, depth by depth what each colour of a single graph adds to the decision values (colours, machines)).

        The graph is refined `rounds` deep or deeper. A row's length is taken for a constant of the graph. What a
        colour of copies adds is shared evenly by the nodes that they are copies of.
        """
        tree = self.fitted_tree
        hierarchy = cut(hierarchy, tree.depth)
        seen = self._seen(hierarchy)
        counts = ColourCounts.of_new(tree, seen)
        row = self._features(counts, self.steps)
        colour = (
            np.arange(counts.num_known) if self.steps is None else np.repeat(np.arange(len(self.steps)), self.steps)
        )
        of_column = np.zeros((counts.num_known, len(self.coefficient)))
        np.add.at(of_column, colour[row.indices], row.data[:, None] * self.coefficient[:, row.indices].T)
        of_column = np.concatenate([of_column, np.zeros((1, len(self.coefficient)))])  # the last: of unknown colours
        parts = []
        for t, known in enumerate(match(tree, seen)):
            each = of_column[np.where(known < 0, -1, counts.first[t] + known)] / np.maximum(seen.count(t), 1)[:, None]
            node = each[seen.colours[t]].reshape(hierarchy.num_nodes, -1, len(self.coefficient)).sum(axis=1)
            parts.append(np.zeros((hierarchy.num_colours[t], len(self.coefficient))))
            np.add.at(parts[t], hierarchy.colours[t], node)
        return self.intercept, parts
