"""Simple pictures as SVG, written by hand: importing matplotlib and drawing its first figure takes as long as a short
training, so what every `wlhn train` draws does without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from wlhn.errors import InputError
from wlhn.files import write_text

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
