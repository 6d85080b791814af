"""Starts that are kept are those of the very same features."""

import numpy as np
import pytest

from wlhn.batching import refined
from wlhn.graphs import Graphs

PATH = Graphs.from_edges([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
X = np.array([[0.5, 1.0], [2.0, 1.0], [2.0, 1.0], [0.5, 1.0]], np.float32)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    refined.forget_hierarchies()


def rows(x: np.ndarray) -> list[int]:
    return refined.make_quotient(PATH, x, depth=1).batch([0]).num_rows


def test_features_are_sorted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, real = [], refined.encode
    monkeypatch.setattr(refined, "encode", lambda *given: calls.append(given) or real(*given))
    assert rows(X) == rows(X.copy()) == [2, 2]
    assert len(calls) == 1


def test_a_changed_number_is_another_start() -> None:
    assert rows(X) == [2, 2]
    changed = X.copy()
    changed[3, 0] = 0.25
    assert rows(changed) == [3, 4]
    assert rows(X.astype(np.float64)) == [2, 2]
    assert rows(np.where(X == 1, 0.0, X).astype(np.float32)) == rows(np.where(X == 1, -0.0, X).astype(np.float32))


def test_few_starts_are_kept() -> None:
    for k in range(3 * refined.KEPT_STARTS):
        rows(X + k)
    assert len(refined._starts) == refined.KEPT_STARTS
