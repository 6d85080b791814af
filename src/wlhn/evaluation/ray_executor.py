"""Jobs on a Ray cluster: tasks of one CPU and one thread each.

Ray keeps one copy of what jobs share on each node, in shared memory. A task gives its result back to the driver, which
writes it: nodes need the package, not our disk. A task that a worker or a node took with it is begun again elsewhere;
a driver that was killed takes its tasks with it, and one that starts anew finds the results of those that were done.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from wlhn.errors import InputError
from wlhn.evaluation.jobs import Shared, Started
from wlhn.loops.parallel import torch_threads
from wlhn.training.provenance import code_version
from wlhn.training.ray_cluster import connected, import_ray

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
