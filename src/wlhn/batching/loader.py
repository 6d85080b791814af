"""Batches, ready when the model wants them: colour batches are put together ahead of the step, in a thread."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

Batch = TypeVar("Batch")


def core_to_spare() -> bool:
    """Whether this process may use more cores than torch does; a thread that competes with torch's only costs."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return cores > torch.get_num_threads()


class Loader(Generic[Batch]):
    """Iterates over batches of positions: shuffled anew every time from one seed, or always the same ones.

    `collate` makes a batch of an array of positions. Fixed batches are made once and kept (unless not to
    `keep`); others are made ahead of their use by a thread, where torch leaves a core for it.

    >>> [batch.tolist() for batch in Loader(lambda index: index, np.array([3, 5, 8]), batch_size=2)]
    [[3, 5], [8]]
    """

    def __init__(
        self,
        collate: Callable[[NDArray[Any]], Batch],
        index: NDArray[Any],
        batch_size: int,
        shuffle: bool = False,
        seed: int = 0,
        ahead: int = 2,
        keep: bool = True,
    ) -> None:
        self.collate, self.index, self.batch_size, self.ahead = collate, np.asarray(index), batch_size, ahead
        self.shuffle, self.seed, self.keep, self.random = shuffle, seed, keep, np.random.default_rng(seed)
        self._kept: list[Batch] | None = None

    def __len__(self) -> int:
        return -(-len(self.index) // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        if not self.shuffle and self.keep:
            if self._kept is None:
                self._kept = list(map(self.collate, self._parts(self.index)))
            return iter(self._kept)
        parts = self._parts(self.random.permutation(self.index) if self.shuffle else self.index)
        return self._ahead(parts) if core_to_spare() else map(self.collate, parts)

    def _parts(self, index: NDArray[Any]) -> list[NDArray[Any]]:
        return [index[i : i + self.batch_size] for i in range(0, len(index), self.batch_size)]

    def _ahead(self, parts: list[NDArray[Any]]) -> Iterator[Batch]:
        with ThreadPoolExecutor(1, thread_name_prefix="wlhn-loader") as pool:
            waiting: deque[Future[Batch]] = deque()
            for part in parts:
                waiting.append(pool.submit(self.collate, part))
                if len(waiting) > self.ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
