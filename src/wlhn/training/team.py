"""Workers that train one model together: each takes a part of every batch, and they add up what they find.

The step of N workers is that of one with the whole batch, up to rounding. Parts are about equal in work, which is rows
and the entries between them, not graphs. The loss of a part counts by its share of the batch's known targets, gradients
are added up, and so are the sums behind BatchNorm (`wlhn.nn.synchronised`). Dropout is drawn by each worker for its
part. A batch with fewer graphs than workers is done by all of them alike, dropout and all: they must not drift apart.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn

from wlhn.batching.loader import Loader
from wlhn.nn.synchronised import normalise_together
from wlhn.training.loss import num_known_targets
from wlhn.training.problem import Problem, Scored


class Team:
    """A worker alone, with nobody to add up with."""

    rank, size = 0, 1

    def join(self, model: nn.Module) -> None:
        """Train a model together from here on."""

    def parts(self, problem: Problem, loader: Loader[Scored]) -> Loader[Scored]:
        """One's own part of each batch."""
        return loader

    def share(self, batch: Scored, y: Tensor, loss: Tensor) -> tuple[Tensor, Tensor, int]:
        """(one's share in the mean loss of the whole batch, that loss, the known targets that it is the mean of)."""
        return loss, loss, num_known_targets(y)

    def add_gradients(self, model: nn.Module) -> None:
        """Make gradients those of the whole batch."""


@dataclass(frozen=True, eq=False)
class BatchPart(Scored):
    """A worker's part of a batch, or all of it where the batch is too small to have parts."""

    team: DistributedTeam
    whole: bool

    def outputs(self, model: nn.Module) -> Tensor:
        self.team.apart = self.whole
        if not self.whole:
            return super().outputs(model)
        with forked_randomness():
            seed_torch(torch.initial_seed() - self.team.rank)  # the epoch's, to which each added its rank
            return super().outputs(model)


class DistributedTeam(Team):
    """The processes of torch's default group."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.apart = False  # whether all do the same batch now, instead of a part each
        self.work: NDArray[Any] | None = None  # of each graph

    def join(self, model: nn.Module) -> None:
        normalise_together(model, self.everyone)

    def everyone(self, part: Tensor) -> Tensor:
        """The sum over all parts of the batch at hand; differentiable."""
        return part if self.apart else _Sum.apply(part)

    def parts(self, problem: Problem, loader: Loader[Scored]) -> Loader[Scored]:
        work = self.work = problem.collator.work() if self.work is None else self.work

        def collate(index: NDArray[Any]) -> Scored:
            whole = len(index) < self.size
            mine = index if whole else index[balanced_parts(work[index], self.size)[self.rank]]
            scored = loader.collate(mine)
            return BatchPart(**vars(scored), team=self, whole=whole)

        return Loader(collate, loader.index, loader.batch_size, loader.shuffle, loader.seed, keep=loader.keep)

    def share(self, batch: Scored, y: Tensor, loss: Tensor) -> tuple[Tensor, Tensor, int]:
        known = num_known_targets(y)
        total, all_known = _sum(torch.tensor([known * loss.item(), known], dtype=torch.float64))
        terms = int(all_known) // self.size if self.apart else int(all_known)
        all_known = all_known.clamp_min(1)
        return loss * float(known / all_known), total / all_known, terms

    def add_gradients(self, model: nn.Module) -> None:
        given = [p.grad for p in model.parameters() if p.grad is not None]
        flat = _sum(torch.cat([grad.reshape(-1) for grad in given]))
        for grad, total in zip(given, flat.split([grad.numel() for grad in given]), strict=True):
            grad.copy_(total.view_as(grad))


def forked_randomness() -> AbstractContextManager[None]:
    """Torch's generators, of the CPU and of the GPU in use, after the block as they were before it."""
    return torch.random.fork_rng([torch.cuda.current_device()] if torch.cuda.is_initialized() else [])


def seed_torch(seed: int) -> None:
    """`torch.manual_seed`, which without a GPU in use remembers the call and its stack each time, in vain.

    >>> with forked_randomness():
    ...     seed_torch(3)
    ...     torch.initial_seed()
    3
    """
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)


def balanced_parts(work: NDArray[Any], parts: int) -> list[NDArray[np.int64]]:
    """Positions in parts of about equal work: the largest first, each to whoever has least; in order within a part.

    >>> [part.tolist() for part in balanced_parts(np.array([1, 9, 4, 5]), 2)]
    [[0, 1], [2, 3]]
    """
    load, owner = np.zeros(parts), np.empty(len(work), np.int64)
    for k in np.argsort(-work, kind="stable"):
        owner[k] = load.argmin()
        load[owner[k]] += work[k]
    return [np.flatnonzero(owner == part) for part in range(parts)]


def _sum(part: Tensor) -> Tensor:
    total = part.clone()
    dist.all_reduce(total)
    return total


class _Sum(torch.autograd.Function):
    """The sum over workers. What any of them makes of it depends on each part alike, so gradients are added up too."""

    @staticmethod
    def forward(ctx: Any, part: Tensor) -> Tensor:
        return _sum(part)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return _Sum.apply(grads[0].contiguous())
