"""When a candidate is hopeless: it is behind the middle of those before it, after a ninth or a third of its epochs.

What it has to reach by when stands in the spec of its job (`stops`), so a job that is stopped is still a pure function
of its spec. One that is stopped is not chosen: half of the others were better by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from wlhn.training.metrics import METRICS
from wlhn.training.network_run import Epoch
from wlhn.training.settings import Settings

Stop = tuple[int, float]  # an epoch, and what the validation metric has to be by then


def epochs_of(settings: Settings) -> int:
    """Epochs at most; a model that is fitted in one go has one."""
    return int(getattr(settings.training, "epochs", 1))


def rungs(epochs: int) -> tuple[int, int]:
    """The epochs after which a candidate is looked at.

    >>> rungs(300)
    (33, 100)
    """
    first = max(epochs // 9, 1)
    return first, max(epochs // 3, first + 1)


def best_by(history: Sequence[Epoch], epoch: int, metric: str) -> float:
    """The best validation metric up to an epoch."""
    return max((past.valid_metric for past in history[:epoch]), key=METRICS[metric].rank)


def curve(history: Sequence[Epoch], epochs: int, metric: str, stopped: bool) -> list[float]:
    """The best validation metric by each rung of a run of so many epochs at most; a run that was stopped has fewer."""
    return [best_by(history, rung, metric) for rung in rungs(epochs) if not stopped or rung <= len(history)]


def behind(history: Sequence[Epoch], stops: Sequence[Stop], metric: str) -> bool:
    """Whether a run has missed what it had to reach.

    >>> history = [Epoch(k + 1, 0.0, 0.0, accuracy, 0.0) for k, accuracy in enumerate([0.5, 0.7, 0.6])]
    >>> behind(history, [(3, 0.7)], "accuracy"), behind(history, [(3, 0.8)], "accuracy")
    (False, True)
    """
    better = METRICS[metric].better
    return any(better(least, best_by(history, rung, metric)) for rung, least in stops if len(history) >= rung)


def stops(epochs: int, curves: Sequence[Sequence[float]]) -> list[Stop]:
    """What a run of so many epochs has to reach, from the curves of those before it: their median, rung by rung.

    >>> stops(90, [[0.5, 0.5], [0.75, 0.75], [0.625]])
    [(10, 0.625), (30, 0.625)]
    """
    reached = [[curve[k] for curve in curves if len(curve) > k] for k in range(2)]
    return [(rung, median(values)) for rung, values in zip(rungs(epochs), reached, strict=True) if values]
