"""One network's run: epochs, early stopping on the validation items, a checkpoint after each epoch, or each second.

What is random in an epoch (order of batches, dropout) is drawn from (seed, epoch) alone. So a run that was killed goes
on from its last checkpoint as if nothing had happened, and gives the same numbers bit for bit.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from wlhn.batching.loader import Loader
from wlhn.errors import InputError
from wlhn.options.portable import is_portable
from wlhn.options.training import TrainingOptions
from wlhn.training.adam import Adam
from wlhn.training.checkpoint import load_checkpoint, optimizer_tensors, restore_optimizer, save_checkpoint
from wlhn.training.loss import loss, num_known_targets
from wlhn.training.metrics import METRICS
from wlhn.training.numerics import first_nan
from wlhn.training.problem import Problem, Scored
from wlhn.training.provenance import code_version, data_hash
from wlhn.training.team import Team, seed_torch

REST = 1.0  # seconds between checkpoints: one after each epoch of 10 ms would take twice as long as the epoch


@dataclass(frozen=True)
class Epoch:
    """What happened in one epoch."""

    epoch: int  # from 1
    train_loss: float
    valid_loss: float
    valid_metric: float
    seconds: float


@dataclass(frozen=True)
class History:
    """What happened in the run of a network."""

    epochs: tuple[Epoch, ...]
    best: Epoch
    first_nan: str | None = None  # where numbers broke down, which is in the last epoch

    @property
    def sound(self) -> tuple[Epoch, ...]:
        """The epochs in which all numbers were finite."""
        return self.epochs if self.first_nan is None else self.epochs[:-1]


class NetworkRun:
    """The state of a network's run between two epochs, which is what a checkpoint holds; `before` are the epochs of
    networks that were trained before it."""

    def __init__(
        self, problem: Problem, model: nn.Module, seed: int, checkpoint: Path | None, team: Team, before: int = 0
    ) -> None:
        self.problem, self.seed, self.checkpoint, self.team, self.before = problem, seed, checkpoint, team, before
        self.settings, split = problem.settings.network, problem.split
        self.model = model
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
            run = [problem.settings.to_json(), split.hash, seed, data_hash(problem.dataset), before]
            self.identity = repr([code_version(), is_portable(), *run])  # what other instructions began is not mixed
            self._restore(checkpoint)

    @property
    def finished(self) -> bool:
        done = len(self.history)
        stale = done - (self.best.epoch - self.before if self.best else 0)
        return self.first_nan is not None or done >= self.settings.epochs or stale >= self.settings.patience

    def next_epoch(self) -> Epoch:
        started, number = time.perf_counter(), self.before + len(self.history) + 1
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
        found = validated(self.problem, self.model, self.valid)
        if found is None:
            self.first_nan = self.first_nan or f"epoch {self.before + len(self.history) + 1}, validation"
        return found or (0.0, 0.0)

    def _loss(self, batch: Scored, outputs: Tensor) -> Tensor:
        return _loss(self.problem, batch, outputs)

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
        self.best = None if rest["best"] is None else self.history[rest["best"] - self.before - 1]
        self.first_nan = rest["first_nan"]

    def end(self) -> History:
        """What happened; the network is then on the CPU, as it was after its best epoch."""
        if self.best is None:
            raise InputError(
                f"training broke down in its first epoch ({self.first_nan} is not a finite number); "
                "try a smaller learning rate"
            )
        self.model.load_state_dict(self.best_state)
        self.model.cpu()
        return History(tuple(self.history), self.best, self.first_nan)


def validated(problem: Problem, model: nn.Module, batches: Loader[Scored]) -> tuple[float, float] | None:
    """(loss, metric) of validation items; None where one of them is not a finite number."""
    model.eval()
    with torch.no_grad():
        outputs = [(batch, batch.outputs(model)) for batch in batches]
    terms = [num_known_targets(problem.targets(batch)) for batch, _ in outputs]  # of each batch's mean
    sums = (float(_loss(problem, *given)) * number for given, number in zip(outputs, terms, strict=True))
    value = sum(sums) / max(sum(terms), 1)
    items = np.concatenate([batch.items for batch, _ in outputs])
    predicted = torch.cat([out for _, out in outputs]) * problem.scale + problem.shift
    score = problem.score(items, predicted) if torch.isfinite(predicted).all() else math.nan
    return (value, score) if math.isfinite(value) and math.isfinite(score) else None


def _loss(problem: Problem, batch: Scored, outputs: Tensor) -> Tensor:
    return loss(problem.dataset.task, outputs, problem.targets(batch), problem.class_weight)


def _set_momentum(model: nn.Module, momentum: float) -> None:
    """The momentum of all running statistics, ours and torch's BatchNorm."""
    for module in model.modules():
        if hasattr(module, "running_mean"):
            vars(module)["momentum"] = momentum


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
