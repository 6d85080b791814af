"""What one can ask of an experiment: which part of it, how thoroughly, and where the results go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Say = Callable[[str, str, int, int], None]  # (what, phase, done, total)


def _silent(what: str, phase: str, done: int, total: int) -> None:
    pass


@dataclass(frozen=True)
class Request:
    """A part of an experiment. Where no `datasets`, `models`, `splits` or `final_runs` are given, all there are."""

    folder: Path  # of all results
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    grid: str = "lean"
    splits: int | None = None
    final_runs: int | None = None
    seed: int = 0
    jobs: int | None = None  # local processes; 1 where None
    executor: str = "local"  # who does the jobs, see `executor_named`
    address: str | None = None
    retry_failed: bool = False
    check: int | None = None  # so many final runs of each stored result are done again, instead of what is missing
    data_root: str | None = None
    say: Say = _silent  # hears of progress


@dataclass(frozen=True)
class Done:
    """What became of one part: its result in words, or why there is none."""

    part: str
    shown: str = ""
    failed: str = ""
    skipped: str = ""

    @property
    def verdict(self) -> str:
        """In one line.

        >>> Done("MUTAG, gin", skipped="no data").verdict
        'skipped: no data'
        """
        return self.shown or (f"failed: {self.failed}" if self.failed else f"skipped: {self.skipped}")
