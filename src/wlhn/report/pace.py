"""How fast work goes."""

from __future__ import annotations

import time


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
