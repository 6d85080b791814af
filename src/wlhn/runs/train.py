"""`wlhn train`: one split, one run, one folder to keep."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from wlhn.data.dataset import Dataset
from wlhn.data.splits import Split, random_splits, stratified_folds
from wlhn.errors import InputError
from wlhn.nn.capabilities import HasVoices
from wlhn.options.checks import check_choice
from wlhn.runs.claim import CHECKPOINT, claimed, identity
from wlhn.runs.logging import Logger
from wlhn.runs.run_folder import save_run
from wlhn.runs.sharing import write_card
from wlhn.runs.trained import Trained
from wlhn.training.answers import answers_on, constant_answer, constant_answer_score
from wlhn.training.balance import imbalance
from wlhn.training.checkpoint import remove_checkpoints
from wlhn.training.fit import Fitted, fit
from wlhn.training.loss import check_targets
from wlhn.training.network_run import Epoch
from wlhn.training.problem import Problem
from wlhn.training.provenance import code_version, data_hash, environment
from wlhn.training.scores import Scores
from wlhn.training.settings import Settings

LOGGED = ("train_loss", "valid_loss", "valid_metric")
PARTS = ("train", "valid", "test")  # of a split
METRICS_FILE = "metrics.jsonl"


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
    check_targets(dataset.task, dataset.y, dataset.num_outputs)
    if len(dataset.splits) == 1 and len(dataset.splits[0].train) and len(dataset.splits[0].valid):
        return dataset.splits[0]
    labelled = dataset.labelled
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
    draw: Callable[[TrainedRun], None] = lambda run: None,
    log: Callable[[Path], Logger] = lambda folder: Logger(),
) -> TrainedRun:
    """Train one model and keep it in a folder; an interrupted run in the same folder goes on.

    Without a folder it is runs/DATA-MODEL-1, -2, … (`claimed`), and there too an interrupted run goes on.
    More than one of `workers` share the batches, on the Ray cluster at an `address` or a new one here.
    Models train on the `device`, "cpu" or "cuda" (with workers, a GPU each).
    `draw(run)` may add pictures to the folder before it is sealed. `log(folder)` gives somebody who is told settings,
    epochs and test scores.
    """
    check_choice("device", device, "cpu", "cuda")
    if device == "cuda" and workers == 1 and not torch.cuda.is_available():
        raise InputError("device cuda: torch finds no GPU here; leave --device out to train on the CPU")
    split = split or default_split(dataset, seed)
    name, about = f"{dataset.name}-{settings.model}", identity(dataset, split, settings, seed)
    with claimed(folder, name, about) as ours, closing(log(ours)) as logger:
        started = time.time()
        logger.about({"data": dataset.name, "seed": seed} | settings.to_json())
        problem = Problem(dataset, split, settings)
        with (ours / METRICS_FILE).open("w", encoding="utf-8") as lines:

            def tell(epoch: Epoch) -> None:
                try:
                    lines.write(json.dumps(asdict(epoch)) + "\n")
                    lines.flush()
                except OSError as error:  # a full disk: say where
                    raise OSError(error.errno, error.strerror, lines.name) from error
                logger.numbers({name: getattr(epoch, name) for name in LOGGED}, epoch.epoch)
                on_epoch(epoch)

            if workers == 1:
                fitted = fit(problem, seed, ours / CHECKPOINT, tell, device=device)
            else:
                from wlhn.training.data_parallel import fit_together

                fitted = fit_together(
                    problem, seed, ours / CHECKPOINT, tell, workers=workers, address=address, device=device
                )
        run = _described(problem, fitted, ours, {"seed": seed, "workers": workers, "device": device}, started)
        draw(run)
        positions = {part: getattr(problem.split, part).tolist() for part in PARTS}
        save_run(ours, run.trained, run.about, {"environment.json": environment(), "split.json": positions})
        write_card(ours)
        remove_checkpoints(ours / CHECKPOINT)
        known = {} if run.test is None else run.test.metrics
        logger.numbers({f"test_{k}": v for k, v in known.items() if v is not None}, len(fitted.history))
        return run


def _described(problem: Problem, fitted: Fitted, folder: Path, given: dict[str, Any], started: float) -> TrainedRun:
    """A run with all that is to be said of it."""
    dataset, split = problem.dataset, problem.split
    answers = {part: answers_on(problem, fitted.model, getattr(split, part)) for part in PARTS}
    scores = {part: None if said is None else said.score() for part, said in answers.items()}
    test = None if answers["test"] is None else answers["test"].scores()
    parts = fitted.model.voices() if isinstance(fitted.model, HasVoices) else {}
    alone = {name: answers_on(problem, part, split.test) for name, part in parts.items()}
    about = {
        "data": dataset.name,
        "path": dataset.path,
        "data_hash": data_hash(dataset),
        "model": problem.settings.model,
        "metric": problem.metric,
        **given,
        "split_hash": split.hash,
        "split": {part: len(getattr(split, part)) for part in PARTS},
        "unlabelled": int((~dataset.labelled).sum()),
        "skipped": len(dataset.skipped),
        "warnings": [warning] if (warning := imbalance(dataset, split.train)) else [],
        "best_epoch": fitted.best.epoch,
        "epochs": len(fitted.history),
        "chosen": dict(fitted.chosen),
        "scores": scores | {"constant_answer": constant_answer_score(problem)},
        "constant_answer": constant_answer(problem),
        "test_scores": None if test is None else test.to_json(),
        "voices": {name: said.score() for name, said in alone.items() if said is not None},
        "numerics": asdict(fitted.numerics),
        "version": code_version(),
        "seconds": round(time.time() - started, 3),
    }
    return TrainedRun(Trained.of(problem, fitted), fitted, about, folder, test)
