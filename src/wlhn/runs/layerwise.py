"""A trained model on a large graph, depth by depth: every colour is computed once, so many rows at a time.

A batch of nodes with all they depend on computes a neighbour again for each batch that needs it, and at every depth
more; that is the price of learning in batches. To apply a model, whole depths are computed one after the other, from
the rows of the depth before, which lie in files that are mapped into memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.batching.quotient import Quotient
from wlhn.hierarchy import Hierarchy
from wlhn.loops import parallel
from wlhn.loops import sums as loops
from wlhn.nn.capabilities import AnswersDepthByDepth
from wlhn.nn.gin_layer import GINLayer
from wlhn.ops.level import Points

ROWS = 65_536  # at a time: what is between two files stays in the processor's cache, or near it


@dataclass(frozen=True, eq=False)
class StoredDepth:
    """All colours of one depth: points and GIN features, in files."""

    r: NDArray[Any]  # (colours,)
    e: NDArray[Any]  # (colours, d)
    u: NDArray[Any]  # (colours, d); of the last depth (0, d)
    h: NDArray[Any]  # (colours, d)

    @staticmethod
    def new(folder: Path, rows: int, dimension: int, last: bool) -> StoredDepth:
        folder.mkdir()
        shapes = {"r": (rows,), "e": (rows, dimension), "u": (rows, dimension), "h": (rows, dimension)}
        files = {k: np.memmap(folder / k, np.float32, "w+", shape=s) for k, s in shapes.items() if k != "u" or not last}
        return StoredDepth(**({"u": np.empty((0, dimension), np.float32)} | files))

    def write(self, first: int, z: Points, h: Tensor) -> None:
        for array, value in ((self.r, z.r), (self.e, z.e), (self.u, z.u), (self.h, h)):
            array[first : first + len(value)] = value.numpy()

    def read(self, rows: NDArray[Any] | slice) -> tuple[Tensor, Tensor, Tensor]:
        """(r, e, h) of some rows."""
        r, e, h = (torch.from_numpy(np.asarray(array[rows])) for array in (self.r, self.e, self.h))
        return r, e, h


@torch.no_grad()
def depths(model: AnswersDepthByDepth, quotient: Quotient, folder: Path, every: bool) -> list[StoredDepth]:
    """Points and features of the colours of `every` depth, or of the last alone, in files in a folder.

    The model is in evaluation mode.
    """
    z, h = model.root(quotient.x, None)
    last = len(model.layers)
    here = StoredDepth.new(folder / "0", len(h), h.shape[1], last == 0)
    here.write(0, z, h)
    out = [here]
    for t in range(1, last + 1):
        before, here = here, StoredDepth.new(folder / str(t), quotient.hierarchy.num_colours[t], h.shape[1], t == last)
        for first, z, h in _next_depth(model, quotient, t, before):
            here.write(first, z, h)
        out.append(here)
        if not every:  # memory that is free again is found much faster than new one
            del out[0], before
            shutil.rmtree(folder / str(t - 1))
    return out


def _next_depth(
    model: AnswersDepthByDepth, quotient: Quotient, t: int, before: StoredDepth
) -> Iterator[tuple[int, Points, Tensor]]:
    """The colours of depth t, so many at a time: (the first of them, points, features)."""
    layer, count = model.layers[t - 1], quotient.hierarchy.num_colours[t]
    assert isinstance(layer, GINLayer)
    for first in range(0, count, ROWS):
        rows = slice(first, min(first + ROWS, count))
        parent = quotient.hierarchy.parents[t][rows].astype(np.int64)
        some = slice(parent[0], parent[-1] + 1)  # parents lie side by side
        r, e, above_h = before.read(some)
        above = Points(r, e, torch.from_numpy(np.asarray(before.u[some])))
        parent = parent - parent[0]
        total = (1 + layer.epsilon) * above_h[torch.from_numpy(parent)]
        _add_neighbours(total, layer, quotient, t, rows, before.h)
        h = layer.of_sums(total)
        child_ptr = np.searchsorted(parent, np.arange(len(above.r) + 1))
        z = model.place(t, h, above, torch.from_numpy(parent), torch.from_numpy(child_ptr), None)
        yield first, z, h


def _add_neighbours(
    total: Tensor, layer: GINLayer, quotient: Quotient, t: int, rows: slice, before: NDArray[Any]
) -> None:
    """Add what colours of depth t hear from their neighbours, all of whose rows are in `before`."""
    ptr, colour, edge, times = quotient.signatures[t - 1]
    ptr = ptr[rows.start : rows.stop + 1]
    if layer.edge_encoder is None:
        arrays = ptr, colour, times, np.asarray(before), total.numpy()
        parallel.over_rows(loops.sum_rows, len(total), int(ptr[-1] - ptr[0]) * total.shape[1], *arrays)
        return
    labels = layer.edge_encoder(quotient.edge_x)
    receiver = np.repeat(np.arange(len(total)), np.diff(ptr))
    for first in range(ptr[0], ptr[-1], ROWS):
        part = slice(first, min(first + ROWS, ptr[-1]))
        message = torch.relu(torch.from_numpy(before[colour[part]]) + labels[torch.from_numpy(np.array(edge[part]))])
        count = torch.from_numpy(np.array(times[part])).to(message.dtype)[:, None]
        total.index_add_(0, torch.from_numpy(receiver[part.start - ptr[0] : part.stop - ptr[0]]), count * message)


def points(layers: list[StoredDepth], hierarchy: Hierarchy, nodes: NDArray[Any]) -> list[tuple[Tensor, Tensor, Tensor]]:
    """(r, e, h) of these nodes at the depths given, of which the last is the hierarchy's."""
    colours = hierarchy.colours[-len(layers) :]
    return [layer.read(colour[nodes]) for layer, colour in zip(layers, colours, strict=True)]
