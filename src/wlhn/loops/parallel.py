"""Compiled loops on several threads: as many as torch may use, so one setting rules both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

# Work (numbers touched) that is worth a thread of its own. Not less: torch's own threads keep spinning for a while
# after each of its operations, and a thread of ours that wakes up meanwhile has to wait for a core.
SMALL = 4_000_000


def compiled_for(tensor: Tensor) -> bool:
    """Whether compiled loops can work on a tensor; elsewhere (CUDA, bfloat16, …) plain torch does the same."""
    import torch  # here, because refinement alone does without it

    return tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64)


def arrays(*tensors: Tensor) -> tuple[Any, ...]:
    """What compiled loops see of tensors: the same numbers, without their gradients."""
    return tuple(tensor.detach().numpy() for tensor in tensors)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="wlhn")


def over_rows(loop: Callable[..., None], rows: int, work: int, *args: Any) -> None:
    """call loop(start, stop, *args) on ranges that cover 0 … rows, one thread each.

    The loop must release the GIL (numba's `nogil`) and write to its own rows only; then the result does not depend
    on the number of threads. `work` is about how many numbers the whole loop touches.
    """
    if work < SMALL:  # not worth asking how many threads there are
        loop(0, rows, *args)
        return
    import torch  # here, because refinement alone does without it until there is something to do

    threads = min(torch.get_num_threads(), 1 + work // SMALL, rows)
    if threads <= 1:
        loop(0, rows, *args)
        return
    bounds = [rows * i // threads for i in range(threads + 1)]
    jobs = [_pool(threads - 1).submit(loop, bounds[i], bounds[i + 1], *args) for i in range(1, threads)]
    loop(bounds[0], bounds[1], *args)
    for job in jobs:
        job.result()


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """So many threads for torch and the compiled loops inside the block; as before after it."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
