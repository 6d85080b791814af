"""Who does the jobs: local processes or a Ray cluster, one thread for each job, so that numbers do not depend on it.

Ray keeps one copy of what jobs share on each node, in shared memory. A task gives its result back to the driver, which
writes it: nodes need the package, not our disk. A task that a worker or a node took with it is begun again elsewhere;
a driver that was killed takes its tasks with it, and one that starts anew finds the results of those that were done.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from wlhn.errors import InputError
from wlhn.evaluation.jobs import Shared, Started, share_here
from wlhn.loops.parallel import torch_threads
from wlhn.options.checks import check_choice
from wlhn.training.provenance import code_version
from wlhn.training.ray_cluster import connected, import_ray


@dataclass(frozen=True)
class Workers:
    """What `--executor`, `--jobs` and `--address` ask for: so many local processes, or a Ray cluster.

    >>> Workers("slurm")
    Traceback (most recent call last):
    wlhn.errors.InputError: --executor: must be local or ray, found 'slurm'
    """

    executor: str = "local"
    processes: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        check_choice("--executor", self.executor, "local", "ray")
        if self.executor == "local" and self.address is not None:
            raise InputError(f"--address {self.address} is that of a Ray cluster; add --executor ray")
        if self.executor == "ray" and self.processes is not None:
            raise InputError(
                "--jobs has no effect with --executor ray, which uses all CPUs of the cluster; leave it out"
            )
        if self.processes is not None and self.processes < 1:
            raise InputError(f"--jobs: must be 1 or more, found {self.processes}")

    def started(self, shared: Shared) -> AbstractContextManager[Started]:
        """Workers that have what the jobs of an evaluation share."""
        if self.executor == "local":
            return local_workers(self.processes or 1, shared)
        return ray_workers(self.address, shared)


@contextmanager
def local_workers(processes: int, shared: Shared) -> Iterator[Started]:
    """Worker processes with one thread each; for one, this process itself, with one thread.

    An interrupt ends the workers at once: what they lose is what came after the last checkpoint, an epoch or a second.
    """
    if processes == 1:
        with torch_threads(1):
            yield Started(None, shared, 1)
        return
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_start_worker, initargs=(shared,))
    try:
        yield Started(pool, None, processes)
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise


def _start_worker(shared: Shared) -> None:
    """One thread; deaf to Ctrl-C, which the parent handles; gone when the parent is gone."""
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    share_here(shared)


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


RETRIES = 5  # of a task whose worker or node died; a task that raises an error is not begun again


class RayExecutor(Executor):
    """Ray tasks as `concurrent.futures` has them."""

    def __init__(self) -> None:
        ray = import_ray()
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES)(_run_here)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._task.remote(code_version(), fn, *args, **kwargs).future()
        return future


@contextmanager
def ray_workers(address: str | None, shared: Shared) -> Iterator[Started]:
    """An executor of the cluster at an address, and a reference to what jobs share, of which each node has one copy.

    Leaving the block ends the tasks that are under way.
    """
    with connected(address):
        ray = import_ray()
        yield Started(RayExecutor(), ray.put(shared), int(ray.cluster_resources().get("CPU", 1)))


def _run_here(version: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """What a worker does. Other code could give other numbers, so it refuses."""
    if code_version() != version:
        raise InputError(
            f"{platform.node()} has wlhn {code_version()}, but the jobs come from {version}; install that version there"
        )
    with torch_threads(1):
        return fn(*args, **kwargs)
