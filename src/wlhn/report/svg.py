"""Simple pictures as SVG, written by hand: importing matplotlib and drawing its first figure takes as long as a short
training, so what every `wlhn train` draws (learning curves, which class was taken for which) does without.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wlhn.errors import InputError
from wlhn.files import write_text
from wlhn.report.style import PALETTE
from wlhn.words import shortened

GREY = "#808080"


def write_svg(path: str | Path, width: float, height: float, parts: Sequence[str]) -> None:
    """Write elements as a picture on white, the same bytes for the same elements."""
    path = Path(path)
    if path.suffix != ".svg":
        raise InputError(f"{path}: the name must end in .svg")
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="12">'
    )
    write_text(path, "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"]))


def text(x: float, y: float, words: object, anchor: str = "middle", more: str = "") -> str:
    """Words at a place; `more` is any further attributes.

    >>> text(1, 2, "a < b")
    '<text x="1.0" y="2.0" text-anchor="middle">a &lt; b</text>'
    """
    shown = "".join(c if c.isprintable() else "\ufffd" for c in str(words))  # XML has no place for control characters
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more and " " + more}>{escape(shown)}</text>'


def line(xs: Sequence[float], ys: Sequence[float], colour: str, more: str = "") -> str:
    """A line through points."""
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    return f'<polyline points="{points}" fill="none" stroke="{colour}"{more and " " + more}/>'


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from low to high: steps of 1, 2 or 5 times a power of ten.

    >>> ticks(0.0, 1.0), ticks(1, 7, most=4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [2.0, 4.0, 6.0])
    """
    span = high - low
    if not 0 < span < math.inf:
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(factor * power for factor in (1, 2, 5, 10, 20) if span / (factor * power) < most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


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


WIDTH, HEIGHT = 380.0, 300.0  # of a panel
LEFT, TOP, RIGHT, BOTTOM = 55.0, 35.0, 365.0, 255.0  # its axes
FEW = 30  # epochs; so few are marked one by one


def learning_curve(
    train_loss: Sequence[float],
    valid_loss: Sequence[float],
    valid_metric: Sequence[float],
    metric: str,
    best_epoch: int,
    path: Path,
) -> None:
    """Loss on the left, the validation metric on the right, the chosen epoch marked; an .svg."""
    loss = _panel("loss", {"training": train_loss, "validation": valid_loss}, PALETTE, best_epoch)
    right = _panel(f"validation {metric}", {"": valid_metric}, PALETTE[1:], best_epoch)
    moved = [f'<g transform="translate({WIDTH:g} 0)">', *right, "</g>"]
    write_svg(path, 2 * WIDTH, HEIGHT, [*loss, *moved])


def _panel(title: str, curves: Mapping[str, Sequence[float]], colours: Sequence[str], best: int) -> list[str]:
    """Axes with numbers epoch by epoch; what is no number leaves a gap."""
    epochs = max(map(len, curves.values()))
    values = [v for curve in curves.values() for v in curve if math.isfinite(v)] or [0.0]
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
    low, high = low - margin, high + margin

    def across(epoch: float) -> float:
        return LEFT + (RIGHT - LEFT) * (epoch - 0.5) / epochs

    def up(value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low)

    parts = [
        text((LEFT + RIGHT) / 2, TOP - 14, title, more='font-size="14"'),
        text((LEFT + RIGHT) / 2, BOTTOM + 36, "epoch"),
        line([LEFT, LEFT, RIGHT], [TOP, BOTTOM, BOTTOM], "black"),
        line([across(best)] * 2, [TOP, BOTTOM], GREY, 'stroke-dasharray="2 3"'),
    ]
    for tick in ticks(low, high):
        parts += [line([LEFT - 4, LEFT], [up(tick)] * 2, "black"), text(LEFT - 7, up(tick) + 4, f"{tick:g}", "end")]
    for tick in ticks(1, epochs):
        if tick == round(tick):
            at = across(tick)
            parts += [line([at] * 2, [BOTTOM, BOTTOM + 4], "black"), text(at, BOTTOM + 18, f"{tick:g}")]
    for k, (name, curve) in enumerate(curves.items()):
        there = [(across(t), up(v)) for t, v in enumerate(curve, start=1) if math.isfinite(v)]
        xs, ys = [x for x, _ in there], [y for _, y in there]
        parts.append(line(xs, ys, colours[k], 'stroke-width="1.5"'))
        if len(there) <= FEW:
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colours[k]}"/>' for x, y in there]
        if name:
            parts.append(text(RIGHT, TOP + 4 + 16 * k, name, "end", f'fill="{colours[k]}"'))
    return parts
