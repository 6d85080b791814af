"""A tree as a picture: in the Poincaré disc, its edges geodesics, or level by level from the root down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.errors import InputError
from wlhn.report.style import bare, new_figure, plain, shades, write_figure


def geodesics(start: NDArray[Any], end: NDArray[Any], steps: int = 16) -> NDArray[np.complex128]:
    """Points along the geodesics of the disc between pairs of complex points, (pairs, steps).

    The Möbius map that takes the start to 0 makes the geodesic a straight line; its inverse brings it back.

    >>> geodesics(np.array([0.5]), np.array([0.5j]), steps=3).round(3).tolist()
    [[(0.5+0j), (0.219+0.219j), (-0+0.5j)]]
    """
    a, b = np.asarray(start, complex)[:, None], np.asarray(end, complex)[:, None]
    target = (b - a) / (1 - a.conj() * b)
    # Evenly spaced in hyperbolic length.
    radius = np.abs(target).clip(0, 1 - 1e-15)
    along = np.tanh(np.linspace(0, 1, steps)[None] * np.arctanh(radius)) / np.where(radius > 0, radius, 1)
    z = target * along
    return (z + a) / (1 + a.conj() * z)


def disc(
    points: ArrayLike,
    parent: ArrayLike,
    path: str | Path,
    *,
    group: ArrayLike | None = None,
    names: Sequence[Any] = (),
    title: str = "",
) -> None:
    """A tree in the Poincaré disc: points (n, 2), parents (n,), −1 for the root, and groups as colours with names."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    xy, above = np.asarray(points, float), np.asarray(parent)
    if xy.ndim != 2 or xy.shape[1] != 2 or len(xy) != len(above):
        raise InputError(
            f"disc: points must have shape ({len(above)}, 2), one of the plane for each node, found {xy.shape}"
        )
    z = xy[:, 0] + 1j * xy[:, 1]
    child = np.flatnonzero(above >= 0)
    figure = new_figure(6, 6)
    axes = bare(figure.subplots())
    axes.add_patch(Circle((0, 0), 1, facecolor="none", edgecolor="#999999", linewidth=0.8))
    lines = geodesics(z[above[child]], z[child])
    axes.add_collection(
        LineCollection(list(np.stack([lines.real, lines.imag], -1)), colors="#B0B0B0", linewidths=0.6, zorder=1)
    )
    groups = np.zeros(len(xy), int) if group is None else np.asarray(group)
    size = np.clip(2000 / max(len(xy), 1), 4, 40)
    for k, colour in enumerate(shades(int(groups.max(initial=0)) + 1)):
        here = groups == k
        label = plain(names[k]) if k < len(names) else None
        axes.scatter(xy[here, 0], xy[here, 1], s=size, color=colour, label=label, zorder=2, linewidths=0)
    if len(names):
        axes.legend(frameon=False, loc="upper left", fontsize="small")
    axes.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02), title=plain(title, 80))
    write_figure(figure, path)


def tree(
    parent: ArrayLike,
    path: str | Path,
    *,
    labels: Sequence[Any] = (),
    fill: Sequence[str] | NDArray[Any] | None = None,
    title: str = "",
) -> None:
    """A tree from the root down, level by level: leaves side by side, a parent above the middle of its children.

    `fill` has a colour for each node; else those of one depth share theirs.
    """
    from matplotlib.collections import LineCollection

    above = np.asarray(parent)
    across, depth = tree_layout(above)
    figure = new_figure(max(4.0, min(0.45 * (across.max() + 1) + 1, 16.0)), 1.1 * depth.max() + 1.6)
    axes = figure.subplots()
    axes.set_axis_off()
    child = np.flatnonzero(above >= 0)
    ends = np.stack([np.stack([across, -depth], 1)[above[child]], np.stack([across, -depth], 1)[child]], 1)
    axes.add_collection(LineCollection(list(ends), colors="#B0B0B0", linewidths=0.8, zorder=1))
    colours = np.array(shades(int(depth.max()) + 1))[depth] if fill is None else fill
    axes.scatter(across, -depth, s=45 if len(above) < 200 else 12, c=colours, zorder=2)
    for k, label in enumerate(labels):
        axes.annotate(plain(label, 20), (across[k], -depth[k]), (4, 4), textcoords="offset points", fontsize="small")
    axes.set(xlim=(-0.7, across.max() + 1.2), ylim=(-depth.max() - 0.4, 0.4), title=plain(title, 80))
    write_figure(figure, path)


def tree_layout(parent: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(position across, depth) of each node; nodes come after their parents.

    >>> [a.tolist() for a in tree_layout(np.array([-1, 0, 0, 1, 1]))]
    [[1.25, 0.5, 2.0, 0.0, 1.0], [0, 1, 1, 2, 2]]
    """
    n = len(parent)
    depth = np.zeros(n, np.int64)
    children: list[list[int]] = [[] for _ in range(n)]
    for v in range(1, n):
        depth[v] = depth[parent[v]] + 1
        children[parent[v]].append(v)
    across = np.zeros(n)
    leaves, stack = 0, [0]
    while stack:  # leaves in the order in which a walk around the tree meets them
        v = stack.pop()
        stack += reversed(children[v])
        if not children[v]:
            across[v], leaves = leaves, leaves + 1
    for v in range(n - 1, -1, -1):
        if children[v]:
            across[v] = across[children[v]].mean()
    return across, depth
