"""Progress never runs backwards: a new phase starts its own pace."""

import time

import pytest

from wlhn.evaluation.progress import Pace


def test_a_new_phase_starts_its_own_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    pace = Pace("job")
    pace.rate(10)  # ten were there before
    now = 5.0
    assert pace.rate(20) == "2.0 job/s"
    assert pace.remaining(20, 40) == "10 s"
    now = 6.0
    assert pace.remaining(0, 30) == "unknown time"
    now = 8.0
    assert pace.rate(1) == "2.0 s/job"
    assert pace.remaining(1, 30) == "58 s"
