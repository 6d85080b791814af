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


class _TensorBoard(Logger):
    def __init__(self, folder: Path, name: str) -> None:
        from tensorboardX import SummaryWriter

        self.writer = SummaryWriter(str(folder / "tensorboard"))

    def about(self, values: Mapping[str, Any]) -> None:
        self.writer.add_text("about", "\n".join(f"- {key}: {value}" for key, value in values.items()))

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        for key, value in values.items():
            self.writer.add_scalar(key, value, step)

    def close(self) -> None:
        self.writer.close()


class _MLflow(Logger):
    def __init__(self, folder: Path, name: str) -> None:
        import mlflow

        self.mlflow = mlflow
        mlflow.start_run(run_name=name)

    def about(self, values: Mapping[str, Any]) -> None:
        self.mlflow.log_params(dict(values))

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        self.mlflow.log_metrics(dict(values), step=step)

    def close(self) -> None:
        self.mlflow.end_run()


class _Wandb(Logger):
    def __init__(self, folder: Path, name: str) -> None:
        import wandb

        self.run = wandb.init(name=name, dir=str(folder), project="wlhn")

    def about(self, values: Mapping[str, Any]) -> None:
        self.run.config.update(dict(values))

    def numbers(self, values: Mapping[str, float], step: int) -> None:
        self.run.log(dict(values), step=step)

    def close(self) -> None:
        self.run.finish()


KINDS: dict[str, Callable[[Path, str], Logger]] = {"tensorboard": _TensorBoard, "mlflow": _MLflow, "wandb": _Wandb}
PACKAGES = {"tensorboard": "tensorboardX", "mlflow": "mlflow", "wandb": "wandb"}
HINTS = {  # what to do where a tracker does not start
    "tensorboard": "",
    "mlflow": " (MLFLOW_TRACKING_URI says where it keeps runs: the address of a server, or file:FOLDER with "
    "MLFLOW_ALLOW_FILE_STORE=true)",
    "wandb": " (WANDB_MODE=offline needs no account)",
}
