"""Depth against accuracy: does a model lose what it knew when it gets more layers?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from wlhn.errors import InputError
from wlhn.report.style import MARKERS, PALETTE, new_figure, plain, quiet, write_figure


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
