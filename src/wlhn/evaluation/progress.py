"""How far an evaluation has come, for those who watch it."""

from __future__ import annotations

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
    at_once: int = 1
    after: int = 0  # jobs of phases that come after

    @property
    def ended(self) -> int:
        """Done or failed."""
        return self.done + self.failed

    @property
    def running(self) -> int:
        """
        >>> Progress("final runs", total=10, done=8, failed=1, at_once=4).running
        1
        """
        return min(self.at_once, self.total - self.ended)


OnProgress = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """Nobody watches."""
