"""Learning curves, from numbers to a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from wlhn.report.style import PALETTE
from wlhn.report.svg import GREY, line, text, ticks, write_svg

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
