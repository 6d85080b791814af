"""`wlhn train`: one split, one run, one folder to keep."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.data.splits import Split, random_splits, stratified_folds
from wlhn.errors import InputError
from wlhn.options.checks import check_choice
from wlhn.runs.claim import CHECKPOINT, claimed, identity
from wlhn.runs.logging import Logger
from wlhn.runs.run_folder import save_run
from wlhn.runs.sharing import write_card
from wlhn.runs.trained import Trained
from wlhn.training.balance import imbalance
from wlhn.training.fit import Epoch, Fitted, fit
from wlhn.training.metrics import METRICS
from wlhn.training.problem import Problem
from wlhn.training.provenance import code_version, data_hash, environment
from wlhn.training.scores import Scores, scores_of
from wlhn.training.settings import Settings

LOGGED = ("train_loss", "valid_loss", "valid_metric")
METRICS_FILE, CURVE, CONFUSION = "metrics.jsonl", "learning-curve.svg", "confusion.svg"


@dataclass(frozen=True, eq=False)
class TrainedRun:
    """What came of a run."""

    trained: Trained
    fitted: Fitted
    about: dict[str, Any]  # as in config.json
    folder: Path
    test: Scores | None  # None without test items


def default_split(dataset: Dataset, seed: int) -> Split:
    """The one split that came with the data; else 64/16/20 %, stratified (graphs), or 60/20/20 % (nodes).

    Ten published folds are for `wlhn evaluate`: a test set of a tenth is too small to show a newcomer one number.

    >>> from wlhn.data import load
    >>> default_split(load("MUTAG"), seed=0)
    Split(121 train, 30 valid, 37 test, ...)
    """
    # A scaffold split puts molecules without rings all into one part: then it is of no use.
    if len(dataset.splits) == 1 and len(dataset.splits[0].train) and len(dataset.splits[0].valid):
        return dataset.splits[0]
    labelled = dataset.labelled if dataset.task != "none" else np.ones(len(dataset), bool)
    if (known := int(labelled.sum())) < 10:
        raise InputError(f"{dataset.name}: {known} items have a target; at least 10 are needed to split them")
    if dataset.level == "node":
        return random_splits(len(dataset), repeats=1, seed=seed, among=labelled)[0]
    return stratified_folds(dataset.y, folds=5, holdout=0.2, seed=seed, among=labelled)[0]


def train(
    dataset: Dataset,
    settings: Settings,
    folder: Path | None = None,
    *,
    split: Split | None = None,
    seed: int = 0,
    workers: int = 1,
    address: str | None = None,
    device: str = "cpu",
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    draw: Callable[[list[Epoch], int, str, Path], None] | None = None,
    draw_confusion: Callable[[Scores, Path], None] | None = None,
    log: Callable[[Path], Logger] | None = None,
) -> TrainedRun:
    """Train one model and keep it in a folder; an interrupted run in the same folder goes on.

    Without a folder it is runs/DATA-MODEL-1, -2, … (`claimed`), and there too an interrupted run goes on.
    More than one of `workers` share the batches, on the Ray cluster at an `address` or a new one here.
    Models train on the `device`, "cpu" or "cuda" (with workers, a GPU each).
    `draw(history, best epoch, metric, path)` is asked for the learning curve before the folder is sealed, and, where
    there are classes, `draw_confusion(scores, path)` for which was taken for which. `log(folder)` gives somebody who is
    told settings, epochs and test scores.
    """
    check_device(device, here=workers == 1)
    split = split or default_split(dataset, seed)
    name, about = f"{dataset.name}-{settings.model}", identity(dataset, split, settings, seed)
    with claimed(folder, name, about) as ours:
        logger = None if log is None else log(ours)
        if logger is None:
            return _train(
                dataset, settings, ours, split, seed, workers, address, device, on_epoch, draw, draw_confusion
            )
        logger.about({"data": dataset.name, "seed": seed} | settings.to_json())

        def log_epoch(epoch: Epoch) -> None:
            logger.numbers({name: getattr(epoch, name) for name in LOGGED}, epoch.epoch)
            on_epoch(epoch)

        with closing(logger):
            run = _train(
                dataset, settings, ours, split, seed, workers, address, device, log_epoch, draw, draw_confusion
            )
            known = {} if run.test is None else run.test.metrics
            logger.numbers({f"test_{k}": v for k, v in known.items() if v is not None}, len(run.fitted.history))
            return run


def _train(
    dataset: Dataset,
    settings: Settings,
    folder: Path,
    split: Split,
    seed: int,
    workers: int,
    address: str | None,
    device: str,
    on_epoch: Callable[[Epoch], None],
    draw: Callable[[list[Epoch], int, str, Path], None] | None,
    draw_confusion: Callable[[Scores, Path], None] | None,
) -> TrainedRun:
    started = time.time()
    problem = Problem(dataset, split, settings)
    with (folder / METRICS_FILE).open("w", encoding="utf-8") as lines:

        def note(epoch: Epoch) -> None:
            try:
                lines.write(json.dumps(asdict(epoch)) + "\n")
                lines.flush()
            except OSError as error:  # a full disk: say where
                raise OSError(error.errno, error.strerror, str(folder / METRICS_FILE)) from error
            on_epoch(epoch)

        if workers == 1:
            fitted = fit(problem, seed, folder / CHECKPOINT, note, device=device)
        else:
            from wlhn.training.data_parallel import fit_together

            fitted = fit_together(
                problem, seed, folder / CHECKPOINT, note, workers=workers, address=address, device=device
            )
    answers = answers_on(problem, fitted, problem.split.test)
    test = None if answers is None else answers.scores()
    about = {
        "data": dataset.name,
        "data_hash": data_hash(dataset),
        "model": settings.model,
        "metric": problem.metric,
        "seed": seed,
        "workers": workers,
        "device": device,
        "split_hash": problem.split.hash,
        "split": {part: len(getattr(problem.split, part)) for part in ("train", "valid", "test")},
        "unlabelled": int((~problem.dataset.labelled).sum()),
        "warnings": [warning] if (warning := imbalance(problem.dataset, problem.split.train)) else [],
        "best_epoch": fitted.best.epoch,
        "epochs": len(fitted.history),
        "chosen": dict(fitted.chosen),
        "scores": _scores(problem, fitted, answers),
        "test_scores": None if test is None else test.to_json(),
        "numerics": asdict(fitted.numerics),
        "version": code_version(),
        "seconds": round(time.time() - started, 3),
    }
    trained = Trained.of(problem, fitted)
    if draw is not None:
        draw(list(fitted.history), fitted.best.epoch, problem.metric, folder / CURVE)
    if draw_confusion is not None and test is not None and test.classes:
        draw_confusion(test, folder / CONFUSION)
    split_positions = {part: getattr(problem.split, part).tolist() for part in ("train", "valid", "test")}
    save_run(folder, trained, about, {"environment.json": environment(), "split.json": split_positions})
    write_card(folder)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return TrainedRun(trained, fitted, about, folder, test)


def check_device(device: str, here: bool) -> None:
    """Whether it is one that models can be trained on, and, if `here`, on this machine.

    >>> check_device("cpu", here=True)
    """
    check_choice("device", device, "cpu", "cuda")
    if device == "cuda" and here and not torch.cuda.is_available():
        raise InputError("device cuda: torch finds no GPU here; leave --device out to train on the CPU")


def _scores(problem: Problem, fitted: Fitted, test: Answers | None) -> dict[str, float | None]:
    """The metric on each part, and what always giving the commonest answer of the training items would score."""
    parts = {part: answers_on(problem, fitted, getattr(problem.split, part)) for part in ("train", "valid")}
    scores = {part: None if said is None else said.score() for part, said in (parts | {"test": test}).items()}
    return scores | {"constant_answer": _constant_answer(problem)}


def _constant_answer(problem: Problem) -> float | None:
    y, test, size = problem.dataset.y, problem.split.test, (len(problem.split.test), problem.out_channels)
    if not len(test) or problem.dataset.task == "binary" or problem.metric in ("rocauc", "ap"):
        return None
    answer = np.broadcast_to(problem.shift.numpy(), size)
    if problem.dataset.task == "classification":
        commonest = np.bincount(y[problem.split.train]).argmax()
        answer = np.broadcast_to(np.eye(size[1])[commonest], size)
    try:
        return METRICS[problem.metric].score(y[test], answer)
    except InputError:  # R² of a single item
        return None


@dataclass(frozen=True, eq=False)
class Answers:
    """What a fitted model says of some items: predicted once, scored as often as one likes."""

    problem: Problem
    items: NDArray[Any]
    outputs: NDArray[Any]

    def score(self) -> float:
        """By the metric of the problem."""
        return METRICS[self.problem.metric].score(self.problem.dataset.y[self.items], self.outputs)

    def scores(self) -> Scores:
        """By all metrics."""
        dataset = self.problem.dataset
        return scores_of(dataset.task, dataset.y[self.items], self.outputs, dataset.classes)


def answers_on(problem: Problem, fitted: Fitted, items: NDArray[Any]) -> Answers | None:
    """What a fitted model says of items, if there are any."""
    if not len(items):
        return None
    order, outputs = problem.outputs(fitted.model, items)
    return Answers(problem, order, outputs.numpy())
