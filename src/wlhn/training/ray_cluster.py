"""The Ray cluster that training and evaluation share: finding it, joining it, leaving it as it was."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np

from wlhn.errors import InputError


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
        raise InputError("Ray is not installed; install it here and on each node (pip install 'wlhn[ray]')") from None
    return ray


def _check_answers(address: str | None) -> None:
    """Somebody listens at HOST:PORT; Ray itself tries for minutes, and then ends the process."""
    if address in (None, "auto", "local") or "://" in address:
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, ValueError) as error:
        raise InputError(f"--address {address}: must be HOST:PORT of a Ray cluster that is running ({error})") from None
