"""Which of several machines: the one with the least loss on held-out items.

The loss is that of calibrated outputs, so that machines whose decision values have different units can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.batching.colour_batch import ColourBatch
from wlhn.data.splits import stratified_folds
from wlhn.models.machines.calibration import Loss, calibration
from wlhn.nn.tree_machine import TreeMachine

SEED = 0  # of machines and folds, whatever the network's: all runs on a split have the same machine, fitted once
Candidate = TypeVar("Candidate")


class Items(NamedTuple):
    """Graphs of a batch, as a machine sees them, and their targets."""

    batch: ColourBatch
    y: Tensor

    def fitted(self, machine: TreeMachine, task: str) -> TreeMachine:
        """The machine, after it has learned from these."""
        machine.fit_on_colours(self.batch, y=self.y, task=task, seed=SEED)
        return machine


def least_loss(
    candidates: Sequence[Candidate],
    make: Callable[[Candidate], TreeMachine],
    pairs: Iterable[tuple[Items, Items]],
    task: str,
    loss: Loss,
) -> tuple[Candidate, float]:
    """(the candidate, the factor that calibrates its outputs); of equally good ones, the first.

    Args:
        candidates: what machines are made from.
        make: makes one, not fitted yet.
        pairs: items to learn from, and others to be asked about; the answers of all pairs count together.
        task: as `wlhn.training.loss` has it.
        loss: of outputs, given their targets.
    """
    said: list[list[Tensor]] = [[] for _ in candidates]
    targets = []
    for learned, asked in pairs:
        targets.append(asked.y)
        for candidate, answers in zip(candidates, said, strict=True):
            answers.append(learned.fitted(make(candidate), task).run_on_colours(asked.batch))
    y, outputs = torch.cat(targets), [torch.cat(answers) for answers in said]
    scales = [calibration(each, y, loss) for each in outputs]
    losses = [float(loss(scale * each, y)) for scale, each in zip(scales, outputs, strict=True)]
    best = losses.index(min(losses))
    return candidates[best], scales[best]


def folds_of(y: Tensor, task: str, folds: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """(positions to learn from, positions held out) for each fold. Of a classification, there are no more folds than
    items of the rarest class, so that every class can be learned each time; none where that leaves fewer than two.

    >>> [held_out.tolist() for _, held_out in folds_of(torch.tensor([0, 0, 1, 1, 1]), "classification", 5)]
    [[0, 2], [1, 3, 4]]
    >>> folds_of(torch.tensor([0, 0, 1]), "classification", 5)
    []
    """
    least = int(np.unique(y.numpy(), return_counts=True)[1].min()) if task == "classification" else len(y)
    folds = min(folds, least)
    held_out = [split.test for split in stratified_folds(y.numpy(), folds=folds, seed=SEED)] if folds > 1 else []
    return [(np.setdiff1d(np.arange(len(y)), each), each) for each in held_out]
