"""From the points and features on a colour's path to what the head sees: the readout, for mini-batches and for large
graphs alike.

A path is a list of (r, e, h), depth by depth, each with a row for every colour (or node) that is read out: radius,
direction and GIN features.

Seen from the root, late steps are small: turning the last of T steps of length τ moves log_0 of the end sinh τ/sinh Tτ
as far as turning the first. `Steps` looks at each of them from where it starts instead, so all count alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from wlhn.batching.colour_batch import Counts
from wlhn.hyperbolic.polar import to_tangent
from wlhn.ops.sums import product, tangent_sum

Path = Sequence[tuple[Tensor, Tensor, Tensor]]


class Readout(ABC):
    """What of a path the head sees."""

    every_depth = False  # whether it looks at the whole path, or at its end alone

    def __init__(self, step: Callable[[int, Tensor], Tensor]) -> None:
        """`step` gives log of the steps to depth t in their parents' frames, from the features there."""
        self.step = step

    def width(self, channels: int, num_layers: int) -> int:
        """How wide a row is."""
        return channels * (num_layers + 1 if self.every_depth else 1)

    @abstractmethod
    def rows(self, path: Path) -> Tensor:
        """(rows, width)."""

    def sums(self, counts: Counts, path: Path) -> Tensor:
        """The counted sum of rows for each graph, (graphs, width)."""
        return product(counts, self.rows(path))


class LastPoint(Readout):
    """The paper's: log_0 of the point at the last depth."""

    def rows(self, path: Path) -> Tensor:
        r, e, _ = path[-1]
        return to_tangent(r, e)

    def sums(self, counts: Counts, path: Path) -> Tensor:
        r, e, _ = path[-1]
        return tangent_sum(counts, r, e)


class AllPoints(Readout):
    """log_0 of the points of all depths, side by side."""

    every_depth = True

    def rows(self, path: Path) -> Tensor:
        return torch.cat([to_tangent(r, e) for r, e, _ in path], dim=1)


class Steps(Readout):
    """log of each step, in the frame of the node it starts from, side by side.

    The frame is that of DiffHypCon: the node in the origin, its own parent in direction w. There the step to features h
    leads along h itself, so nothing of the features is lost however deep the tree, and nothing of where they stand.
    """

    every_depth = True

    def rows(self, path: Path) -> Tensor:
        return torch.cat([self.step(t, h) for t, (_, _, h) in enumerate(path)], dim=1)


READOUTS: dict[str, type[Readout]] = {
    "hyperbolic": LastPoint,
    "all": AllPoints,
    "steps": Steps,
}
