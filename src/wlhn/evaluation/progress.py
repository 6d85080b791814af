"""How far an evaluation has come, and how fast, for those who watch it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

PROGRESS = "progress.html"  # the page about an evaluation under way, in its folder


@dataclass(frozen=True)
class Progress:
    """The jobs of one phase of some work."""

    phase: str
    total: int
    done: int = 0  # with a result
    failed: int = 0
    parallel_jobs: int = 1
    after: int = 0  # jobs of phases that come after

    @property
    def ended(self) -> int:
        """Done or failed."""
        return self.done + self.failed

    @property
    def running(self) -> int:
        """
        >>> Progress("final runs", total=10, done=8, failed=1, parallel_jobs=4).running
        1
        """
        return min(self.parallel_jobs, self.total - self.ended)


OnProgress = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """Hear of progress and do nothing."""


class Pace:
    """How fast work goes, from the first call on, or from where a count that fell back says that new work began."""

    def __init__(self, unit: str) -> None:
        self.unit, self.start, self.first, self.last = unit, time.monotonic(), 0, -1

    def per_second(self, done: int) -> float:
        """Pieces of work a second; 0 as long as nothing is known."""
        if self.last < 0 or done < self.last:
            self.start, self.first = time.monotonic(), done
        self.last = done
        return (done - self.first) / max(time.monotonic() - self.start, 1e-9)

    def rate(self, done: int) -> str:
        """In words."""
        speed = self.per_second(done)
        return f"{speed:.1f} {self.unit}/s" if speed >= 1 or not speed else f"{1 / speed:.1f} s/{self.unit}"

    def remaining(self, done: int, total: int) -> str:
        """How much longer, in words."""
        speed = self.per_second(done)
        return f"{(total - done) / speed:.0f} s" if speed else "unknown time"
