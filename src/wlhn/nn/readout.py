"""From the points and features on a colour's path to what the head sees: the readout, for mini-batches and for large
graphs alike.

A path is a list of (r, e, h), depth by depth, each with a row for every colour (or node) that is read out: radius,
direction and GIN features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from wlhn.batching.colour_batch import Counts
from wlhn.hyperbolic.polar import to_tangent
from wlhn.ops.sums import product, tangent_sum

Path = Sequence[tuple[Tensor, Tensor, Tensor]]


class Readout(ABC):
    """What of a path the head sees."""

    every_depth = False  # whether it looks at the whole path, or at its end alone

    @abstractmethod
    def width(self, channels: int, num_layers: int) -> int:
        """How wide a row is."""

    @abstractmethod
    def rows(self, path: Path) -> Tensor:
        """(rows, width)."""

    def sums(self, counts: Counts, path: Path) -> Tensor:
        """The counted sum of rows for each graph, (graphs, width)."""
        return product(counts, self.rows(path))


class LastPoint(Readout):
    """The paper's: log_0 of the point at the last depth."""

    def width(self, channels: int, num_layers: int) -> int:
        return channels

    def rows(self, path: Path) -> Tensor:
        r, e, _ = path[-1]
        return to_tangent(r, e)

    def sums(self, counts: Counts, path: Path) -> Tensor:
        r, e, _ = path[-1]
        return tangent_sum(counts, r, e)


class PointAndFeatures(Readout):
    """log_0 of the last point with the GIN features beside it."""

    def width(self, channels: int, num_layers: int) -> int:
        return 2 * channels

    def rows(self, path: Path) -> Tensor:
        r, e, h = path[-1]
        return torch.cat([to_tangent(r, e), h], dim=1)

    def sums(self, counts: Counts, path: Path) -> Tensor:
        r, e, h = path[-1]
        return torch.cat([tangent_sum(counts, r, e), product(counts, h)], dim=1)


class AllPoints(Readout):
    """log_0 of the points of all depths, side by side."""

    every_depth = True

    def width(self, channels: int, num_layers: int) -> int:
        return (num_layers + 1) * channels

    def rows(self, path: Path) -> Tensor:
        return torch.cat([to_tangent(r, e) for r, e, _ in path], dim=1)


READOUTS: dict[str, type[Readout]] = {"hyperbolic": LastPoint, "both": PointAndFeatures, "all": AllPoints}
