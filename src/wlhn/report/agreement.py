"""How distances of embeddings agree with those of a tree: spread at each distance, and correlation against τ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

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
