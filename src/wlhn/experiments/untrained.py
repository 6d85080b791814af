"""Distances of models that nobody trained, against the WL distance (sections 5.1 and D.1 of the paper).

Methods by name: Sala's combinatorial placement; WLHN with random weights, with the paper's directions and with whitened
ones; and the GIN inside it, with Euclidean distance, with and without BatchNorm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.embeddings import diffhypcon, random_gin, sala
from wlhn.hierarchy import Hierarchy
from wlhn.nn.whitening import Whitening
from wlhn.options.checks import check_choice

METHODS = ("Sala", "WLHN", "WLHN, whitened", "GIN", "GIN without BatchNorm")


def distances(method: str, hierarchy: Hierarchy, dimension: int, tau: float, seed: int) -> NDArray[np.float64]:
    """All distances (tree nodes, tree nodes) of a method; the seed draws weights, where there are any.

    >>> import networkx as nx, wlhn
    >>> hierarchy = wlhn.refine(nx.path_graph(5), 2)
    >>> truth = hierarchy.tree.all_distances()
    >>> [round(correlation(distances(m, hierarchy, 64, 1.0, seed=0), truth), 1) for m in ("Sala", "WLHN")]
    [1.0, 1.0]
    """
    tree = hierarchy.tree
    if method == "Sala":
        return sala(tree, dimension, tau).all_distances().numpy()
    features = random_gin(hierarchy, dimension, seed, normalise=method != "GIN without BatchNorm")
    if method.startswith("GIN"):
        return torch.cdist(features, features, compute_mode="donot_use_mm_for_euclid_dist").numpy()
    if method == "WLHN, whitened":
        features = whitened(hierarchy, features)
    elif method != "WLHN":
        check_choice("method", method, *METHODS)
    return diffhypcon(tree, features, tau).all_distances().numpy()


def whitened(hierarchy: Hierarchy, features: Tensor) -> Tensor:
    """Features of tree nodes as whitened directions, depth by depth, with the statistics of the nodes."""
    out = features.clone()
    for t, (start, count) in enumerate(zip(hierarchy.offsets, hierarchy.num_colours, strict=True)):
        rows = slice(start, start + count)
        out[rows] = Whitening(features.shape[1])(features[rows], torch.from_numpy(hierarchy.count(t)))
    return out


def correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Pearson's, over all ordered pairs, a node with itself included (as the paper counts 2,997² pairs)."""
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])
