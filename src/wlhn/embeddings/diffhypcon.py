"""DiffHypCon: the paper's differentiable construction, children placed by their features."""

from __future__ import annotations

import torch
from torch import Tensor

from wlhn.embeddings.embedding import TreeEmbedding, construct
from wlhn.errors import InputError
from wlhn.hierarchy import Tree
from wlhn.ops.level import directions, unit


def diffhypcon(tree: Tree, features: Tensor, tau: float | Tensor = 1.0) -> TreeEmbedding:
    """Embed a rooted tree (such as `hierarchy.tree`), each node in the direction its features give.

    Args:
        tree: n nodes, parents before their children.
        features: (n, d), a row for each tree node; the root's is not used. Non-negative rows keep every child at more
            than a right angle from its grandparent, as the paper wants it.
        tau: the length of all edges, or (n,) of the edge above each node, for instance
            `edge_lengths(norms(features), …)` of `wlhn.hyperbolic.lengths`; the root's is not used.

    Gradients flow to `features` and `tau`.

    >>> import networkx as nx, wlhn
    >>> tree = wlhn.Tree.from_networkx(nx.path_graph(3))
    >>> diffhypcon(tree, torch.eye(3), tau=1.0).r
    tensor([0.0000, 1.0000, 1.8238])
    >>> diffhypcon(tree, torch.eye(3), tau=torch.tensor([0.0, 1.0, 3.0])).r
    tensor([0.0000, 1.0000, 3.7987])
    """
    if features.ndim != 2 or len(features) != len(tree):
        raise InputError(f"features: expected {len(tree)} rows, one for each tree node, found {tuple(features.shape)}")
    if not torch.isfinite(features).all():
        raise InputError("features: must be finite numbers, found NaN or infinity")

    def place(nodes: slice, u: Tensor | None) -> Tensor:
        return unit(features[nodes]) if u is None else directions(features[nodes], u)

    return construct(tree, tau, place)
