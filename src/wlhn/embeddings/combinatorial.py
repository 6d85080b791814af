"""Sarkar's construction and its generalisation to d dimensions by Sala et al.: children as far apart as can be.

Both put the children of a node, together with its parent, at the points of a spherical code: in the plane equally
spaced on the circle (the paper's Algorithm 3, appendix C), in d dimensions as `spherical_code` has them.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import mpmath
import numpy as np
import torch
from torch import Tensor

from wlhn.embeddings.embedding import TreeEmbedding, checked_length, construct
from wlhn.hierarchy import Tree
from wlhn.options.checks import check_at_least


def sarkar(tree: Tree, tau: float = 1.0) -> TreeEmbedding:
    """Embed a tree in the Poincaré disc by Sarkar's construction.

    >>> import networkx as nx, wlhn
    >>> star = sarkar(wlhn.Tree.from_networkx(nx.star_graph(4)))
    >>> star.points[1:].round(decimals=4).abs().sum(1)
    tensor([0.4621, 0.4621, 0.4621, 0.4621], dtype=torch.float64)
    """
    rank, siblings = _ranks(tree)

    def place(nodes: slice, u: Tensor | None) -> Tensor:
        # With a parent in slot 0, child i of k sits at 2πi/(k + 1) from it; the root's k children divide the circle.
        i, k = rank[nodes] + (u is not None), siblings[nodes] + (u is not None)
        turn = torch.polar(torch.ones(len(i), dtype=torch.float64), torch.from_numpy(2 * math.pi * i / k))
        start = torch.ones_like(turn) if u is None else torch.view_as_complex(u.contiguous())
        return torch.view_as_real(start * turn)

    return construct(tree, tau, place)


def sarkar_points(tree: Tree, tau: float = 1.0, digits: int | None = None) -> list[Any]:
    """Sarkar's disc points as mpmath complex numbers, with as many digits as the longest path needs, or as given.

    The construction as the paper writes it, inversion by inversion, for use where float64 would put deep points on
    the boundary. (In line 5 of the paper's Algorithm 3 the radius is inverted; its text has (e^τ − 1)/(e^τ + 1).)

    >>> import networkx as nx, wlhn
    >>> path = sarkar_points(wlhn.Tree.from_networkx(nx.path_graph(101)), tau=1.0)
    >>> with mpmath.workdps(100):
    ...     print(mpmath.nstr(1 - abs(path[100]), 5))
    7.4402e-44
    """
    checked_length(tau)
    if digits is None:
        digits = 15 + math.ceil(2 * tau * int(tree.depth[-1]) / math.log(10))
    rank, siblings = _ranks(tree)

    def reflect(center: Any, z: Any) -> Any:
        """The inversion of the disc that swaps the center and 0."""
        if center == 0:
            return z
        a = 1 / mpmath.conj(center)
        return a + (abs(a) ** 2 - 1) / mpmath.conj(z - a)

    with mpmath.workdps(digits):
        radius = mpmath.tanh(mpmath.mpf(tau) / 2)
        f = [mpmath.mpc(0)]
        for v in range(1, len(tree)):
            a = int(tree.parent[v])
            i, k = int(rank[v]) + (a != 0), int(siblings[v]) + (a != 0)
            theta = mpmath.arg(reflect(f[a], f[int(tree.parent[a])])) if a else mpmath.mpf(0)
            f.append(reflect(f[a], radius * mpmath.expjpi(2 * mpmath.mpf(i) / k + theta / mpmath.pi)))
    return f


def sala(tree: Tree, dimension: int = 128, tau: float = 1.0) -> TreeEmbedding:
    """Embed a tree in d dimensions, the children of each node at the points of a spherical code (Sala et al., 2018).

    >>> import networkx as nx, wlhn
    >>> wlhn.quality(sala(wlhn.Tree.from_networkx(nx.star_graph(100)), dimension=128, tau=5.0)).worst_distortion < 1.08
    True
    """
    check_at_least("dimension", dimension, 2)
    rank, siblings = _ranks(tree)

    def place(nodes: slice, u: Tensor | None) -> Tensor:
        i, k = rank[nodes] + (u is not None), siblings[nodes] + (u is not None)
        codes = {int(size): spherical_code(int(size), dimension) for size in np.unique(k)}
        point = torch.stack([codes[size][slot] for size, slot in zip(k.tolist(), i.tolist(), strict=True)])
        if u is None:
            return point
        # Turn the code's point 0, p, to the parent: p → −p → u. One reflection p → u would do, but frames are mirrored
        # from depth to depth: paths would always turn to the same side and, for small τ, walk in circles.
        p = torch.stack([codes[size][0] for size in k.tolist()])
        return _mirrored(_mirrored(point, p), p + u)

    return construct(tree, tau, place)


def _mirrored(x: Tensor, normal: Tensor) -> Tensor:
    """The mirror image of x at the hyperplane with this normal; x itself where the normal vanishes."""
    square = (normal * normal).sum(-1, keepdim=True)
    return x - torch.where(square > 1e-24, 2 * (normal * x).sum(-1, True) / square.clamp_min(1e-24), 0.0) * normal


@cache
def spherical_code(size: int, dimension: int) -> Tensor:
    """`size` unit vectors of this dimension, as far apart as it allows.

    Equally spaced on the circle; a regular simplex up to d + 1 points; a cross-polytope, all at right angles or
    opposite, up to 2d: each the best there is. For more, random points pushed apart from a fixed seed.

    >>> code = spherical_code(4, 3)
    >>> (code @ code.T)[0, 1:]
    tensor([-0.3333, -0.3333, -0.3333], dtype=torch.float64)
    """
    if dimension == 2:
        angle = torch.arange(size, dtype=torch.float64) * (2 * math.pi / size)
        return torch.stack([angle.cos(), angle.sin()], dim=1)
    if size <= dimension + 1:
        centred = torch.eye(size, dtype=torch.float64) - 1 / size
        basis = torch.linalg.svd(centred)[2][: max(size - 1, 1)]  # the simplex, in coordinates of its own hyperplane
        code = torch.zeros(size, dimension, dtype=torch.float64)
        code[:, : len(basis)] = centred @ basis.T if size > 1 else 1.0
        return code / code.norm(dim=1, keepdim=True)
    if size <= 2 * dimension:
        axes = torch.eye(dimension, dtype=torch.float64)
        return torch.stack([axes, -axes], dim=1).reshape(-1, dimension)[:size].clone()
    return _pushed_apart(size, dimension)


def _pushed_apart(size: int, dimension: int, rounds: int = 60) -> Tensor:
    code = torch.randn(size, dimension, generator=torch.Generator().manual_seed(size), dtype=torch.float64)
    code /= code.norm(dim=1, keepdim=True)
    for i in range(rounds):
        cosine = code @ code.T
        cosine.fill_diagonal_(-1)
        sharpness = 20 * 1.1**i  # towards the largest cosine alone
        force = torch.softmax(sharpness * cosine, dim=1) @ code
        code = code - 0.3 * (1 - i / rounds) * force
        code /= code.norm(dim=1, keepdim=True)
    return code


def _ranks(tree: Tree) -> tuple[Any, Any]:
    """(position of each node among its siblings, how many they are); parents' children need not lie side by side."""
    parent = np.maximum(tree.parent, 0)
    order = np.argsort(tree.parent, kind="stable")
    sorted_parent = tree.parent[order]
    first = np.searchsorted(sorted_parent, sorted_parent)
    rank = np.empty(len(tree), np.int64)
    rank[order] = np.arange(len(tree)) - first
    return rank, tree.num_children[parent]
