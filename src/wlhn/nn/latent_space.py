"""Where the nodes of a graph lie in the plane, so that hops become distances: Geom-GCN's latent spaces.

`isomap` is classical multidimensional scaling of hop distances; `poincare` its hyperbolic counterpart in closed form
(Keller-Ressel & Nargang, "Hydra: a method for strain-minimizing hyperbolic embedding", 2020): with C = cosh(D), the
leading eigenvector gives the distance from the centre, those of the two least eigenvalues the direction.

Coordinates do not depend on the numbering of nodes as long as eigenvalues differ and no axis is symmetric: an axis
points where its cubes have a positive sum. Nodes that are alike in the graph can still lie apart, as in every latent
space. Places and distances are rounded, so that siblings share their place.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import eigsh

from wlhn.nn.per_graph import both_ways

LatentSpace = Literal["isomap", "poincare"]
DENSE = 1000  # up to so many nodes all eigenvectors are cheap


def hop_distances(num_nodes: int, edges: NDArray[Any]) -> NDArray[np.float64]:
    """Hops between all nodes, edges taken both ways; without a path, one more than the longest.

    >>> hop_distances(4, np.array([[0, 1], [1, 2]])).tolist()[0]
    [0.0, 1.0, 2.0, 3.0]
    """
    source, target = both_ways(edges)
    adjacency = csr_array((np.ones(len(source)), (source, target)), shape=(num_nodes, num_nodes))
    hops = shortest_path(adjacency, method="D", unweighted=True)
    reached = np.isfinite(hops)
    return np.where(reached, hops, hops[reached].max(initial=0) + 1)


def place_nodes(hops: NDArray[Any], space: LatentSpace) -> NDArray[np.float64]:
    """Places (nodes, 2) in the plane or, for `poincare`, in the unit disc.

    >>> path = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    >>> np.abs(place_nodes(path, "isomap")[:, 0]).round(6).tolist()
    [1.0, 0.0, 1.0]
    """
    if len(hops) < 3:  # no plane to lie in: on a line
        return np.stack([hops[0] / 2, np.zeros(len(hops))], axis=1) if len(hops) else np.empty((0, 2))
    if space == "isomap":
        square = hops.astype(np.float64) ** 2
        centred = -(square - square.mean(0) - square.mean(1)[:, None] + square.mean()) / 2
        values, vectors = _extreme(centred, largest=2)
        return _settled(vectors * np.sqrt(np.maximum(values, 0)))
    curved = np.cosh(hops.astype(np.float64))
    value, vector = _extreme(curved, largest=1)
    time = np.sqrt(value) * np.abs(vector[:, 0])
    time = time / min(time.min(), 1.0)  # cosh of the distance from the centre
    values, vectors = _extreme(-curved, largest=2)
    direction = _settled(vectors * np.sqrt(np.maximum(values, 0)))
    length = np.linalg.norm(direction, axis=1, keepdims=True)
    radius = np.sqrt((time - 1) / (time + 1))[:, None]
    return _rounded(radius * direction / np.where(length > 0, length, 1))


def latent_distance(places: NDArray[Any], space: LatentSpace) -> NDArray[np.float32]:
    """Between all places, Euclidean or hyperbolic.

    >>> latent_distance(np.array([[0.0, 0.0], [0.0, np.tanh(0.5)]]), "poincare")[0]
    array([0., 1.], dtype=float32)
    """
    distance = np.sqrt(sum(np.square(np.subtract.outer(axis, axis)) for axis in places.T))
    if space == "poincare":
        gap = np.sqrt(np.maximum(1 - np.square(places).sum(axis=1), np.finfo(float).eps))
        distance = 2 * np.arcsinh(distance / np.multiply.outer(gap, gap))
    return _rounded(distance, 1e-6).astype(np.float32)


def _extreme(matrix: NDArray[Any], largest: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest eigenvalues of a symmetric matrix, falling, and their vectors in columns."""
    if len(matrix) <= DENSE:
        values, vectors = np.linalg.eigh(matrix)
    else:
        start = matrix.sum(axis=1) + matrix[0, 0] + np.square(matrix).sum(axis=1)  # the same in any numbering
        values, vectors = eigsh(matrix, k=largest, which="LA", v0=start)
    order = np.argsort(values)[::-1][:largest]
    return values[order], vectors[:, order]


def _settled(axes: NDArray[Any]) -> NDArray[np.float64]:
    """Axes with their signs chosen."""
    return _rounded(axes * np.where((axes**3).sum(axis=0) < 0, -1.0, 1.0))


def _rounded(values: NDArray[Any], share: float = 1e-9) -> NDArray[np.float64]:
    """Rounded to a share of the largest: what is equal but for rounding errors becomes equal."""
    unit = share * float(np.abs(values).max(initial=0)) or 1.0
    return np.round(values / unit) * unit
