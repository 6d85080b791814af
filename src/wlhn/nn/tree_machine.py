"""Machines on the tree of colours: what they know are a tree and numbers on its colours, no graphs.

A machine learns from a hierarchy of graphs with targets and gives decision values, each linear in something that the
tree says of a graph. What a run folder keeps of it (`memory`) is what `learn` returns: the part of the tree that its
answers depend on, and numbers. Right after `fit` it is what it will be after loading, bit for bit.

A machine may put off a part of its fit until somebody asks for what it remembers (`finish`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.batching.as_hierarchy import hierarchy_of
from wlhn.batching.colour_batch import ColourBatch
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy import Hierarchy, refine
from wlhn.hierarchy.hierarchy import tree_from_arrays
from wlhn.kernels.matching import cut
from wlhn.nn.encoders import Channels, check_width
from wlhn.nn.machine import LEAST, FittedModel, Inputs
from wlhn.nn.memory import TASKS, TREE, check_tree_memory, shaped

Array = NDArray[Any]


class TreeMachine(FittedModel):
    """The base of machines on the tree."""

    target_levels = ("graph",)
    sees_edges = True
    takes_votes = False  # whether three classes or more are told apart by votes, pair by pair; else by decision values

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        self._memory: dict[str, Tensor] = {}
        self._tree: Hierarchy | None = None
        self.task, self.classes = "", np.empty(0, np.int64)  # what it was fitted for, and which classes it knows

    @abstractmethod
    def learn(self, hierarchy: Hierarchy, y: Array, task: str, seed: int) -> tuple[Hierarchy, dict[str, Array]]:
        """(the part of the tree to remember, numbers to remember)."""

    @property
    @abstractmethod
    def numbers(self) -> tuple[str, ...]:
        """Names of the numbers to remember beside `intercept`."""

    @abstractmethod
    def check_numbers(self, memory: Mapping[str, Tensor], colours: list[int], machines: int) -> None:
        """Numbers of these names that may come from anywhere fit a tree of so many colours at each depth, and so many
        machines; an `InputError` names the one that does not."""

    @abstractmethod
    def num_machines(self, classes: int) -> int:
        """How many machines tell three classes or more apart."""

    @abstractmethod
    def recall(self, memory: Mapping[str, Array]) -> None:
        """Make ready what `learn` wants remembered."""

    @abstractmethod
    def decisions(self, hierarchy: Hierarchy) -> Array:
        """Decision values (graphs or nodes, machines) of the graphs of a hierarchy as deep as `rounds`."""

    @abstractmethod
    def class_scores(self, values: Array, classes: int) -> Array:
        """Scores (rows, classes) from the decision values for three classes or more."""

    @abstractmethod
    def lead(self, classes: int, wanted: int, rival: int) -> Array:
        """(machines,) which decision values, in which share, are the lead of one of three or more classes."""

    def fit_on(self, inputs: Inputs, y: Tensor, task: str, seed: int, rows: Tensor | None) -> None:
        _check_all_rows(rows)
        self._fit(self.refined(inputs), y, task, seed)

    def fit_on_colours(
        self, batch: ColourBatch, *, y: Tensor, task: str, seed: int = 0, rows: Tensor | None = None
    ) -> None:
        """The same from a batch of colours, `rounds` deep or deeper."""
        _check_all_rows(rows)
        self._fit(hierarchy_of(batch), y, task, seed)

    def _fit(self, hierarchy: Hierarchy, y: Tensor, task: str, seed: int) -> None:
        hierarchy, targets = cut(hierarchy, self.options.rounds), y.numpy()
        self.remember(*self.learn(hierarchy, targets, task, seed), task, np.unique(targets))

    def remember(self, tree: Hierarchy, numbers: dict[str, Array], task: str, classes: Array) -> None:
        """Be what `learn` found."""
        numbers = numbers | {"task": np.array(TASKS.index(task))}
        if task == "classification":
            numbers |= {"classes": classes}
        arrays = numbers | {TREE + name: part for name, part in tree.tree_arrays().items()}
        self.load_state_dict({name: torch.from_numpy(np.array(part, order="C")) for name, part in arrays.items()})

    def finish(self) -> None:
        """Do what a fit has put off; most put off nothing."""

    @property
    def memory(self) -> dict[str, Tensor]:
        """What a run folder keeps."""
        self.finish()
        return self._memory

    def answer(self, inputs: Inputs) -> Tensor:
        return self.outputs(self.refined(inputs))

    def run_on_colours(self, batch: ColourBatch) -> Tensor:
        """Outputs (graphs or nodes, out_channels) from a batch of colours, `rounds` deep or deeper."""
        check_width(batch.x, self.in_channels)
        return self.outputs(hierarchy_of(batch))

    def outputs(self, hierarchy: Hierarchy) -> Tensor:
        """Outputs for the graphs of a hierarchy: scores of classes, log odds, or numbers."""
        return self.answers(self.decisions(cut(hierarchy, self.fitted_tree.depth)))

    def answers(self, values: Array) -> Tensor:
        """Outputs from decision values (rows, machines)."""
        if self.task != "classification":
            return torch.from_numpy(values).float()
        known = self.classes
        scores = np.full((len(values), self.out_channels), np.log(LEAST))
        pair = len(known) == 2
        scores[:, known] = values * [-0.5, 0.5] if pair else self.class_scores(values, len(known))
        return torch.from_numpy(scores).float()

    def lead_of(self, wanted: int, rival: int | None) -> Array:
        """(machines,) which decision values, in which share, are an output, or its lead over another one."""
        if rival is None:
            return np.eye(len(self.memory["intercept"]))[wanted]
        known = self.classes.tolist()
        for each in (wanted, rival):
            if each not in known:
                raise InputError(f"class {each}: no training item had it, so the machine has nothing to say of it")
        place, other = known.index(wanted), known.index(rival)
        return np.array([1.0 if place else -1.0]) if len(known) == 2 else self.lead(len(known), place, other)

    @property
    def fitted_tree(self) -> Hierarchy:
        self.check_fitted()
        assert self._tree is not None
        return self._tree

    def refined(self, inputs: Inputs) -> Hierarchy:
        """The hierarchy of graphs, from the rows of their features."""
        ptr = np.concatenate([[0], np.cumsum(np.bincount(inputs.batch))])
        edges = inputs.edge_attr if self.edge_channels else None
        graphs = Graphs.from_edges(inputs.edge_index, node_ptr=ptr, edge_attr=edges)
        return refine(graphs, self.options.rounds, inputs.x, edges is not None)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Be as the machine was that gave this state, or something like it: it may come from anywhere."""
        self._check(state_dict)
        self._memory = dict(state_dict)
        arrays = {name: tensor.numpy() for name, tensor in self._memory.items()}
        self.task, self.classes = TASKS[int(arrays["task"])], arrays.get("classes", self.classes[:0])
        kept = {name.removeprefix(TREE): part for name, part in arrays.items() if name.startswith(TREE)}
        self._tree = tree_from_arrays(kept, self.options.rounds)
        self.recall(arrays)

    def _check(self, memory: Mapping[str, Tensor]) -> None:
        names, rounds, outputs = ("intercept", *self.numbers), self.options.rounds, self.out_channels
        colours, classes = check_tree_memory(memory, *self.widths, numbers=names, rounds=rounds, outputs=outputs)
        machines = {0: self.out_channels, 2: 1}.get(classes) or self.num_machines(classes)
        shaped("intercept", memory["intercept"], (machines,), (torch.float64,))
        self.check_numbers(memory, colours, machines)


def _check_all_rows(rows: Tensor | None) -> None:
    if rows is not None:
        raise InputError("rows: a machine on the tree learns from all graphs that it is given; leave rows out")
