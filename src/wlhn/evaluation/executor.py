"""Who does the jobs: local processes or a Ray cluster, one thread for each job, so that numbers do not depend on it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, runtime_checkable

from wlhn.errors import InputError
from wlhn.loops.parallel import torch_threads
from wlhn.models.settings import one_of


@runtime_checkable
class SharesData(Protocol):
    """An executor whose workers may be on machines that see other disks."""

    def share(self, value: Any) -> Any:
        """Something to submit in place of a value, which so travels once to each machine."""


def along(executor: Executor | None, dataset: Any) -> Any:
    """What to send along with jobs on a data set: what a remote executor shares; others load it by its name."""
    return executor.share(dataset) if isinstance(executor, SharesData) else None


def executor_named(
    kind: str, processes: int | None = None, address: str | None = None
) -> AbstractContextManager[Executor | None]:
    """The executor that `--executor`, `--jobs` and `--address` ask for: so many local processes, or a Ray cluster.

    >>> executor_named("slurm")
    Traceback (most recent call last):
    wlhn.errors.InputError: executor: expected local or ray, found 'slurm'
    """
    one_of("executor", kind, "local", "ray")
    if kind == "local":
        if address is not None:
            raise InputError(f"--address {address}: of a Ray cluster, expected --executor ray with it")
        return local_executor(1 if processes is None else processes)
    if processes is not None:
        raise InputError(f"--jobs {processes}: as many run as the cluster has CPUs, expected none with --executor ray")
    from wlhn.evaluation.ray_executor import ray_executor

    return ray_executor(address)


@contextmanager
def local_executor(processes: int) -> Iterator[Executor | None]:
    """Worker processes with one thread each; for one, this process itself, with one thread.

    An interrupt ends the workers at once: what they lose is what came after the last checkpoint, an epoch or a second.
    """
    if processes < 1:
        raise InputError(f"jobs: expected 1 or more, found {processes}")
    if processes == 1:
        with torch_threads(1):
            yield None
        return
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_start_worker)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise


def _start_worker() -> None:
    """One thread; deaf to Ctrl-C, which the parent handles; gone when the parent is gone."""
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
