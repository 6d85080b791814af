"""How well an embedding keeps the tree's distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wlhn.embeddings.embedding import TreeEmbedding

ALL_PAIRS = 5000  # up to this many nodes all pairs are looked at, beyond it a sample of a million
SAMPLE = 1_000_000


@dataclass(frozen=True)
class Quality:
    """Distances of the embedding, in units of τ (of the mean length, where edges differ), against those of the tree.

    average_distortion is the mean of |d/τ − d_T|/d_T, worst_distortion is max(d/d_T)/min(d/d_T), correlation is
    Pearson's over all ordered pairs, a node with itself included (as the paper counts 2,997² pairs); mean average
    precision (Sala et al.) ranks each node's neighbours in the tree, and is left out for large trees.
    """

    average_distortion: float
    worst_distortion: float | None  # None where two nodes fall together: it has no bound
    correlation: float
    mean_average_precision: float | None
    pairs: int


def quality(embedding: TreeEmbedding, seed: int = 0) -> Quality:
    """Distortion, correlation and mean average precision of an embedded tree.

    >>> import networkx as nx, wlhn
    >>> path = quality(wlhn.sarkar(wlhn.Tree.from_networkx(nx.path_graph(50))))
    >>> round(path.worst_distortion, 9), path.mean_average_precision
    (1.0, 1.0)
    """
    tree, n = embedding.tree, len(embedding.tree)
    if n <= ALL_PAIRS:
        distance, truth = embedding.all_distances().numpy(), tree.all_distances()
        precision: float | None = mean_average_precision(distance, truth)
        return _measure(distance.ravel(), truth.ravel(), embedding.mean_length, precision)
    a, b = np.random.default_rng(seed).integers(0, n, (2, SAMPLE))
    distance = torch.cat(
        [embedding.distance(x, y) for x, y in zip(np.array_split(a, 100), np.array_split(b, 100), strict=True)]
    ).numpy()
    return _measure(distance, tree.distance(a, b), embedding.mean_length, None)


def _measure(distance: NDArray[Any], truth: NDArray[Any], tau: float, precision: float | None) -> Quality:
    apart = truth > 0
    ratio = distance[apart] / truth[apart]
    return Quality(
        average_distortion=float(np.abs(ratio / tau - 1).mean()),
        worst_distortion=float(ratio.max() / ratio.min()) if ratio.min() > 0 else None,
        correlation=float(np.corrcoef(distance, truth)[0, 1]),
        mean_average_precision=precision,
        pairs=len(truth),
    )


def mean_average_precision(distance: NDArray[Any], truth: NDArray[Any]) -> float:
    """For each node and each of its neighbours in the tree: of all nodes as close as that neighbour, how many are
    neighbours? The mean of the shares. 1 means that neighbours come first, everywhere.
    """
    total = 0.0
    for row, steps in zip(distance, truth, strict=True):
        others = np.sort(row[steps > 0])
        near = np.sort(row[steps == 1])
        # Distances that differ by rounding alone are ties.
        reach = near + 1e-9 * (1 + near)
        within = np.searchsorted(others, reach, side="right")
        total += float((np.searchsorted(near, reach, side="right") / within).mean())
    return total / len(distance)
