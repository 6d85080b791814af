"""Compiled loops on several threads: as many as torch may use, so one setting rules both.

They are torch's own threads, where its OpenMP can be reached (GNU's, on Linux). After each of its operations these spin
for a while, ready for the next; other threads, woken meanwhile, would have to wait for a core. Elsewhere a pool of ours
does the work, and has to be given more of it to be worth the wait.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

SMALL = 500_000  # work (numbers touched) that is worth a thread of its own
SLEEPY = 8  # how much more of it, if the thread has to be woken
PARTS = 2  # for each thread of the team: whoever comes first takes the next


def compiled_for(tensor: Tensor) -> bool:
    """Whether compiled loops can work on a tensor; elsewhere (CUDA, …) plain torch does the same."""
    return tensor.device.type == "cpu"


def over_rows(loop: Callable[..., None], rows: int, work: int, *args: Any) -> None:
    """call loop(start, stop, *args) on ranges that cover 0 … rows, on several threads if that is worth it.

    The loop must release the GIL (numba's `nogil`) and write to its own rows only; then the result does not depend
    on the number of threads. `work` is about how many numbers the whole loop touches.
    """
    if work < SMALL:
        loop(0, rows, *args)
        return
    import torch  # here, because refinement alone does without it until there is something to do

    team = _team()
    threads = min(torch.get_num_threads(), 1 + work // (SMALL * SLEEPY if team is None else SMALL), rows)
    if threads <= 1:
        loop(0, rows, *args)
    elif team is None:
        ranges = _ranges(rows, threads)
        jobs = [_pool(threads - 1).submit(loop, *part, *args) for part in ranges[1:]]
        loop(*ranges[0], *args)
        for job in jobs:
            job.result()
    else:
        _run_in_team(team, threads, loop, _ranges(rows, min(PARTS * threads, rows)), args)


def _ranges(rows: int, parts: int) -> list[tuple[int, int]]:
    return [(rows * i // parts, rows * (i + 1) // parts) for i in range(parts)]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="wlhn")


@cache
def _team() -> Any:
    """`GOMP_parallel` of the OpenMP that torch has loaded; None if it has another, or none."""
    if sys.platform != "linux":
        return None
    try:
        run = ctypes.CDLL("libgomp.so.1", mode=os.RTLD_NOLOAD).GOMP_parallel
    except (OSError, AttributeError):
        return None
    run.argtypes, run.restype = (_Task, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint), None
    return run


_Task = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _run_in_team(
    team: Any, threads: int, loop: Callable[..., None], ranges: list[tuple[int, int]], args: tuple[Any, ...]
) -> None:
    """Each thread takes range after range; the GIL, held outside of loops, makes that safe."""
    waiting, errors = iter(ranges), []

    def take(_: Any) -> None:
        try:
            for first, last in waiting:
                loop(first, last, *args)
        except BaseException as error:  # must not end in C
            errors.append(error)

    team(_Task(take), None, threads, 0)
    if errors:
        raise errors[0]


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
