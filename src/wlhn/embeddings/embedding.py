"""An embedded tree, and distances in it that stay accurate at any depth.

Every construction places a child at distance τ from its parent, in a direction y of the parent's frame; it differs from
the others only in the choice of y (and, for DiffHypCon, of τ, which may be another for each node).

Two deep nodes with a long path in common lie in nearly the same direction from the root, so their distance is not
computed from there but in the frame of their lowest common ancestor. Points move from the frame of a node c to that of
its parent by an orthogonal reflection, the one in the plane of e and y that swaps u and y, and a `step` from (τ, y):
neither depends on how far from the root this happens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from wlhn.errors import InputError
from wlhn.hierarchy import Tree
from wlhn.hyperbolic.polar import half_angle_distance, polar_distance, step, to_ball, to_tangent

ROWS_AT_ONCE = 512
BLOCK = 65_536  # rows of a level placed at a time


@dataclass(frozen=True, eq=False)
class TreeEmbedding:
    """The nodes of a tree in hyperbolic space, in polar form around the root, which lies at the origin."""

    tree: Tree
    tau: float | Tensor  # the length of all edges, or (n,) of the edge above each node; the root's means nothing
    r: Tensor  # (n,) distance from the root
    e: Tensor  # (n, d) direction from the root
    u: Tensor  # (n, d) direction of the parent, in the node's frame
    y: Tensor  # (n, d) direction of the node, in its parent's frame

    @property
    def points(self) -> Tensor:
        """In the Poincaré ball, (n, d). Deep points round to the sphere; `r` and `e` don't."""
        return to_ball(self.r, self.e)

    @property
    def tangent(self) -> Tensor:
        """log_0 of the points, (n, d), r/2 long."""
        return to_tangent(self.r, self.e)

    @property
    def lengths(self) -> Tensor:
        """The length of the edge above each node, (n,), without gradient."""
        return torch.as_tensor(self.tau, dtype=torch.float64).detach().expand(len(self.tree))

    @property
    def mean_length(self) -> float:
        """τ, or the mean of the lengths where they differ."""
        return float(self.lengths[1:].mean() if torch.as_tensor(self.tau).ndim else self.lengths[0])

    def distance(self, a: ArrayLike, b: ArrayLike) -> Tensor:
        """Hyperbolic distances of pairs of tree nodes.

        >>> import networkx as nx, wlhn
        >>> path = wlhn.sarkar(wlhn.Tree.from_networkx(nx.path_graph(2000)), tau=1.0)
        >>> round(float(path.distance(1990, 1999)), 9)
        9.0
        """
        a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
        lca = self.tree.lca(a, b)
        return polar_distance(
            *self._seen_from(lca.ravel(), a.ravel()), *self._seen_from(lca.ravel(), b.ravel())
        ).reshape(a.shape)

    def all_distances(self) -> Tensor:
        """All pairs at once, (n, n): every block of pairs in the frame of its common ancestor."""
        tree, n = self.tree, len(self.tree)
        out = torch.zeros(n, n, dtype=torch.float64)
        member: Any = np.empty(0, np.int64)  # nodes below the current level, seen from …
        child: Any = member  # … their ancestors on it
        rho, f = torch.empty(0, dtype=torch.float64), torch.empty(0, self.e.shape[1], dtype=torch.float64)
        for level in tree.levels[:0:-1]:
            here = np.arange(level.start, level.stop)
            rho, f = self._lift(rho, f, child)
            rho = torch.cat([rho, self.lengths[here]])
            f = torch.cat([f, self.y[here].detach().double()])
            member, child = np.concatenate([member, here]), np.concatenate([child, here])
            order = np.argsort(tree.parent[child], kind="stable")
            bounds = np.flatnonzero(np.diff(tree.parent[child][order], prepend=-2, append=-2))
            for start, stop in pairwise(bounds):
                block = order[start:stop]
                above = int(tree.parent[child[block[0]]])
                out[above, member[block]] = out[member[block], above] = rho[block]
                self._fill(out, member[block], child[block], rho[block], f[block])
            child = tree.parent[child]
        return out

    @staticmethod
    def _fill(out: Tensor, member: Any, child: Any, rho: Tensor, f: Tensor) -> None:
        """Distances between members under different children of one node."""
        if (child == child[0]).all():
            return
        branch = torch.from_numpy(child)
        columns = torch.from_numpy(member)
        for rows in torch.arange(len(member)).split(ROWS_AT_ONCE):
            sin_half = torch.cdist(f[rows], f, compute_mode="donot_use_mm_for_euclid_dist") / 2
            value = half_angle_distance(rho[rows, None], rho[None], sin_half)
            apart = branch[rows, None] != branch[None]
            i, j = torch.nonzero(apart, as_tuple=True)
            out[columns[rows[i]], columns[j]] = value[i, j]

    def _seen_from(self, ancestor: Any, node: Any) -> tuple[Tensor, Tensor]:
        """Polar coordinates of nodes in the frames of their ancestors."""
        tree = self.tree
        rho = torch.where(torch.from_numpy(node == ancestor), 0.0, self.lengths[node])
        f = self.y[node].detach().double()
        now = np.where(node == ancestor, node, np.maximum(tree.parent[node], 0))
        while (below := np.flatnonzero(now != ancestor)).size:
            rho[below], f[below] = self._lift(rho[below], f[below], now[below])
            now[below] = tree.parent[now[below]]
        return rho, f

    def _lift(self, rho: Tensor, f: Tensor, child: Any) -> tuple[Tensor, Tensor]:
        """Points (ρ, f) in the frames of `child`, moved to the frames of its parents."""
        if not len(child):
            return rho, f
        y, u = self.y[child].double().detach(), self.u[child].double().detach()
        e = self.e[self.tree.parent[child]].double().detach()
        s = u + y
        middle = s / s.norm(dim=-1, keepdim=True).clamp_min(1e-300)
        # The mirror's normal: u − y, or, where that vanishes, what of e is orthogonal to both.
        normal = torch.where(((u - y) * (u - y)).sum(-1, True) > 1, u - y, e - (e * middle).sum(-1, True) * middle)
        normal = normal / normal.norm(dim=-1, keepdim=True).clamp_min(1e-300)
        at_root = torch.from_numpy(self.tree.parent[child] == 0)[:, None]
        # A child of the root sees the root in direction y itself: its frame needs no turning.
        f = torch.where(at_root, f, f - 2 * (f * normal).sum(-1, True) * normal)
        r, e, _ = step(self.lengths[child], y, f, rho)
        return r, e


