"""Which class was taken for which, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wlhn.errors import InputError
from wlhn.report.svg import text, write_svg
from wlhn.words import shortened

CELL, NAMES, MARGIN = 44.0, 130.0, 50.0  # sides of a cell, room for the names of classes, and around all
BLUE = (0x00, 0x44, 0x88)


def confusion_matrix(counts: ArrayLike, classes: Sequence[Any], path: str | Path, *, title: str = "") -> None:
    """Counts (true, predicted), each shaded by its share of the true class; an .svg.

    `sklearn.metrics.confusion_matrix` counts, and so do `wlhn.training.scores`.
    """
    counts = np.asarray(counts, int)
    if counts.shape != (len(classes), len(classes)):
        raise InputError(
            f"counts: expected {len(classes)} rows and columns, one for each class, found shape {counts.shape}"
        )
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    left, top, side = NAMES, MARGIN, CELL * len(classes)
    middle = left + side / 2
    parts = [text(middle, 24, shortened(title, 80), more='font-size="14"')]
    for (i, j), count in np.ndenumerate(counts):
        x, y = left + CELL * j, top + CELL * i
        fill = "#" + "".join(f"{round(255 + (c - 255) * share[i, j]):02x}" for c in BLUE)
        ink = "white" if share[i, j] > 0.5 else "black"
        parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{CELL:g}" height="{CELL:g}" fill="{fill}" stroke="#cccccc"/>'
            + text(x + CELL / 2, y + CELL / 2 + 4, f"{count:,}", more=f'fill="{ink}"')
        )
    for k, name in enumerate(classes):
        at = CELL * (k + 0.5)
        parts.append(text(left - 8, top + at + 4, shortened(str(name), 14), "end"))
        x, y = left + at + 4, top + side + 10
        parts.append(text(x, y, shortened(str(name), 14), "end", f'transform="rotate(-90 {x:.1f} {y:.1f})"'))
    across, up = f'transform="rotate(-90 14 {top + side / 2:.1f})"', top + side + NAMES - 10
    parts += [text(middle, up, "predicted"), text(14, top + side / 2, "true", more=across)]
    write_svg(path, left + side + MARGIN, top + side + NAMES, parts)
