"""Runs told to the trackers people use: TensorBoard, MLflow, Weights & Biases; extras, imported when asked for.

A logger hears what a run is about, its numbers epoch by epoch, and its results; that is the whole protocol, and any
`Logger` will do in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from wlhn.errors import InputError
from wlhn.options.checks import check_choice
from wlhn.plugins import import_extra


class Logger:
    """Who hears of a run. This one tells nobody."""

    def about(self, values: Mapping[str, Any]) -> None:
        """Settings and data, once."""

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        """Numbers of an epoch, or of a split of an evaluation."""

    def close(self) -> None:
        """The run is done."""


def make_logger(kind: str, folder: Path, name: str) -> Logger:
    """A logger by name. TensorBoard writes into the folder of the run; the others where their own settings say."""
    check_logger(kind)
    try:
        return KINDS[kind](folder, name)
    except Exception as error:  # no account, no server, no permission: each package has errors of its own
        said = " ".join(str(error).split())
        raise InputError(
            f"--log {kind}: it could not be started: {said or type(error).__name__}{HINTS[kind]}"
        ) from None


def check_logger(kind: str) -> None:
    """Whether there is such a logger, and its package; before hours of work whose numbers it shall hear."""
    check_choice("--log", kind, *KINDS)
    import_extra(PACKAGES[kind], f"--log {kind}: its package is missing; `pip install 'wlhn[{kind}]'` brings it")


class _Tracker(Logger):
    """A tracker by its own functions."""

    def __init__(self, about: Callable[..., Any], numbers: Callable[..., Any], close: Callable[[], Any]) -> None:
        self._about, self._numbers, self._close = about, numbers, close

    def about(self, values: Mapping[str, Any]) -> None:
        self._about(dict(values))

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        self._numbers(dict(values), step=step)

    def close(self) -> None:
        self._close()


def _tensorboard(folder: Path, name: str) -> Logger:
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(str(folder / "tensorboard"))

    def about(values: Mapping[str, Any]) -> None:
        writer.add_text("about", "\n".join(f"- {key}: {value}" for key, value in values.items()))

    def numbers(values: Mapping[str, float], step: int) -> None:
        for key, value in values.items():
            writer.add_scalar(key, value, step)

    return _Tracker(about, numbers, writer.close)


def _mlflow(folder: Path, name: str) -> Logger:
    import mlflow

    mlflow.start_run(run_name=name)
    return _Tracker(mlflow.log_params, mlflow.log_metrics, mlflow.end_run)


def _wandb(folder: Path, name: str) -> Logger:
    import wandb

    run = wandb.init(name=name, dir=str(folder), project="wlhn")
    return _Tracker(run.config.update, run.log, run.finish)


KINDS: dict[str, Callable[[Path, str], Logger]] = {"tensorboard": _tensorboard, "mlflow": _mlflow, "wandb": _wandb}
PACKAGES = {"tensorboard": "tensorboardX", "mlflow": "mlflow", "wandb": "wandb"}
HINTS = {  # what to do where a tracker does not start
    "tensorboard": "",
    "mlflow": " (MLFLOW_TRACKING_URI says where it keeps runs: the address of a server, or file:FOLDER with "
    "MLFLOW_ALLOW_FILE_STORE=true)",
    "wandb": " (WANDB_MODE=offline needs no account)",
}
