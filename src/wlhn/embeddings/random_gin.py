"""Features of colours from a GIN with random weights: what DiffHypCon starts from before anything is learned.

A message passing network gives all nodes of one colour the same features, so one row is computed for each colour
(the paper's appendix D compares the distances of such an untrained model with those of the tree).
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from wlhn.hierarchy import Hierarchy
from wlhn.hierarchy.hierarchy import Signature

MESSAGES = 500_000  # at a time


def random_gin(
    hierarchy: Hierarchy,
    dimension: int = 128,
    seed: int = 0,
    normalise: bool = True,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Features (tree nodes, dimension), non-negative, in the order of `hierarchy.tree`.

    One linear layer with ReLU on what depth 0 stands for (1, the degree, the label one-hot, or the feature row), then
    for each depth h ← MLP(h_parent + Σ h_neighbours), MLP being Linear-ReLU-BatchNorm-Linear-ReLU with the statistics
    of the nodes, or without BatchNorm (`normalise`). With edge labels or directions a message is relu(h + a random
    vector for the label and direction).

    >>> import networkx as nx, wlhn
    >>> hierarchy = wlhn.refine(nx.path_graph(5), rounds=2)
    >>> random_gin(hierarchy, dimension=4).shape, len(hierarchy.tree)
    (torch.Size([6, 4]), 6)
    """
    draw = torch.Generator().manual_seed(seed)
    h = torch.relu(_linear(_first_features(hierarchy).to(dtype), dimension, draw))
    rows = [h]
    for t in range(1, hierarchy.depth + 1):
        label = None
        if hierarchy.num_edge_codes:
            label = torch.randn(hierarchy.num_edge_codes, dimension, generator=draw, dtype=torch.float64).to(dtype)
        total = h[torch.from_numpy(hierarchy.parents[t].astype(np.int64))]
        _add_messages(total, h, label, hierarchy.signature(t))
        inner = torch.relu(_linear(total, dimension, draw))
        del total
        if normalise:
            inner = _normalised(inner, torch.from_numpy(hierarchy.count(t)))
        h = torch.relu(_linear(inner, dimension, draw))
        rows.append(h)
    root = torch.zeros(hierarchy.offsets[0], dimension, dtype=dtype)  # none, where a colour is the root
    return torch.cat([root, *rows])


def _add_messages(total: Tensor, h: Tensor, label: Tensor | None, signature: Signature) -> None:
    """Add to each row the features of its neighbours; so many messages at a time, there are more of them than rows."""
    ptr = signature.ptr
    first = 0
    while first < len(total):
        last = max(int(np.searchsorted(ptr, ptr[first] + MESSAGES, side="right")) - 1, first + 1)
        here = slice(int(ptr[first]), int(ptr[last]))
        colour, edge, times = (torch.from_numpy(part[here].astype(np.int64)) for part in signature[1:])
        message = h[colour] if label is None else torch.relu(h[colour] + label[edge])
        row = torch.repeat_interleave(torch.from_numpy(np.diff(ptr[first : last + 1])))
        total[first:last].index_add_(0, row, message * times[:, None])
        first = last


def _linear(x: Tensor, width: int, draw: torch.Generator) -> Tensor:
    """A linear layer as torch initialises it."""
    bound = 1 / math.sqrt(max(x.shape[1], 1))
    weight, bias = (torch.rand(width, n, generator=draw, dtype=torch.float64).to(x.dtype) for n in (x.shape[1], 1))
    return x @ (bound * (2 * weight - 1)).T + bound * (2 * bias[:, 0] - 1)


def _normalised(x: Tensor, times: Tensor) -> Tensor:
    share = (times / times.sum())[:, None].to(x.dtype)
    mean = (share * x).sum(0)
    variance = (share * (x - mean) ** 2).sum(0)
    return (x - mean) / torch.sqrt(variance + 1e-5)


def _first_features(hierarchy: Hierarchy) -> Tensor:
    values = hierarchy.initial_values
    if hierarchy.start == "uniform":
        return torch.ones(len(values), 1, dtype=torch.float64)
    if hierarchy.start == "degree" or values.ndim == 2:
        return torch.from_numpy(values.astype(np.float64)).reshape(len(values), -1)
    return torch.eye(len(values), dtype=torch.float64)
