"""The paper's constructions in arbitrary precision, inversion by inversion, written from the paper alone."""

from typing import Any

import mpmath
import torch

from wlhn import Tree

Vector = list[mpmath.mpf]


def dot(x: Vector, y: Vector) -> mpmath.mpf:
    return mpmath.fdot(x, y)


def scaled(x: Vector, factor: Any) -> Vector:
    return [factor * a for a in x]


def unit(x: Vector) -> Vector:
    return scaled(x, 1 / mpmath.sqrt(dot(x, x)))


def reflect(center: Vector, x: Vector) -> Vector:
    """The inversion of the ball that swaps the center and 0."""
    a = scaled(center, 1 / dot(center, center))
    gap = [p - q for p, q in zip(x, a, strict=True)]
    factor = (dot(a, a) - 1) / dot(gap, gap)
    return [q + factor * g for q, g in zip(a, gap, strict=True)]


def reflect_through_zero(p: Vector, q: Vector, x: Vector) -> Vector:
    """The reflection at a hyperplane through 0 that swaps the unit vectors p and q."""
    normal = [a - b for a, b in zip(p, q, strict=True)]
    if dot(normal, normal) == 0:
        return x
    factor = 2 * dot(normal, x) / dot(normal, normal)
    return [a - factor * n for a, n in zip(x, normal, strict=True)]


def algorithm_1(tree: Tree, features: torch.Tensor, tau: float | torch.Tensor, w: Vector | None = None) -> list[Vector]:
    """DiffHypCon: the ball points of all tree nodes. The root lies at 0, its children where their features point.

    Beyond the paper, τ may be another number for each node, and w another unit vector.
    """
    h = [[mpmath.mpf(x) for x in row] for row in features.tolist()]
    d = features.shape[1]
    w = w or [-1 / mpmath.sqrt(d)] * d
    lengths = torch.as_tensor(tau, dtype=torch.float64).expand(len(tree)).tolist()
    radius = [mpmath.tanh(mpmath.mpf(length) / 2) for length in lengths]
    z: list[Vector] = [[mpmath.mpf(0)] * d]
    for v in range(1, len(tree)):
        a = int(tree.parent[v])
        if a == 0:
            z.append(scaled(unit(h[v]), radius[v]))
            continue
        u = reflect(z[a], z[int(tree.parent[a])])  # line 3
        direction = reflect_through_zero(w, unit(u), unit(h[v]))  # lines 6 and 8
        z.append(reflect(z[a], scaled(direction, radius[v])))  # lines 10 and 12
    return z


def distance(x: Vector, y: Vector) -> mpmath.mpf:
    gap = [a - b for a, b in zip(x, y, strict=True)]
    return mpmath.acosh(1 + 2 * dot(gap, gap) / ((1 - dot(x, x)) * (1 - dot(y, y))))


def as_tensor(vectors: list[Vector]) -> torch.Tensor:
    return torch.tensor([[float(x) for x in vector] for vector in vectors], dtype=torch.float64)
