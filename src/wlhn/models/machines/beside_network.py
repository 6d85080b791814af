"""The machine on the tree beside a network (`wlhn.models.two_voices`): its kind, what it sees, how it is chosen.

Its depth, up to the network's, and its penalty are those with the least loss on held-out items: the training items,
fold by fold, or the validation items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from numpy.typing import NDArray

from wlhn.batching.colour_batch import ColourBatch
from wlhn.models.machines.calibration import Loss
from wlhn.models.machines.choice import Items, folds_of, least_loss
from wlhn.models.machines.clusters import Clusters
from wlhn.models.machines.shared_fits import Chosen, LearnedFrom
from wlhn.models.machines.subtree import WLOA, WLSVM
from wlhn.models.machines.wl_linear import WLLinear
from wlhn.nn.encoders import Channels
from wlhn.nn.tree_machine import TreeMachine
from wlhn.options.training import ClassWeights

TreeMachineName = Literal["wl-oa", "wl-svm", "wl-linear"]
TREES: dict[TreeMachineName, type[TreeMachine]] = {"wl-oa": WLOA, "wl-svm": WLSVM, "wl-linear": WLLinear}
PENALTIES = (0.1, 1.0, 10.0, 100.0)
LINEAR_PENALTIES = PENALTIES[:-1]  # the largest takes a linear machine minutes where graphs are many
PartOfTraining = Callable[[NDArray[Any]], ColourBatch]  # the batch of the training items at these positions


@dataclass(frozen=True)
class MachineBesideNetwork:
    """All of a machine but its depth and penalty."""

    name: TreeMachineName
    coarse: bool  # whether a linear one counts colours of a coarser tree as well
    in_channels: Channels  # of the network
    edge_channels: Channels
    out_channels: int
    clusters: Clusters | None  # that it sees instead of numbers

    def seen(self, batch: ColourBatch) -> ColourBatch:
        """The batch, or the same graphs with clusters for numbers."""
        return batch if self.clusters is None else self.clusters.encode_batch(batch)

    def made(self, rounds: int, penalty: float, class_weights: ClassWeights = "none") -> TreeMachine:
        """A machine that has learned nothing yet."""
        width = self.in_channels if self.clusters is None else self.clusters.width
        options: dict[str, Any] = {"rounds": rounds, "svm_penalty": penalty, "class_weights": class_weights}
        options |= {"coarse": True} if self.coarse else {}
        machine = TREES[self.name](width, self.out_channels, edge_channels=self.edge_channels, **options)
        machine.takes_votes = False  # votes can be neither calibrated nor divided among colours
        return machine

    def choose(
        self, given: LearnedFrom, depth: int, folds: int, part: PartOfTraining, loss: Loss, class_weights: ClassWeights
    ) -> Chosen:
        """The fitted machine of the best depth, up to the given one, and penalty."""
        y, task = given.y, given.task
        train = Items(self.seen(given.train), y)

        def items(positions: NDArray[Any]) -> Items:
            return Items(self.seen(part(positions)), y[positions])

        pairs = [(items(rest), items(held_out)) for rest, held_out in folds_of(y, task, folds)]
        pairs = pairs or [(train, Items(self.seen(given.valid), given.valid_y))]
        penalties = LINEAR_PENALTIES if self.name == "wl-linear" else PENALTIES
        candidates = list(product(range(depth + 1), penalties))
        best, scale = least_loss(candidates, lambda each: self.made(*each, class_weights), pairs, task, loss)
        return Chosen(train.fitted(self.made(*best, class_weights), task), best[1], scale)
