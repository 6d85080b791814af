"""Whose a run folder is: one training's, from its first epoch to its last, however often it is interrupted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from wlhn.data.dataset import Dataset
from wlhn.data.splits import Split
from wlhn.errors import BusyError, InputError
from wlhn.files import check_free, only_writer, under_way
from wlhn.runs.run_folder import is_run
from wlhn.training.checkpoint import remove_checkpoints
from wlhn.training.provenance import data_hash
from wlhn.training.settings import Settings

RUNS = Path("runs")  # where runs without a name of their own go
CHECKPOINT = ".checkpoint.safetensors"


def identity(dataset: Dataset, split: Split, settings: Settings, seed: int) -> str:
    """Two trainings with the same identity are the same training."""
    text = json.dumps([data_hash(dataset), split.hash, settings.to_json(), seed], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@contextmanager
def claimed(folder: Path | None, name: str, about: str) -> Iterator[Path]:
    """A run folder that is this process's alone while the block runs.

    Args:
        folder: a new or empty one, or one with an unfinished run; a finished run is never written over.
        name: where there is no folder, it is the first of runs/NAME-1, -2, … that is new, or in which a training with
            the same `about` was interrupted; two processes never get the same.
        about: what is trained, as `identity` has it.
    """
    with ExitStack() as stack:
        if folder is None:
            folder = _default(stack, name, about)
        else:
            _refuse_finished(folder)
            check_free(folder, CHECKPOINT)
            stack.enter_context(only_writer(folder, about))
            _refuse_finished(folder)
        yield folder


def _default(stack: ExitStack, name: str, about: str) -> Path:
    for k in count(1):
        folder = RUNS / f"{name}-{k}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if is_run(folder) or under_way(folder) != about:
                continue
        with suppress(BusyError):  # the same command is at work there: this is another run
            stack.enter_context(only_writer(folder, about))
            if not is_run(folder):
                return folder
            stack.close()
    raise AssertionError("count never ends")


def _refuse_finished(folder: Path) -> None:
    if not is_run(folder):
        return
    if (folder / CHECKPOINT).exists():  # killed between its last two steps
        with suppress(BusyError, OSError), only_writer(folder):
            remove_checkpoints(folder / CHECKPOINT)
    raise InputError(f"{folder}: already holds a finished run; choose another folder")
