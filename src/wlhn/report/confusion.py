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

CELL, LETTER, MARGIN = 44.0, 7.5, 50.0  # sides of a cell, width of a letter of the names of classes, room around all
UPRIGHT = 4  # letters of names that fit under a cell as they are
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
    names = [shortened(str(name), 14) for name in classes]
    longest = max(map(len, names), default=0)
    turned = longest > UPRIGHT
    left, top, side = MARGIN + LETTER * longest, MARGIN, CELL * len(classes)
    below = LETTER * longest if turned else 16.0
    title = shortened(title, 80)
    half = max(side / 2, 4 * len(title))  # the title may be wider than the matrix
    left = max(left, half - side / 2 + 8)
    middle = left + side / 2
    parts = [text(middle, 24, title, more='font-size="14"')]
    for (i, j), count in np.ndenumerate(counts):
        x, y = left + CELL * j, top + CELL * i
        fill = "#" + "".join(f"{round(255 + (c - 255) * share[i, j]):02x}" for c in BLUE)
        ink = "white" if share[i, j] > 0.5 else "black"
        parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{CELL:g}" height="{CELL:g}" fill="{fill}" stroke="#cccccc"/>'
            + text(x + CELL / 2, y + CELL / 2 + 4, f"{count:,}", more=f'fill="{ink}"')
        )
    for k, name in enumerate(names):
        at = CELL * (k + 0.5)
        parts.append(text(left - 8, top + at + 4, name, "end"))
        if turned:
            x, y = left + at + 4, top + side + 10
            parts.append(text(x, y, name, "end", f'transform="rotate(-90 {x:.1f} {y:.1f})"'))
        else:
            parts.append(text(left + at, top + side + 18, name))
    aside, under = left - LETTER * longest - 20, top + side + below + 28
    turn = f'transform="rotate(-90 {aside:.1f} {top + side / 2:.1f})"'
    parts += [text(middle, under, "predicted"), text(aside, top + side / 2, "true", more=turn)]
    write_svg(path, max(left + side, middle + half) + MARGIN / 2, under + 16, parts)
