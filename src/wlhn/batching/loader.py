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

from wlhn.batching.quotient import Quotient
from wlhn.graphs import Graphs
from wlhn.hierarchy import refine

Batch = TypeVar("Batch")


def make_quotient(
    graphs: Graphs, x: NDArray[Any], iterations: int, edges: bool = False, nodes: bool = False
) -> Quotient:
    """Refine graphs from the rows of x, exactly what a model of this depth can tell apart, and make them ready.

    With `edges`, edge labels (or rows of edge_attr) count, one-hot unless they are categories already.

    >>> path = Graphs.from_edges([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> make_quotient(path, np.ones((3, 1), np.float32), iterations=1).batch([0]).num_rows
    [1, 2]
    """
    hierarchy = refine(graphs, iterations, initial=_start(graphs, x), edge_labels=edges)
    edge_x = None
    if edges:
        assert hierarchy.edge_values is not None
        values = hierarchy.edge_values
        edge_x = torch.from_numpy(values if values.ndim == 2 else np.arange(len(values))[:, None])
    return Quotient(hierarchy, torch.from_numpy(np.array(x[hierarchy.representatives[0]])), edge_x, nodes)


def _start(graphs: Graphs, x: NDArray[Any]) -> NDArray[Any]:
    """A start that separates nodes just as the rows of x do: one-hot rows are cheaper to tell apart by their column."""
    if x.shape[1] > 1 and np.issubdtype(x.dtype, np.floating):
        column = x.argmax(axis=1)
        if np.count_nonzero(x) == len(x) and (x[np.arange(len(x)), column] == 1).all():
            return column
    return x


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
