"""How long and how much memory: contestants take turns, so that what else the machine does hits all alike."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch


def alternate(contestants: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The best time of each contestant, in seconds; each runs once in every round.

    >>> times = alternate({"wait": lambda: time.sleep(0.01), "nothing": lambda: None}, repeats=3)
    >>> times["wait"] > times["nothing"]
    True
    """
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(repeats):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def peak_memory() -> int:
    """The largest resident size of this process so far, in bytes."""
    status = Path("/proc/self/status")  # Linux; getrusage would count what the parent had when it started us
    if status.exists():
        return 1024 * int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def reset_peak_memory() -> int:
    """Let the peak start anew from what is resident now, where the system can (Linux); the peak there is, in bytes."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch, and with it our compiled loops, use this many threads for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
