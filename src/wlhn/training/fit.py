"""One training run: epochs, early stopping on the validation items, a checkpoint after each epoch, or each second.

What is random in an epoch (order of batches, dropout) is drawn from (seed, epoch) alone. So a run that was killed goes
on from its last checkpoint as if nothing had happened, and gives the same numbers bit for bit. Test items are never
looked at here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from wlhn.batching.collator import NodeBatch
from wlhn.batching.loader import Loader
from wlhn.errors import InputError
from wlhn.nn.capabilities import FitsAfterwards, FittedInOneGo
from wlhn.options.portable import is_portable
from wlhn.options.training import TrainingOptions
from wlhn.training.adam import Adam
from wlhn.training.checkpoint import load_checkpoint, optimizer_tensors, restore_optimizer, save_checkpoint
from wlhn.training.loss import loss, num_known_targets
from wlhn.training.metrics import METRICS
from wlhn.training.numerics import Numerics, first_nan, numerical_report
from wlhn.training.problem import Problem, Scored
from wlhn.training.provenance import code_version, data_hash
from wlhn.training.team import Team, forked_randomness, seed_torch

REST = 1.0  # seconds between checkpoints: one after each epoch of 10 ms would take twice as long as the epoch
REPORTED = 16  # batches of training items that the numerical report looks at


@dataclass(frozen=True)
class Epoch:
    """What happened in one epoch."""

    epoch: int  # from 1
    train_loss: float
    valid_loss: float
    valid_metric: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Fitted:
    """A finished run: the model as it was after its best epoch, and how it got there."""

    model: nn.Module
    best: Epoch
    history: tuple[Epoch, ...]
    numerics: Numerics
    chosen: Mapping[str, float] = field(default_factory=dict)  # what a model that fits afterwards chose, by name


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
    it once the result is safe. `stop`, asked with the epochs so far, can end it early. Each worker of a `team` calls
    this alike. The model is trained on the `device`, and comes back to the CPU.

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
        run = _Run(problem, model.to(device), seed, checkpoint, team or Team())
        for past in run.history:
            on_epoch(past)
        while not run.finished and not stop(run.history):
            on_epoch(run.next_epoch())
        return run.result()


class _Run:
    """The state of a run between two epochs, which is what a checkpoint holds."""

    def __init__(self, problem: Problem, model: nn.Module, seed: int, checkpoint: Path | None, team: Team) -> None:
        self.problem, self.seed, self.checkpoint, self.team = problem, seed, checkpoint, team
        self.settings, split = problem.settings.network, problem.split
        self.model = model
        if isinstance(model, FitsAfterwards):
            model.check_targets(problem.y[torch.from_numpy(split.train)], problem.dataset.task)
        team.join(model)
        self.optimizer = make_optimizer(self.model, self.settings)
        self.valid: Loader[Scored] = problem.batches(split.valid)
        self.train: Loader[Scored] = team.parts(problem, problem.batches(split.train))
        self.shuffled = problem.batches(split.train, shuffle_seed=0).shuffle  # else one batch, the same in each epoch
        if len(self.train) == 1:
            _set_momentum(model, self.settings.full_batch_momentum)
        self.history: list[Epoch] = []
        self.best: Epoch | None = None
        self.best_state: dict[str, Tensor] = {}
        self.first_nan: str | None = None
        self.identity = ""
        self.saved = -math.inf  # when
        if checkpoint is not None:
            run = [problem.settings.to_json(), split.hash, seed, data_hash(problem.dataset)]
            self.identity = repr([code_version(), is_portable(), *run])  # what other instructions began is not mixed
            self._restore(checkpoint)

    @property
    def finished(self) -> bool:
        done = len(self.history)
        stale = done - (self.best.epoch if self.best else 0)
        return self.first_nan is not None or done >= self.settings.epochs or stale >= self.settings.patience

    def next_epoch(self) -> Epoch:
        started, number = time.perf_counter(), len(self.history) + 1
        train_loss = self._train(number)
        valid_loss, valid_metric = self._validate()
        epoch = Epoch(number, train_loss, valid_loss, valid_metric, time.perf_counter() - started)
        self.history.append(epoch)
        if self.first_nan is None and (self.best is None or self._better(epoch, self.best)):
            self.best = epoch
            self.best_state = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        self._save()
        return epoch

    def _train(self, number: int) -> float:
        """One pass over the training items; the mean loss."""
        draw = np.random.SeedSequence([self.seed, number]).generate_state(2)
        seed_torch(int(draw[0]) + self.team.rank)
        batches = self.train
        if self.shuffled:
            ordered = self.problem.batches(self.problem.split.train, shuffle_seed=int(draw[1]))
            batches = self.team.parts(self.problem, ordered)
        self.model.train()
        total, count = 0.0, 0
        for k, batch in enumerate(batches):
            own = self._loss(batch, batch.outputs(self.model))
            own, value, terms = self.team.share(batch, self.problem.targets(batch), own)
            if not torch.isfinite(value):
                self.first_nan = f"epoch {number}, batch {k + 1}: {first_nan(self.model, batch)}"
                break
            self.optimizer.zero_grad()
            own.backward()
            self.team.add_gradients(self.model)
            self.optimizer.step()
            total, count = total + value.item() * terms, count + terms
        return total / max(count, 1)

    def _validate(self) -> tuple[float, float]:
        self.model.eval()
        with torch.no_grad():
            outputs = [(batch, batch.outputs(self.model)) for batch in self.valid]
        terms = [num_known_targets(self.problem.targets(batch)) for batch, _ in outputs]  # of each batch's mean
        sums = (float(self._loss(*given)) * number for given, number in zip(outputs, terms, strict=True))
        value = sum(sums) / max(sum(terms), 1)
        items = np.concatenate([batch.items for batch, _ in outputs])
        predicted = torch.cat([out for _, out in outputs]) * self.problem.scale + self.problem.shift
        score = self.problem.score(items, predicted) if torch.isfinite(predicted).all() else math.nan
        if not (math.isfinite(value) and math.isfinite(score)):
            self.first_nan = self.first_nan or f"epoch {len(self.history) + 1}, validation"
            return 0.0, 0.0
        return value, score

    def _loss(self, batch: Scored, outputs: Tensor) -> Tensor:
        problem = self.problem
        return loss(problem.dataset.task, outputs, problem.targets(batch), problem.class_weight)

    def _better(self, new: Epoch, old: Epoch) -> bool:
        """Whether an epoch improves on another; of equal metrics, the smaller loss."""
        if self.settings.monitor == "loss":
            return new.valid_loss < old.valid_loss
        rank = METRICS[self.problem.metric].rank
        return (rank(new.valid_metric), -new.valid_loss) > (rank(old.valid_metric), -old.valid_loss)

    def _save(self) -> None:
        if self.checkpoint is None or self.team.rank > 0:
            return
        last = self.finished and self.team.size > 1  # which is how a team hands over what it did
        if time.monotonic() - self.saved < REST and not last:
            return
        parts = {
            "model": self.model.state_dict(),
            "best": self.best_state,
            "optimizer": optimizer_tensors(self.optimizer),
        }
        tensors = {f"{part}.{name}": tensor for part, state in parts.items() for name, tensor in state.items()}
        rest = {
            "history": [asdict(epoch) for epoch in self.history],
            "best": None if self.best is None else self.best.epoch,
            "first_nan": self.first_nan,
        }
        save_checkpoint(self.checkpoint, self.identity, tensors, rest)
        self.saved = time.monotonic()

    def _restore(self, checkpoint: Path) -> None:
        found = load_checkpoint(checkpoint, self.identity)
        if found is None:
            return
        tensors, rest = found
        self.model.load_state_dict(_part("model", tensors))
        restore_optimizer(self.optimizer, _part("optimizer", tensors))
        self.best_state = _part("best", tensors)
        self.history = [Epoch(**epoch) for epoch in rest["history"]]
        self.best = None if rest["best"] is None else self.history[rest["best"] - 1]
        self.first_nan = rest["first_nan"]

    def result(self) -> Fitted:
        if self.best is None:
            raise InputError(
                f"training broke down in its first epoch ({self.first_nan} is not a finite number); "
                "try a smaller learning rate"
            )
        self.model.load_state_dict(self.best_state)
        self.model.cpu()
        best, chosen = self.best, dict[str, float]()
        if isinstance(self.model, FitsAfterwards) and self.team.size == 1:  # a team hands over to one process
            best, chosen = self._fit_afterwards(self.model, best)
        some = self.problem.split.train[: REPORTED * self.settings.batch_size]
        numerics = numerical_report(self.model, self.problem.stream(some), self.first_nan)
        return Fitted(self.model, best, tuple(self.history), numerics, chosen)

    def _fit_afterwards(self, model: FitsAfterwards, best: Epoch) -> tuple[Epoch, dict[str, float]]:
        """Let a model fit what belongs beside its network: (the best epoch with the scores of both together, what was
        chosen)."""
        self.model.eval()
        problem = self.problem
        train, valid = (
            loader.collate(loader.index) for loader in map(problem.batches, (problem.split.train, problem.split.valid))
        )

        def score(outputs: Tensor) -> float:
            found = problem.score(valid.items, outputs * problem.scale + problem.shift)
            return METRICS[problem.metric].rank(found)

        def part(positions: NDArray[Any]) -> Any:
            loader = problem.batches(train.items[positions])
            return loader.collate(loader.index).inputs

        task = problem.dataset.task  # without class weights: what is calibrated are probabilities as they are
        targets = {"y": problem.targets(train), "valid_y": problem.targets(valid), "task": task}
        chosen = model.fit_afterwards(
            train.inputs, valid.inputs, **targets, part=part, loss=partial(loss, task), score=score
        )
        valid_loss, valid_metric = self._validate()
        return replace(best, valid_loss=valid_loss, valid_metric=valid_metric), chosen


def _set_momentum(model: nn.Module, momentum: float) -> None:
    """The momentum of all running statistics, ours and torch's BatchNorm."""
    for module in model.modules():
        if hasattr(module, "running_mean"):
            vars(module)["momentum"] = momentum


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
    return Fitted(model, epoch, (epoch,), numerical_report(model, problem.stream(split.valid)))


def make_optimizer(model: nn.Module, settings: TrainingOptions) -> Optimizer:
    """Adam, or Riemannian Adam for points on manifolds (the hyperbolic head's)."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if settings.optimizer == "adam":
        # foreach: the same numbers, without a turn of Python for each parameter
        return Adam(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay, foreach=True)
    from geoopt.optim import RiemannianAdam

    return RiemannianAdam(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)


def _part(name: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    start = f"{name}."
    return {key.removeprefix(start): tensor for key, tensor in tensors.items() if key.startswith(start)}


@contextmanager
def _own_randomness(seed: int) -> Any:
    """Torch's generator, seeded, inside the block; as it was before, after it."""
    with forked_randomness():
        seed_torch(int(np.random.SeedSequence(seed).generate_state(1)[0]))
        yield
