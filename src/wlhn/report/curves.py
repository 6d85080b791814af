"""Learning curves, from numbers to a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wlhn.report.style import PALETTE, new_figure, quiet, write_figure


def learning_curve(
    train_loss: Sequence[float],
    valid_loss: Sequence[float],
    valid_metric: Sequence[float],
    metric: str,
    best_epoch: int,
    path: Path,
) -> None:
    """Loss on the left, the validation metric on the right, the chosen epoch marked.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "curve.png"
    >>> learning_curve([2.0, 1.0], [2.1, 1.5], [0.5, 0.7], "accuracy", best_epoch=2, path=path)
    >>> path.stat().st_size > 1000
    True
    """
    epochs = range(1, len(train_loss) + 1)
    figure = new_figure(8, 3.2)
    left, right = figure.subplots(1, 2)
    left.plot(epochs, train_loss, color=PALETTE[0], label="training")
    left.plot(epochs, valid_loss, color=PALETTE[1], label="validation")
    left.set(title="loss", xlabel="epoch")
    left.legend(frameon=False)
    right.plot(epochs, valid_metric, color=PALETTE[1])
    right.set(title=f"validation {metric}", xlabel="epoch")
    for axes in (left, right):
        quiet(axes).axvline(best_epoch, color="grey", linestyle=":", linewidth=1)
    write_figure(figure, path)
