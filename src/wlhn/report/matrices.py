"""Distances of all pairs as a picture."""

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
    """
    d = np.asarray(distance, float)
    if d.ndim != 2 or d.shape[0] != d.shape[1]:
        raise InputError(f"distances: must be a square matrix, found shape {d.shape}")
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
