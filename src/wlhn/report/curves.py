"""Learning curves, from numbers to a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wlhn.files import replacing


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
    from matplotlib.figure import Figure

    epochs = range(1, len(train_loss) + 1)
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(epochs, train_loss, label="training")
    left.plot(epochs, valid_loss, label="validation")
    left.set(title="loss", xlabel="epoch")
    left.legend(frameon=False)
    right.plot(epochs, valid_metric, color="tab:green")
    right.set(title=f"validation {metric}", xlabel="epoch")
    for axes in (left, right):
        axes.axvline(best_epoch, color="grey", linestyle=":", linewidth=1)
        axes.spines[["top", "right"]].set_visible(False)
    with replacing(path) as draft:
        figure.savefig(draft, dpi=150)
