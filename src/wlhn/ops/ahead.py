"""Compile the loops of a training step ahead of need, into numba's cache: `python -m wlhn.ops.ahead`.

A process of its own does this while another one imports torch, reads data and refines colours; both have half of the
work. Each operation runs once on four rows, so the loops are compiled for just the types that training has.
"""

from __future__ import annotations

import numpy as np
import torch

from wlhn.batching.colour_batch import ColourLevel, Counts
from wlhn.loops import collation
from wlhn.ops.gin import Weights, gin, gin_of_sums
from wlhn.ops.level import next_level, root_level
from wlhn.ops.sums import tangent_sum

ROWS, WIDTH = 4, 3


def compile_ahead() -> None:
    """A step of a network on rows that are their own parents and neighbours, in the order in which training asks."""
    _collate_ahead()
    each, ptr = torch.arange(ROWS), torch.arange(ROWS + 1)
    same = (ptr, each.int(), torch.ones(ROWS))
    counts = Counts(*same, *same)
    level = ColourLevel(parent=each, child_ptr=ptr, neighbours=counts, weight=torch.ones(ROWS))
    x, matrix = torch.rand(ROWS, WIDTH, requires_grad=True), torch.rand(WIDTH, WIDTH, requires_grad=True)
    bias = torch.zeros(WIDTH, requires_grad=True)
    points = root_level(x, 1.0)
    for look_back in (True, False):
        points = next_level(x, points, each, 1.0, ptr, look_back)
    tangent_sum(counts, points.r, points.e).sum().backward()
    weights = Weights(matrix, bias, bias, bias, matrix, bias)
    gin(x, weights, level)[0].sum().backward()
    gin_of_sums(x, weights, level.weight)[0].sum().backward()


def _collate_ahead() -> None:
    """One graph of one colour, put together as a batch."""
    ptr, graphs, one = np.array([0, 1]), np.array([0]), np.ones(1, np.int32)
    colour, slot = np.zeros(1, np.int32), np.full(1, -1, np.int32)
    rows = collation.mark_new(ptr, colour, graphs, slot)
    _, new_ptr, index, value = collation.enter_rows(rows, ptr, colour, one, graphs, slot, True)
    collation.take_rows(rows, colour, ptr, colour, one, slot, 1)
    Counts.from_rows(new_ptr, index, value, 1)


if __name__ == "__main__":
    torch.set_num_threads(1)
    compile_ahead()
