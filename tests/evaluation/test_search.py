"""A search is a pure function of grid, seed and results; it learns, stops the hopeless, and sees no test items."""

import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import wlhn
from tiny import tiny

from wlhn.data import Dataset
from wlhn.errors import InputError
from wlhn.evaluation.evaluate import Evaluation
from wlhn.evaluation.jobs import Job, JobResult
from wlhn.evaluation.outcome import Outcome
from wlhn.evaluation.progress import Progress
from wlhn.evaluation.protocols import ten_fold
from wlhn.evaluation.search import Trial, search_each_split
from wlhn.training.numerics import Numerics
from wlhn.training.settings import Settings

pytest.importorskip("optuna", reason="needs optuna")
GRID = [
    Settings.of(hidden_channels=d, num_layers=t, dropout=p, learning_rate=rate, epochs=90)
    for d, t, p, rate in product((16, 32, 64), (1, 2, 3, 4, 5), (0.0, 0.5), (0.001, 0.003, 0.01, 0.03))
]


def worth(settings: Settings) -> float:
    """A score that has one peak, at 64 channels, 3 layers, no dropout and a rate of 0.01."""
    values = settings.to_json()
    rate = abs(np.log(values["learning_rate"] / 0.01))
    return float(0.9 - 0.1 * rate - 0.05 * abs(values["num_layers"] - 3) - 0.002 * (64 - values["hidden_channels"]))


def imagined(rounds: list[list[Trial]], grid: list[Settings] = GRID) -> Any:
    """Results without training: half of the worth is there after a ninth of the epochs, most of it after a third."""

    def run(phase: str, asked: list[Trial]) -> list[JobResult]:
        rounds.append(asked)
        results = []
        for split, candidate, stops in asked:
            valid = worth(grid[candidate])
            reached = [valid / 2, valid * 0.9]
            missed = [k for k, (_, least) in enumerate(stops) if reached[k] < least]
            reached = reached[: missed[0] + 1] if missed else reached
            job = Job("D", "d", "ten-fold", 0, split, "s", grid[candidate], 0, test=False)
            valid = reached[-1] if missed else valid
            sound, curve = Numerics(None, None, 0.0, 0.0), tuple(reached)
            results.append(
                JobResult(job, "accuracy", valid, 0.0, None, 1, 1, curve, bool(missed), sound, "v", "m", 1.0)
            )
        return results

    return run


def test_choices_depend_on_the_seed_alone_and_a_longer_search_begins_with_the_shorter() -> None:
    rounds: list[list[Trial]] = []
    found = search_each_split(GRID, 20, splits=2, seed=1, run=imagined(rounds))
    again: list[list[Trial]] = []
    assert search_each_split(GRID, 20, splits=2, seed=1, run=imagined(again)) == found
    assert again == rounds
    shorter = search_each_split(GRID, 13, splits=1, seed=1, run=imagined([]))
    assert shorter == [row[:13] for row in found[:1]]
    assert search_each_split(GRID, 20, splits=2, seed=2, run=imagined([])) != found
    assert found[0] != found[1]  # each split has a search of its own


def test_with_time_enough_everything_is_tried_once() -> None:
    some = GRID[::7]  # not all combinations of their values
    (row,) = search_each_split(some, 1000, splits=1, seed=0, run=imagined([], some))
    assert sorted(candidate for candidate, _ in row) == list(range(len(some)))


def test_it_learns_and_what_it_stops_was_not_the_best() -> None:
    found = search_each_split(GRID, 30, splits=5, seed=0, run=imagined([]))
    average = np.mean([worth(settings) for settings in GRID])
    early = [worth(GRID[candidate]) for row in found for candidate, _ in row[:10]]
    late = [worth(GRID[candidate]) for row in found for candidate, _ in row[15:]]
    assert abs(np.mean(early) - average) < 0.05
    assert np.mean(late) > average + 0.05
    for row in found:
        stopped = [worth(GRID[candidate]) for candidate, result in row if result.stopped]
        assert stopped
        assert max(stopped) < max(worth(GRID[candidate]) for candidate, _ in row)


CANDIDATES = [
    Settings.of(hidden_channels=8, num_layers=t, learning_rate=rate, epochs=9, dropout=p)
    for t, rate, p in product((1, 2), (0.03, 0.01, 1e-5), (0.0, 0.5))
]


def run(data: Dataset, out: Path, trials: int = 10, **more: Any) -> Outcome:
    """A search on two splits, given as published; of what may differ, nothing."""
    outcome = Evaluation(data, CANDIDATES, out, protocol="fixed-splits", search=trials, **more).run()
    return replace(outcome, work=replace(outcome.work, seconds=0.0), plan=replace(outcome.plan, data_hash=""))


def names(out: Path) -> set[str]:
    return {path.name for path in (out / "jobs").iterdir()}


class KilledError(Exception):
    pass


def test_a_search_that_was_interrupted_ends_in_the_same_place(tmp_path: Path) -> None:
    data = tiny(60)
    data = replace(data, splits=tuple(ten_fold(data, 0)[:2]))
    whole = run(data, tmp_path / "whole")
    visited = whole.visited
    assert (visited.grid, visited.per_split, whole.work.jobs) == (12, 10, 22)
    assert 10 <= visited.in_all <= 12
    assert visited.stopped > 0

    def die(progress: Progress) -> None:
        if "6 to 10" in progress.phase and progress.done == 4:
            raise KilledError

    with pytest.raises(KilledError):
        run(data, tmp_path / "torn", on_progress=die)
    assert len(names(tmp_path / "torn")) == 14
    assert run(data, tmp_path / "torn") == whole
    assert names(tmp_path / "torn") == names(tmp_path / "whole")
    longer = run(data, tmp_path / "torn", trials=11, num_splits=1)  # the folder's search may grow, not shrink
    assert (longer.visited.per_split, len(longer.splits)) == (11, 2)
    with pytest.raises(InputError, match="holds an evaluation with other search; choose another folder"):
        run(data, tmp_path / "torn", trials=10)
    assert names(tmp_path / "torn") >= {name for name in names(tmp_path / "whole") if name.startswith("select")}


def test_a_search_sees_no_test_items(tmp_path: Path) -> None:
    data = tiny(60)
    splits = tuple(ten_fold(data, 0)[:1])
    y = data.y.copy()
    y[splits[0].test] = 1 - y[splits[0].test]
    before, after = (
        run(replace(data, y=targets, splits=splits), tmp_path / name)
        for name, targets in (("as it is", data.y), ("flipped", y))
    )
    assert before.visited == after.visited
    (split,), (flipped,) = before.splits, after.splits
    assert split.settings == flipped.settings
    assert split.valid == flipped.valid
    assert split.test_scores[0] + flipped.test_scores[0] == pytest.approx(1)


def test_what_cannot_be_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="search: must be 1 or more, found 0"):
        run(replace(tiny(60), splits=tuple(ten_fold(tiny(60), 0)[:1])), tmp_path, trials=0)
    both = wlhn("evaluate", "MUTAG", "--out", tmp_path / "out", "--search", "3", "--validation-only")
    assert "--search has no effect with --validation-only" in both.err
    monkeypatch.setitem(sys.modules, "optuna", None)  # as if it were not installed
    ran = wlhn("evaluate", "MUTAG", "--out", tmp_path / "out", "--grid", "paper", "--search", "3")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "pip install 'wlhn[search]'" in ran.err
