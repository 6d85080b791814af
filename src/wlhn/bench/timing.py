"""How long and how much memory: contestants take turns, so that what else the machine does hits all alike."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from wlhn.documents import fields_to_json


class Measured:
    """The base of dataclasses of measurements: in JSON they also have what follows from their fields.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Square(Measured):
    ...     side: int
    ...     @property
    ...     def area(self) -> int:
    ...         return self.side**2
    >>> Square(3).to_json()
    {'side': 3, 'area': 9}
    """

    def to_json(self) -> dict[str, Any]:
        derived = [name for name, value in vars(type(self)).items() if isinstance(value, property)]
        return fields_to_json(self) | {name: getattr(self, name) for name in derived}


def alternate(contestants: Mapping[str, Callable[[], Any]], repeats: int, warm_up: int = 0) -> dict[str, float]:
    """The best time of each contestant, in seconds; each runs once in every round.

    The first `warm_up` rounds, in which loops are compiled and memory is found, do not count.

    >>> times = alternate({"wait": lambda: time.sleep(0.01), "nothing": lambda: None}, repeats=3)
    >>> times["wait"] > times["nothing"]
    True
    """
    best = dict.fromkeys(contestants, float("inf"))
    for k in range(warm_up + repeats):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            if k >= warm_up:
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
