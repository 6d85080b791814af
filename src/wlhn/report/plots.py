"""Plots of numbers: how distances of embeddings agree with a tree's, accuracy against depth, distances of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wlhn.errors import InputError
from wlhn.report.style import MARKERS, PALETTE, new_figure, plain, quiet, write_figure

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)  # quantiles that a panel shows


def distance_panels(panels: Mapping[str, Mapping[int, Sequence[float]]], path: str | Path) -> None:
    """A panel for each method, titled by its key: quantiles (`LEVELS`) of distances at each distance of the tree."""
    figure = new_figure(2.6 * len(panels), 2.9)
    places = np.ravel(figure.subplots(1, len(panels)))
    for axes, colour, (name, spread) in zip(places, PALETTE, panels.items(), strict=False):
        at, low, lower, middle, upper, high = np.array([[d, *spread[d]] for d in sorted(spread)]).T
        axes.vlines(at, low, high, color=colour, linewidth=1.2)
        axes.vlines(at, lower, upper, color=colour, linewidth=7, alpha=0.45)
        axes.plot(at, middle, "o", color=colour, markersize=4)
        quiet(axes).set(title=plain(name, 60), xlabel="WL distance", xticks=at)
        axes.title.set_fontsize("medium")
        axes.set_ylim(bottom=0)
    figure.axes[0].set_ylabel("distance of the embedding")
    write_figure(figure, path)


def correlation_by_length(
    lengths: Sequence[float], curves: Mapping[str, ArrayLike], marks: Mapping[str, float], path: str | Path
) -> None:
    """Correlation with the tree's distances against τ, (lengths, seeds) for each curve; `marks` as dotted lines."""
    figure = new_figure(5.5, 3.6)
    axes = quiet(figure.subplots())
    for (name, values), colour, marker in zip(curves.items(), PALETTE, MARKERS, strict=False):
        rows = np.asarray(values, float)
        axes.plot(lengths, rows.mean(axis=1), color=colour, marker=marker, label=plain(name))
        axes.fill_between(lengths, rows.min(axis=1), rows.max(axis=1), color=colour, alpha=0.18, linewidth=0)
    for name, value in marks.items():
        axes.axhline(value, color="#4D4D4D", linestyle=":", linewidth=1)
        axes.annotate(plain(name), (lengths[-1], value), ha="right", va="bottom", fontsize="small", color="#4D4D4D")
    axes.set(xlabel="τ", ylabel="correlation with the WL distance", ylim=(None, 1.02))
    axes.legend(frameon=False, loc="lower right")
    write_figure(figure, path)


def depth_accuracy(
    depths: Sequence[int],
    scores: Mapping[str, ArrayLike],
    path: str | Path,
    *,
    metric: str = "accuracy",
    title: str = "",
) -> None:
    """One line for each model: mean over runs with its standard deviation; `scores` has (depths,) or (depths, runs)."""
    figure = new_figure(5.5, 3.6)
    axes = quiet(figure.subplots())
    for k, (name, given) in enumerate(scores.items()):
        values = np.asarray(given, float).reshape(len(np.asarray(given)), -1)
        if len(values) != len(depths):
            raise InputError(
                f"{name}: has scores for {len(values)} depths, but there are {len(depths)}; give one for each"
            )
        mean, spread = values.mean(axis=1), values.std(axis=1)
        colour = PALETTE[k % len(PALETTE)]
        axes.plot(depths, mean, color=colour, marker=MARKERS[k % len(MARKERS)], label=plain(name))
        if values.shape[1] > 1:
            axes.fill_between(depths, mean - spread, mean + spread, color=colour, alpha=0.18, linewidth=0)
    axes.set(xlabel="layers", ylabel=plain(metric), title=plain(title, 80), xticks=list(depths))
    axes.legend(frameon=False)
    write_figure(figure, path)


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
