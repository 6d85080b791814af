"""Machines that jobs share, as they know nothing of the network beside them: those of the last split are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from wlhn.batching.colour_batch import ColourBatch
from wlhn.nn.tree_machine import TreeMachine

FittedMachines = list[tuple[TreeMachine, float, Tensor]]  # machine, penalty, what it says of the validation items


@dataclass(frozen=True, eq=False)
class LearnedFrom:
    """What fitted machines depend on."""

    train: ColourBatch
    valid: ColourBatch
    y: Tensor
    task: str
    kind: tuple[str, int, int]  # of machine, clusters, layers

    def same_as(self, other: LearnedFrom) -> bool:
        """Whether both are about the same graphs of one hierarchy, with the same features and targets."""
        if (self.task, self.kind) != (other.task, other.kind) or not torch.equal(self.y, other.y):
            return False
        return _same_graphs(self.train, other.train) and _same_graphs(self.valid, other.valid)


def _same_graphs(one: ColourBatch, other: ColourBatch) -> bool:
    if one.taken_from is None or other.taken_from is None:
        return False
    hierarchy, graphs, x = one.taken_from
    if hierarchy is not other.taken_from[0] or not np.array_equal(graphs, other.taken_from[1]):
        return False
    if one.edge_x is None or other.edge_x is None:
        return one.edge_x is other.edge_x and torch.equal(x, other.taken_from[2])
    return torch.equal(x, other.taken_from[2]) and torch.equal(one.edge_x, other.edge_x)


_last: tuple[LearnedFrom, FittedMachines] | None = None


def fitted_once(asked: LearnedFrom, fit: Callable[[], FittedMachines]) -> FittedMachines:
    """What `fit` gives, or gave when it was last asked for the same."""
    global _last
    last = _last
    if last is not None and asked.same_as(last[0]):
        return last[1]
    _last = last = None  # before there are others
    made = fit()
    _last = asked, made
    return made
