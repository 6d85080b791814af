"""What one can ask of an experiment: which part of it, how thoroughly, and where the results go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wlhn.errors import InputError, UnavailableError
from wlhn.evaluation import DEFAULT_GRID
from wlhn.evaluation.executor import Workers
from wlhn.evaluation.progress import Progress

Say = Callable[[str, Progress], None]  # which part, how far it is


def say_nothing(part: str, progress: Progress) -> None:
    """Keep progress to oneself."""


@dataclass(frozen=True)
class Request:
    """A part of an experiment. Where no `datasets`, `models`, `splits` or `final_runs` are given, all there are."""

    folder: Path  # of all results
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    grid: str = DEFAULT_GRID
    splits: int | None = None
    final_runs: int | None = None
    seed: int = 0
    workers: Workers = Workers()  # noqa: RUF009  (frozen)
    retry_failed: bool = False
    check: int | None = None  # so many final runs of each stored result are done again, instead of what is missing
    data_root: str | None = None
    say: Say = say_nothing  # hears of progress


@dataclass(frozen=True)
class Finished:
    """What became of one part: its result in words, or why there is none."""

    part: str
    shown: str = ""
    failed: str = ""
    skipped: str = ""

    @staticmethod
    def without_result(part: str, error: InputError) -> Finished:
        """A part that is skipped because its data are not to be had, or that failed."""
        why = str(error)
        return Finished(part, skipped=why) if isinstance(error, UnavailableError) else Finished(part, failed=why)

    @property
    def verdict(self) -> str:
        """In one line.

        >>> Finished("MUTAG, gin", skipped="no data").verdict
        'skipped: no data'
        """
        return self.shown or f"{self.state}: {self.said}"

    @property
    def state(self) -> str:
        """In a word."""
        return "failed" if self.failed else "skipped" if self.skipped else "done"

    @property
    def said(self) -> str:
        """The result, or the reason that there is none."""
        return self.shown or self.failed or self.skipped
