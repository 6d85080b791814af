"""Boosted trees on statistics of the neighbourhood, a floor for nodes with few features: what is there to be learned?

Nodes start with their features; each round adds the sum, mean, deviation, least and largest value of every column of
the round before, over a node's neighbours. All these are functions of WL colours, so message passing of as many layers
could learn them. Columns grow fivefold with each round: with hundreds of features use a network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from wlhn.errors import InputError
from wlhn.loops.grouping import group_by_target
from wlhn.nn.machine import Inputs, Machine, MachineOptions
from wlhn.options.option import option
from wlhn.options.training import ClassWeightOptions

MOST_COLUMNS = 5000
BOOSTING = {"learning_rate": 0.05, "max_leaf_nodes": 15, "l2_regularization": 1.0, "early_stopping": False}


@dataclass(frozen=True)
class NeighbourhoodTreesOptions(ClassWeightOptions, MachineOptions):
    trees: int = option(500, "Boosted trees.", at_least=1, below=100_000)


class NeighbourhoodTrees(Machine):
    """Boosted trees on statistics of the neighbourhood, `rounds` hops far.

    >>> import torch
    >>> model = NeighbourhoodTrees(in_channels=1, out_channels=2, rounds=1, trees=50)
    >>> x, edges = torch.ones(100, 1), torch.stack([torch.arange(50), torch.arange(50) + 50])
    >>> model.fit(x, edges, None, None, y=torch.arange(100) // 50, task="classification")  # who has a neighbour?
    >>> model(x, edges).argmax(1).bincount()
    tensor([50, 50])
    """

    Options = NeighbourhoodTreesOptions
    target_levels = ("node",)

    def features(self, inputs: Inputs) -> NDArray[Any]:
        """A node's own features and the statistics of all rounds, side by side."""
        columns = inputs.x.shape[1] * (5 ** (self.options.rounds + 1) - 1) // 4
        if columns > MOST_COLUMNS:
            raise InputError(
                f"neighbourhood-trees: {inputs.x.shape[1]} features become {columns} columns after "
                f"{self.options.rounds} rounds, more than {MOST_COLUMNS}; set fewer rounds"
            )
        source, target = inputs.edge_index
        row_ptr, neighbour, _ = group_by_target(source, target, len(inputs.x), with_order=False)
        rounds = [inputs.x.astype(np.float32)]
        for _ in range(self.options.rounds):
            rounds.append(statistics(row_ptr, neighbour, rounds[-1]))
        return np.concatenate(rounds, axis=1)

    def classifier(self, seed: int) -> Any:
        return HistGradientBoostingClassifier(max_iter=self.options.trees, random_state=seed, **BOOSTING)

    def regressor(self, seed: int) -> Any:
        return HistGradientBoostingRegressor(max_iter=self.options.trees, random_state=seed, **BOOSTING)


def statistics(row_ptr: NDArray[Any], neighbour: NDArray[Any], x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum, mean, deviation, least and largest of each column over the neighbours; zeros where there are none.

    Taken in float64 and rounded to float32, so that the order of neighbours does not show.

    >>> statistics(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.float32([[1], [2], [4]]))[1]  # of a path
    array([5. , 2.5, 1.5, 1. , 4. ], dtype=float32)
    """
    degree = np.diff(row_ptr)
    seen, share = degree > 0, np.maximum(degree, 1)[:, None]
    neighbours, first = x.astype(np.float64)[neighbour], row_ptr[:-1][seen]

    def reduced(by: np.ufunc, values: NDArray[Any]) -> NDArray[np.float64]:
        out = np.zeros(x.shape)
        out[seen] = by.reduceat(values, first, axis=0)
        return out

    total = reduced(np.add, neighbours)
    mean = total / share
    deviation = np.sqrt(reduced(np.add, (neighbours - np.repeat(mean, degree, axis=0)) ** 2) / share)
    least, largest = reduced(np.minimum, neighbours), reduced(np.maximum, neighbours)
    return np.concatenate([total, mean, deviation, least, largest], axis=1).astype(np.float32)
