"""Matrices as pictures: distances, and which class was taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wlhn.errors import InputError
from wlhn.report.style import new_figure, plain, write_figure


def distance_heatmap(
    distance: ArrayLike,
    path: str | Path,
    *,
    group: ArrayLike | None = None,
    names: Sequence[Any] = (),
    title: str = "",
    unit: str = "distance",
) -> None:
    """Distances of all pairs as shades, dark where they are near; with groups, members stand together, lines between.

    `names` of the groups 0, 1, … stand beside them.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "heat.png"
    >>> distance_heatmap([[0, 2], [2, 0]], path)
    >>> path.stat().st_size > 1000
    True
    """
    d = np.asarray(distance, float)
    if d.ndim != 2 or d.shape[0] != d.shape[1]:
        raise InputError(f"distances: expected a square, found shape {d.shape}")
    figure = new_figure(6, 5)
    figure.set_layout_engine("compressed")  # the constrained one cuts the names off beside a square
    axes = figure.subplots()
    middles: list[float] = []
    shown: list[str] = []
    if group is not None:
        order = np.argsort(np.asarray(group), kind="stable")
        d = d[np.ix_(order, order)]
        bounds = np.flatnonzero(np.diff(np.asarray(group)[order])) + 0.5
        for bound in bounds:
            axes.axhline(bound, color="white", linewidth=0.6)
            axes.axvline(bound, color="white", linewidth=0.6)
        ends = np.array([-0.5, *bounds, len(d) - 0.5])
        middles = ((ends[1:] + ends[:-1]) / 2).tolist()
        shown = [plain(names[g], 16) if g < len(names) else "" for g in np.unique(np.asarray(group)).tolist()]
    image = axes.imshow(d, cmap="cividis", interpolation="nearest")
    figure.colorbar(image, ax=axes, label=plain(unit))
    axes.set(title=plain(title, 80), xticks=[], yticks=middles, yticklabels=shown)
    axes.tick_params(length=0)
    write_figure(figure, path)


def confusion_matrix(counts: ArrayLike, classes: Sequence[Any], path: str | Path, *, title: str = "") -> None:
    """Which class was taken for which: counts (true, predicted), shaded by their share of the true class.

    `sklearn.metrics.confusion_matrix` counts, and so do `wlhn.training.scores`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "confusion.svg"
    >>> confusion_matrix([[1, 1], [0, 1]], ["no", "yes"], path)
    >>> "<svg" in path.read_text()
    True
    """
    counts = np.asarray(counts, int)
    if counts.shape != (len(classes), len(classes)):
        raise InputError(f"counts: expected {len(classes)} rows and columns, one a class, found shape {counts.shape}")
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    side = max(3.2, 0.5 * len(classes) + 2)
    figure = new_figure(side + 0.8, side)
    axes = figure.subplots()
    image = axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for (i, j), count in np.ndenumerate(counts):
        axes.text(j, i, f"{count:,}", ha="center", va="center", color="white" if share[i, j] > 0.5 else "black")
    names = [plain(name, 16) for name in classes]
    ticks = range(len(classes))
    axes.set(xticks=ticks, yticks=ticks, xlabel="predicted", ylabel="true", title=plain(title, 80))
    axes.set_xticklabels(names, rotation=45 if max(map(len, names)) > 4 else 0)
    axes.set_yticklabels(names)
    figure.colorbar(image, ax=axes, label="share of the true class", shrink=0.8)
    write_figure(figure, path)
