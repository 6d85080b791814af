"""A model is fitted to a problem: its networks, one after another, each as `wlhn.training.network_run` has it, and what
it fits afterwards; or all in one go. Test items are never looked at here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wlhn.batching.collator import NodeBatch
from wlhn.errors import InputError
from wlhn.nn.capabilities import FitsAfterwards, FittedInOneGo, HasNetworks, networks_of
from wlhn.training.checkpoint import network_checkpoint
from wlhn.training.loss import loss
from wlhn.training.metrics import METRICS
from wlhn.training.network_run import Epoch, History, NetworkRun, validated
from wlhn.training.numerics import Numerics, numerical_report
from wlhn.training.problem import Problem
from wlhn.training.team import Team, forked_randomness, seed_torch

REPORTED = 16  # batches of training items that the numerical report looks at


@dataclass(frozen=True, eq=False)
class Fitted:
    """A finished run: the model as it was after its best epoch, and how it got there."""

    model: nn.Module
    best: Epoch  # of the first network; its scores are those of the whole model
    runs: tuple[History, ...]  # of each network
    numerics: Numerics
    chosen: Mapping[str, float] = field(default_factory=dict)  # what a model that fits afterwards chose, by name

    @property
    def history(self) -> tuple[Epoch, ...]:
        """The epochs of all networks; their numbers go on from one network to the next."""
        return tuple(epoch for run in self.runs for epoch in run.epochs)


def fit(
    problem: Problem,
    seed: int,
    checkpoint: Path | None = None,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    stop: Callable[[Sequence[Epoch]], bool] = lambda history: False,
    team: Team | None = None,
    device: str = "cpu",
) -> Fitted:
    """Train on the training items of a problem; stop, and choose the epoch, on its validation items.

    With `checkpoint`, a run that was interrupted goes on where that file says. The file stays there: the caller removes
    it (`remove_checkpoints`) once the result is safe. Of a model of several networks each has one beside it, and epochs
    are counted through. `stop`, asked with the epochs so far of the first network, can end all early. Each worker of a
    `team` calls this alike. The model is trained on the `device`, and comes back to the CPU.

    >>> from wlhn.data import load
    >>> from wlhn.data.splits import stratified_folds
    >>> from wlhn.training.settings import Settings
    >>> mutag = load("MUTAG")
    >>> settings = Settings.of(hidden_channels=8, num_layers=1, epochs=2)
    >>> fitted = fit(Problem(mutag, stratified_folds(mutag.y)[0], settings), seed=0)
    >>> [epoch.epoch for epoch in fitted.history]
    [1, 2]
    """
    with _own_randomness(seed):
        if isinstance(model := problem.build(), FittedInOneGo):
            if device != "cpu":
                raise InputError(f"--device {device}: {problem.settings.model} is fitted on the CPU; leave it out")
            fitted = _fit_in_one_go(problem, model, seed)
            on_epoch(fitted.best)
            return fitted
        if isinstance(model, FitsAfterwards):
            model.check_targets(problem.y[torch.from_numpy(problem.split.train)], problem.dataset.task)
        team = team or Team()
        runs: list[History] = []
        for k, network in enumerate(networks_of(model)):
            before = sum(len(run.epochs) for run in runs)
            own = None if checkpoint is None else network_checkpoint(checkpoint, k)
            run = NetworkRun(problem, network.to(device), seed, own, team, before)
            for past in run.history:
                on_epoch(past)
            while not (hopeless := k == 0 and stop(run.history)) and not run.finished:
                on_epoch(run.next_epoch())
            runs.append(run.end())
            if hopeless and isinstance(model, HasNetworks):
                del model.networks[1:]  # which are not trained
                break
        return _fitted(problem, model.cpu(), runs, alone=team.size == 1)


def _fitted(problem: Problem, model: nn.Module, runs: Sequence[History], alone: bool) -> Fitted:
    """What came of the runs of a model's networks."""
    best, chosen = runs[0].best, dict[str, float]()
    if isinstance(model, FitsAfterwards) and alone:  # a team hands over to one process
        best, chosen = _fit_afterwards(problem, model, best)
    some = problem.split.train[: REPORTED * problem.settings.network.batch_size]
    first_nan = next((run.first_nan for run in runs if run.first_nan is not None), None)
    numerics = numerical_report(model, problem.stream(some), first_nan)
    return Fitted(model, best, tuple(runs), numerics, chosen)


def _fit_afterwards(problem: Problem, model: Any, best: Epoch) -> tuple[Epoch, dict[str, float]]:
    """Let a model fit what belongs beside its networks: (the best epoch with the scores of all together, what was
    chosen)."""
    model.eval()
    train, valid = (
        loader.collate(loader.index) for loader in map(problem.batches, (problem.split.train, problem.split.valid))
    )

    def score(outputs: Tensor) -> float:
        found = problem.score(valid.items, outputs * problem.scale + problem.shift)
        return METRICS[problem.metric].rank(found)

    def part(positions: NDArray[Any]) -> Any:
        loader = problem.batches(train.items[positions])
        return loader.collate(loader.index).inputs

    task = problem.dataset.task
    chosen = model.fit_afterwards(
        train.inputs,
        valid.inputs,
        y=problem.targets(train),
        valid_y=problem.targets(valid),
        task=task,
        part=part,
        loss=partial(loss, task),  # without weights: what is calibrated are probabilities as they are
        score=score,
        class_weights=problem.settings.network.class_weights,
    )
    found = validated(problem, model, problem.batches(problem.split.valid))
    if found is None:
        raise InputError(
            f"{problem.settings.model}: what it says of validation items together with what was fitted afterwards "
            "is not a finite number; try a smaller learning rate, or standardise features"
        )
    return replace(best, valid_loss=found[0], valid_metric=found[1]), chosen


def _fit_in_one_go(problem: Problem, model: Any, seed: int) -> Fitted:
    """A run of a model that is fitted in one go: one epoch, and nothing to choose."""
    started, split, task = time.perf_counter(), problem.split, problem.dataset.task
    loader = problem.batches(split.train)
    batch = loader.collate(loader.index)  # all of them
    given, y = batch.inputs, problem.targets(batch)
    if isinstance(given, NodeBatch):
        model.fit(given.x, given.edge_index, given.batch, given.edge_attr, y=y, task=task, seed=seed, rows=batch.rows)
    else:
        model.fit_on_colours(given, y=y, task=task, seed=seed, rows=batch.rows)
    train_loss = float(loss(task, batch.outputs(model), y))
    items, outputs = problem.outputs(model, split.valid)
    metric = problem.score(items, outputs)
    y = problem.y[torch.from_numpy(items)]
    valid_loss = float(loss(task, (outputs - problem.shift) / problem.scale, y))
    epoch = Epoch(1, train_loss, valid_loss, metric, time.perf_counter() - started)
    report = numerical_report(model, problem.stream(split.valid))
    return Fitted(model, epoch, (History((epoch,), epoch),), report)


@contextmanager
def _own_randomness(seed: int) -> Any:
    """Torch's generator, seeded, inside the block; as it was before, after it."""
    with forked_randomness():
        seed_torch(int(np.random.SeedSequence(seed).generate_state(1)[0]))
        yield
