"""Laws of loops on several threads: every row once, errors come through, whoever does the work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from wlhn.loops import parallel


@pytest.fixture(params=["torch's team", "our pool"])
def workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "our pool":
        monkeypatch.setattr(parallel, "_team", lambda: None)
    elif parallel._team() is None:
        pytest.skip("torch has another OpenMP than GNU's")
    with parallel.torch_threads(3):
        yield request.param


@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
def test_every_row_once(rows: int, workers: str) -> None:
    done = np.zeros(rows, int)

    def loop(first: int, last: int, step: int) -> None:
        done[first:last] += step

    parallel.over_rows(loop, rows, 100 * parallel.SMALL, 2)
    assert (done == 2).all()


def test_several_threads_work(workers: str) -> None:
    """Each waits until another has come, so one alone would never end."""
    meeting = threading.Barrier(2, timeout=60)

    def loop(first: int, last: int) -> None:
        meeting.wait()

    with parallel.torch_threads(2):
        parallel.over_rows(loop, 2, 100 * parallel.SMALL)


def test_errors_come_through(workers: str) -> None:
    def loop(first: int, last: int) -> None:
        raise ZeroDivisionError(first)

    with pytest.raises(ZeroDivisionError):
        parallel.over_rows(loop, 10, 100 * parallel.SMALL)


def test_little_work_stays_here(workers: str) -> None:
    seen: list[Any] = []

    def loop(first: int, last: int) -> None:
        seen.append((first, last, threading.current_thread()))

    parallel.over_rows(loop, 10, parallel.SMALL - 1)
    assert seen == [(0, 10, threading.current_thread())]


def test_torch_goes_on_after_it(workers: str) -> None:
    x = torch.rand(500, 500)
    before = x @ x
    parallel.over_rows(lambda first, last: None, 10, 100 * parallel.SMALL)
    assert torch.equal(x @ x, before)
