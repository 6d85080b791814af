"""Support vector machines on similarities of graphs: one base, whatever the kernel.

    f(G) = b + Σ_s α_s k(G, s)            over the support vectors s, training graphs with α_s ≠ 0

Three classes or more are told apart pair by pair, with a machine for each pair, and vote (as scikit-learn's SVC has
it).

Training and validation items of one hierarchy are rows and columns of its one matrix (`wlhn.kernels.kept`). A machine
that was fitted on such answers for others like them from that matrix; the tree of its support vectors, which anybody
else's graphs and a run folder need, is made when it is first asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.batching.as_hierarchy import hierarchy_of
from wlhn.batching.colour_batch import ColourBatch
from wlhn.data.class_weights import weights_of_items
from wlhn.errors import InputError
from wlhn.hierarchy import Hierarchy
from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.kept import can_keep, kept_matrix, square_of
from wlhn.kernels.matching import cut
from wlhn.nn.encoders import Channels, check_width
from wlhn.nn.machine import MachineOptions, constant_answer, known_targets, of_each_target
from wlhn.nn.memory import shaped, within
from wlhn.nn.tree_machine import TreeMachine
from wlhn.options.option import option
from wlhn.options.training import ClassWeightOptions

Array = NDArray[Any]
COUNTS = "support."


@dataclass(frozen=True)
class KernelMachineOptions(ClassWeightOptions, MachineOptions):
    svm_penalty: float = option(1.0, "C, what a training error costs the support vector machine.", above=0)


class KernelMachine(TreeMachine):
    """A support vector machine; a subclass says how alike graphs are."""

    Options = KernelMachineOptions
    takes_votes = True

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        self.learned_from: ColourBatch | None = None  # until the tree of its support vectors is made

    @abstractmethod
    def similarities(self, a: ColourCounts, b: ColourCounts | None = None) -> Array:
        """The kernel between the graphs of a and of b (without b, of a), 1 of a graph with itself."""

    def fit_on_colours(
        self, batch: ColourBatch, *, y: Tensor, task: str, seed: int = 0, rows: Tensor | None = None
    ) -> None:
        self.learned_from = None
        if rows is not None or batch.taken_from is None or not can_keep(batch.taken_from[0]):
            super().fit_on_colours(batch, y=y, task=task, seed=seed, rows=rows)
            return
        check_width(batch.x, self.in_channels)
        hierarchy, graphs, _ = batch.taken_from
        self._solve(square_of(self._kept(hierarchy), graphs), y.numpy(), task)
        classes = np.unique(y.numpy()) if task == "classification" else self.classes[:0]
        self.task, self.classes, self.learned_from = task, classes, batch

    def run_on_colours(self, batch: ColourBatch) -> Tensor:
        if self.learned_from is None or not self.learned_from.shares_tree_with(batch):
            return super().run_on_colours(batch)
        assert self.learned_from.taken_from is not None
        assert batch.taken_from is not None
        hierarchy, graphs, _ = self.learned_from.taken_from
        similar = self._kept(hierarchy)[np.ix_(batch.taken_from[1], graphs[self.support_at])]
        return self.answers(similar @ self.weight.T + self.intercept)

    def _kept(self, hierarchy: Hierarchy) -> Array:
        similar = replace(self.options, svm_penalty=1.0, class_weights="none")  # whatever these are
        kind = repr((type(self).__name__, similar))
        return kept_matrix(kind, hierarchy, self.options.rounds, self.similarities)

    def finish(self) -> None:
        if self.learned_from is not None:
            hierarchy, self.learned_from = cut(hierarchy_of(self.learned_from), self.options.rounds), None
            self.remember(*self._of_support(hierarchy), self.task, self.classes)

    def learn(self, hierarchy: Hierarchy, y: Array, task: str, seed: int) -> tuple[Hierarchy, dict[str, Array]]:
        self._solve(self.similarities(ColourCounts.of(hierarchy)), y, task)
        return self._of_support(hierarchy)

    def _of_support(self, hierarchy: Hierarchy) -> tuple[Hierarchy, dict[str, Array]]:
        """What to remember of the solved machine: the tree and the counts of its support vectors."""
        tree, kept = ColourCounts.of(hierarchy).select(self.support_at).pruned(hierarchy)
        numbers = {"weight": self.weight, "intercept": self.intercept}
        return tree, numbers | {COUNTS + name: part for name, part in kept.to_arrays().items()}

    def _solve(self, matrix: Array, y: Array, task: str) -> None:
        """Find the support vectors (`support_at`, positions among the graphs) and their weights."""
        solved = [self._solve_column(matrix, column, task) for column in of_each_target(y, task)]
        weight = np.concatenate([weight for weight, _ in solved])
        support = np.flatnonzero((weight != 0).any(axis=0))
        self.support_at = support if len(support) else np.array([0])  # it answers b, whatever the graph
        self.weight, self.intercept = weight[:, self.support_at], np.concatenate([b for _, b in solved])

    def _solve_column(self, matrix: Array, y: Array, task: str) -> tuple[Array, Array]:
        """(weights (machines, graphs), intercepts (machines,)) for one column of targets."""
        from sklearn.svm import SVC, SVR

        known = known_targets(y, task)
        if (always := constant_answer(y[known], task)) is not None:
            return np.zeros((1, len(y))), np.array([always])
        if len(known) < len(y):
            matrix = matrix[np.ix_(known, known)]
        made = (SVR if task == "regression" else SVC)(kernel="precomputed", C=self.options.svm_penalty)
        made.fit(matrix, y[known], weights_of_items(y[known], task, self.options.class_weights))
        support = known[made.support_]
        weight = np.zeros((len(made.intercept_), len(y)))
        if len(made.dual_coef_) == 1:
            weight[:, support] = made.dual_coef_
        else:  # row j − 1 (for i < j) of class i, and row i of class j, belong to the pair
            label = np.searchsorted(made.classes_, y[support])
            for pair, (i, j) in enumerate(combinations(range(len(made.classes_)), 2)):
                for one, row in ((i, j - 1), (j, i)):
                    weight[pair, support[label == one]] = made.dual_coef_[row, label == one]
        return weight, made.intercept_

    @property
    def numbers(self) -> tuple[str, ...]:
        return ("weight", *(COUNTS + name for name in ("ptr", "colour", "count", "first", "first_unseen")))

    def check_numbers(self, memory: Mapping[str, Tensor], colours: list[int], machines: int) -> None:
        weight, ptr, colour = memory["weight"], memory[COUNTS + "ptr"], memory[COUNTS + "colour"]
        support, entries, known = weight.shape[-1] if weight.ndim else 0, colour.numel(), sum(colours)
        shaped("weight", weight, (machines, support), (torch.float64,))
        if not support:
            raise InputError("weight: must be of one support vector or more, found none")
        within(COUNTS + "ptr", shaped(COUNTS + "ptr", ptr, (support + 1,)), 0, entries + 1)
        if int(ptr[0]) != 0 or int(ptr[-1]) != entries or bool((ptr.diff() < 0).any()):
            raise InputError(f"{COUNTS}ptr: must begin with 0, never fall, and end with the number of entries")
        within(COUNTS + "colour", shaped(COUNTS + "colour", colour, (entries,)), 0, known)
        row = torch.arange(support).repeat_interleave(ptr.diff())
        if bool(((row * known + colour).diff() <= 0).any()):
            raise InputError(f"{COUNTS}colour: must rise in each row")
        count = shaped(COUNTS + "count", memory[COUNTS + "count"], (entries,), (torch.int32,))
        within(COUNTS + "count", count, 1, 1 << 31)
        first = torch.tensor([0, *accumulate(colours)])
        for name, wanted in (("first", first), ("first_unseen", torch.full_like(first, known))):
            if not torch.equal(shaped(COUNTS + name, memory[COUNTS + name], tuple(first.shape)), wanted):
                raise InputError(f"{COUNTS}{name}: must be where the depths of the tree begin, {wanted.tolist()}")

    def num_machines(self, classes: int) -> int:
        return classes * (classes - 1) // 2

    def recall(self, memory: Mapping[str, Array]) -> None:
        self.learned_from = None
        arrays = {name.removeprefix(COUNTS): part for name, part in memory.items() if name.startswith(COUNTS)}
        self.support = ColourCounts.from_arrays(arrays)
        self.weight, self.intercept = memory["weight"], memory["intercept"]

    def decisions(self, hierarchy: Hierarchy) -> Array:
        similar = self.similarities(ColourCounts.of_new(self.fitted_tree, hierarchy), self.support)
        return similar @ self.weight.T + self.intercept

    def class_scores(self, values: Array, classes: int) -> Array:
        return votes(values, classes) if self.takes_votes else sums_of_pairs(values, classes)

    def lead(self, classes: int, wanted: int, rival: int) -> Array:
        pairs = list(combinations(range(classes), 2))
        low, high = sorted((wanted, rival))
        return np.eye(len(pairs))[pairs.index((low, high))] * (1 if wanted < rival else -1)


def sums_of_pairs(values: Array, classes: int) -> Array:
    """(rows, classes) how clearly each class is ahead of the others together, from decision values (rows, pairs)."""
    by = np.zeros((len(values), classes))
    for value, (i, j) in zip(values.T, combinations(range(classes), 2), strict=True):
        by[:, i] += value
        by[:, j] -= value
    return by


def votes(values: Array, classes: int) -> Array:
    """How many pairs each class wins, ties broken by how clearly.

    Args:
        values: (rows, pairs) decision values of the pairs (0, 1), (0, 2), …, positive for the first.
        classes: how many.

    >>> votes(np.array([[1.0, -1.0, -3.0]]), 3).round(2).tolist()
    [[1.0, -0.27, 2.27]]
    """
    won, by = np.zeros((len(values), classes)), sums_of_pairs(values, classes)
    for value, (i, j) in zip(values.T, combinations(range(classes), 2), strict=True):
        won[:, i] += value >= 0
        won[:, j] += value < 0
    return won + by / (3 * (np.abs(by) + 1))
