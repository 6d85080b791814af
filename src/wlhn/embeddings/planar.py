"""A tree in the Poincaré disc, to be looked at: Sarkar's construction with slices as wide as what lies below.

Sarkar gives all children of a node equal angles. For a picture a child with a large subtree gets more room than a leaf,
and siblings may stand in an order of one's own, so that similar ones are neighbours.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from wlhn.embeddings.embedding import TreeEmbedding, construct
from wlhn.hierarchy import Tree

TOWARDS_PARENT = 0.4  # the share of the circle that stays free around the edge to the parent, so that none turns back


def planar(tree: Tree, tau: float | None = None, order: ArrayLike | None = None) -> TreeEmbedding:
    """Embed a tree in the disc, the children of a node in slices by the cube root of their leaves.

    Siblings stand in the order of `order` (n,), or as they are numbered. τ is by default as long as the largest family
    needs to be told apart.

    >>> import networkx as nx, wlhn
    >>> planar(wlhn.Tree.from_networkx(nx.star_graph(4)), tau=1.0).points.norm(dim=1)
    tensor([0.0000, 0.4621, 0.4621, 0.4621, 0.4621], dtype=torch.float64)
    """
    n = len(tree)
    leaves = (tree.num_children == 0).astype(float)
    for level in tree.levels[:0:-1]:
        np.add.at(leaves, tree.parent[level], leaves[level])
    weight = np.cbrt(leaves)
    rank = np.arange(n) if order is None else np.asarray(order)
    around = np.lexsort((rank, tree.parent))  # the root first, then families side by side
    before = np.concatenate([[0], np.cumsum(weight[around])[:-1]])
    first = np.searchsorted(tree.parent[around], tree.parent[around])
    middle = np.empty(n)
    middle[around] = before - before[first] + weight[around] / 2
    total = np.zeros(n)
    np.add.at(total, tree.parent[1:], weight[1:])
    share = middle / np.maximum(total[np.maximum(tree.parent, 0)], 1e-300)

    def place(nodes: slice, u: Tensor | None) -> Tensor:
        free = 0.0 if u is None else TOWARDS_PARENT
        turn = torch.from_numpy(2 * math.pi * (free / 2 + (1 - free) * share[nodes]))
        start = torch.zeros(len(turn), dtype=torch.float64) if u is None else torch.atan2(u[:, 1], u[:, 0])
        return torch.stack([torch.cos(start + turn), torch.sin(start + turn)], dim=1)

    return construct(tree, default_length(tree) if tau is None else tau, place)


def default_length(tree: Tree) -> float:
    """A length of edges that suits the largest family: 1.6 for a few children, some 3 for hundreds."""
    return float(np.clip(0.55 * math.log(1 + tree.num_children.max()), 1.6, 3.0))
