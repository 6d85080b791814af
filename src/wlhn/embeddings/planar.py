"""A tree in the Poincaré disc, to be looked at: every branch has a slice of the circle, as wide as what lies below it.

Constructions with edges of one length (Sarkar's) leave a branch no more of the circle than a point at that distance can
hide, however much hangs on it. Here a node has a slice, its children share it, and it lies where its slice begins to be
filled: on the axis of the slice, at the distance r at which the half-plane behind it is seen at just that angle,
tan(angle / 4) = exp(−r) (Lobachevsky). So slices never cross, and edges have different lengths, within bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from wlhn.hierarchy import Tree
from wlhn.hyperbolic.polar import half_angle_distance, to_ball

POWER = 0.6  # slices are as wide as the leaves below to this power: large branches get more, small ones can be seen
EQUAL = 0.25  # the part of a slice that children share evenly, so that none starves beside a large one
SHORTEST, LONGEST = 0.75, 2.2  # edges
FARTHEST = 18.0  # from the root: beyond it points could not be told from the circle


@dataclass(frozen=True, eq=False)
class PlanarTree:
    """The nodes of a tree in the disc, in polar form around the root."""

    tree: Tree
    r: NDArray[Any]  # (n,) hyperbolic distance from the root
    angle: NDArray[Any]  # (n,)
    width: NDArray[Any]  # (n,) of the slice around the angle in which a node's branch lies

    @property
    def points(self) -> Tensor:
        """In the Poincaré disc, (n, 2)."""
        e = np.stack([np.cos(self.angle), np.sin(self.angle)], axis=1)
        return to_ball(torch.from_numpy(self.r), torch.from_numpy(e))

    def distance(self, a: NDArray[Any], b: NDArray[Any]) -> Tensor:
        """Hyperbolic distances of pairs of tree nodes."""
        sin_half = np.abs(np.sin((self.angle[a] - self.angle[b]) / 2))
        return half_angle_distance(*(torch.from_numpy(x) for x in (self.r[a], self.r[b], sin_half)))


def planar(tree: Tree, order: ArrayLike | None = None) -> PlanarTree:
    """Lay out a tree in the disc, siblings in the order of `order` (n,), or as they are numbered.

    >>> import networkx as nx, wlhn
    >>> star = planar(wlhn.Tree.from_networkx(nx.star_graph(4)))
    >>> (star.angle[1:] / np.pi).round(9).tolist(), star.points.norm(dim=1)
    ([0.25, 0.75, 1.25, 1.75], tensor([0.0000, 0.4142, 0.4142, 0.4142, 0.4142], dtype=torch.float64))
    """
    n = len(tree)
    leaves = (tree.num_children == 0).astype(float)
    for level in tree.levels[:0:-1]:
        np.add.at(leaves, tree.parent[level], leaves[level])
    weight, parent = leaves**POWER, np.maximum(tree.parent, 0)
    total = np.zeros(n)
    np.add.at(total, tree.parent[1:], weight[1:])
    share = EQUAL / np.maximum(tree.num_children, 1)[parent] + (1 - EQUAL) * weight / np.maximum(total[parent], 1e-300)
    # Where a node's share of its parent's slice begins: what its elder siblings have.
    around = np.lexsort((np.arange(n) if order is None else np.asarray(order), tree.parent))
    before = np.concatenate([[0], np.cumsum(share[around])[:-1]])
    first = np.searchsorted(tree.parent[around], tree.parent[around])
    begin = np.empty(n)
    begin[around] = before - before[first]

    r, start, width = np.zeros(n), np.zeros(n), np.full(n, 2 * math.pi)
    longest = min(LONGEST, FARTHEST / max(int(tree.depth[-1]), 1))
    for level in tree.levels[1:]:
        above = tree.parent[level]
        start[level] = start[above] + width[above] * begin[level]
        width[level] = width[above] * share[level]
        fills = -np.log(np.tan(np.minimum(width[level], 3.0) / 4))
        r[level] = np.clip(fills, r[above] + min(SHORTEST, longest), r[above] + longest)
    return PlanarTree(tree, r, start + width / 2, width)
