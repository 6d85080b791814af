"""Jobs on a Ray cluster: tasks of one CPU and one thread each.

Ray keeps one copy of the data set on each node, in shared memory. A task gives its result back to the driver, which
writes it: nodes need the package, not our disk. A task that a worker or a node took with it is begun again elsewhere;
a driver that was killed takes its tasks with it, and one that starts anew finds the results of those that were done.
"""

from __future__ import annotations

import logging
import platform
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np

from wlhn.errors import InputError
from wlhn.evaluation.executor import RemoteExecutor, torch_threads
from wlhn.evaluation.provenance import code_version

RETRIES = 5  # of a task whose worker or node died; a task that raises an error is not begun again


class RayExecutor(RemoteExecutor):
    """Ray tasks as `concurrent.futures` has them."""

    def __init__(self) -> None:
        ray = import_ray()
        self._put = ray.put
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES)(_run_here)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._task.remote(code_version(), fn, *args, **kwargs).future()
        return future

    def share(self, value: Any) -> Any:
        return self._put(value)


@contextmanager
def ray_executor(address: str | None = None) -> Iterator[Executor]:
    """An executor of the cluster at an address; leaving the block ends the tasks that are under way."""
    with connected(address):
        yield RayExecutor()


@contextmanager
def connected(address: str | None = None) -> Iterator[None]:
    """With the cluster at an address (HOST:PORT); else that of RAY_ADDRESS, or of this machine, or a new one on it.

    Where Ray is in use already, it stays as it is.
    """
    ray = import_ray()
    before = ray.is_initialized()
    with redirect_stdout(sys.stderr):  # where Ray tells of workers that died: standard output is for results
        if not before:
            _check_answers(address)
            ray.init(address, logging_level=logging.ERROR, log_to_driver=False, include_dashboard=False)
            # A memory map would be copied by every worker; a plain array lies in the node's shared memory.
            ray.util.register_serializer(np.memmap, serializer=np.asarray, deserializer=np.asarray)
        try:
            yield
        finally:
            if not before:
                ray.shutdown()


def import_ray() -> Any:
    """Ray, or a sentence that says how to get it."""
    try:
        import ray
    except ImportError:
        raise InputError("Ray is not installed: expected it here and on each node (pip install 'wlhn[ray]')") from None
    return ray


def _check_answers(address: str | None) -> None:
    """Somebody listens at HOST:PORT; Ray itself tries for minutes, and then ends the process."""
    if address in (None, "auto", "local") or "://" in address:
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, ValueError) as error:
        raise InputError(f"--address {address}: expected HOST:PORT of a Ray cluster ({error})") from None


def _run_here(version: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """What a worker does. Other code could give other numbers, so it refuses."""
    if code_version() != version:
        raise InputError(f"wlhn {code_version()} on {platform.node()}, expected {version} as where the jobs come from")
    with torch_threads(1):
        return fn(*args, **kwargs)