def checked_length(tau: float | Tensor) -> float:
    """τ as a number, if it is a positive, finite one."""
    length = float(torch.as_tensor(tau).detach())
    if not 0 < length < np.inf:
        raise InputError(f"tau: expected a positive length, found {length:g}")
    return length


def _check_lengths(tau: float | Tensor, num_nodes: int) -> None:
    lengths = torch.as_tensor(tau).detach()
    if not lengths.ndim:
        checked_length(lengths)
        return
    if lengths.shape != (num_nodes,):
        raise InputError(
            f"tau: expected one length, or {num_nodes}, one for each tree node, found shape {tuple(lengths.shape)}"
        )
    wrong = ~((lengths[1:] >= 0) & lengths[1:].isfinite())
    if wrong.any():
        node = 1 + int(wrong.int().argmax())
        raise InputError(f"tau, node {node}: expected a length of 0 or more, found {lengths[node]:g}")


def construct(
    tree: Tree,
    tau: float | Tensor,
    place: Callable[[slice, Tensor | None], Tensor],
) -> TreeEmbedding:
    """Embed a tree level by level: `place(nodes, u)` gives the unit directions y of these nodes in their parents'
    frames, u being the directions of the parents' own parents there (None below the root, which has none).
    """
    if len(tree) == 1:
        raise InputError("tree: it is a root alone; give one with more nodes")
    _check_lengths(tau, len(tree))
    y = place(tree.levels[1], None)
    length = torch.as_tensor(tau, dtype=y.dtype, device=y.device).expand(len(tree))
    nothing = torch.zeros_like(y[:1])
    r, e, u = length[tree.levels[1]], y, y
    columns = [[nothing[:, 0], r], [nothing, e], [nothing, u], [nothing, y]]
    for above, level in zip(tree.levels[1:], tree.levels[2:], strict=False):
        parts = []
        for first in range(level.start, level.stop, BLOCK):  # what a step needs in between is as large as what it gives
            nodes = slice(first, min(first + BLOCK, level.stop))
            parent = torch.from_numpy(tree.parent[nodes] - above.start)
            y = place(nodes, u[parent])
            parts.append((*step(r[parent], e[parent], y, length[nodes]), y))
        r, e, u, y = (torch.cat(blocks) for blocks in zip(*parts, strict=True))
        for column, value in zip(columns, (r, e, u, y), strict=True):
            column.append(value)
    del r, e, u, y
    whole = []
    for column in columns:
        whole.append(torch.cat(column))
        column.clear()  # only one of the four is in memory twice at a time
    return TreeEmbedding(tree, tau, *whole)
