"""A trained WLHN on a large graph, depth by depth: every colour is computed once, so many rows at a time.

A batch of nodes with all they depend on computes a neighbour again for each batch that needs it, and at every depth
more; that is the price of learning in batches. To apply a model, whole depths are computed one after the other, from
the rows of the depth before, which lie in files that are mapped into memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.embeddings.level import Level, next_level, root_level
from wlhn.hierarchy import Hierarchy
from wlhn.hierarchy.quotient import Quotient
from wlhn.hyperbolic.polar import to_tangent
from wlhn.models.wlhn import WLHN

ROWS = 262_144  # at a time; the more, the fewer neighbours are read twice


@dataclass(frozen=True, eq=False)
class Depth:
    """All colours of one depth: points and GIN features, in files."""

    r: NDArray[Any]  # (colours,)
    e: NDArray[Any]  # (colours, d)
    u: NDArray[Any]  # (colours, d)
    h: NDArray[Any]  # (colours, d)

    @staticmethod
    def new(folder: Path, name: str, rows: int, dimension: int) -> Depth:
        shapes = {"r": (rows,), "e": (rows, dimension), "u": (rows, dimension), "h": (rows, dimension)}
        return Depth(**{k: np.memmap(folder / f"{name}_{k}", np.float32, "w+", shape=s) for k, s in shapes.items()})

    def write(self, rows: slice, z: Level, h: Tensor) -> None:
        for array, value in ((self.r, z.r), (self.e, z.e), (self.u, z.u), (self.h, h)):
            array[rows] = value.numpy()

    def read(self, rows: NDArray[Any]) -> tuple[Level, Tensor]:
        r, e, u, h = (torch.from_numpy(np.asarray(array[rows])) for array in (self.r, self.e, self.u, self.h))
        return Level(r, e, u), h


@torch.no_grad()
def depths(model: WLHN, quotient: Quotient, folder: Path) -> list[Depth]:
    """Points and features of all colours, in files in a folder; the model is in evaluation mode."""
    counts, tau = quotient.hierarchy.num_colours, model.tau
    h = torch.relu(model.encoder(quotient.x))
    out = [Depth.new(folder, "0", *h.shape)]
    out[0].write(slice(0, counts[0]), root_level(model.pointing(0, h, None), tau), h)
    for t, layer in enumerate(model.layers, start=1):
        out.append(Depth.new(folder, str(t), counts[t], h.shape[1]))
        for first in range(0, counts[t], ROWS):
            rows = slice(first, min(first + ROWS, counts[t]))
            level, needed = quotient.one_level(t, np.arange(rows.start, rows.stop))
            h = layer(torch.from_numpy(np.asarray(out[t - 1].h[needed])), level, quotient.edge_x)
            # Neighbours lie anywhere, parents side by side.
            parent = quotient.hierarchy.parents[t][rows]
            above, _ = out[t - 1].read(np.arange(parent[0], parent[-1] + 1))
            parent = parent.astype(np.int64) - parent[0]
            child_ptr = np.searchsorted(parent, np.arange(len(above.r) + 1))
            place = torch.from_numpy(parent), tau, torch.from_numpy(child_ptr)
            out[t].write(rows, next_level(model.pointing(t, h, None), above, *place), h)
    return out


def points(layers: list[Depth], hierarchy: Hierarchy, nodes: NDArray[Any]) -> list[tuple[Tensor, Tensor, Tensor]]:
    """(r, e, h) of these nodes, depth by depth."""
    found = (layer.read(colour[nodes]) for layer, colour in zip(layers, hierarchy.colours, strict=True))
    return [(z.r, z.e, h) for z, h in found]


def rows(model: WLHN, path: list[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
    """What the head sees of nodes, from their `points` (as `WLHN.rows` has it for colours)."""
    *_, (r, e, h) = path
    if model.readout == "all":
        return torch.cat([to_tangent(r, e) for r, e, _ in path], dim=1)
    return torch.cat([to_tangent(r, e), h], dim=1) if model.readout == "both" else to_tangent(r, e)
