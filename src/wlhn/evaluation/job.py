"""A job of an evaluation, one training run, as a spec; and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wlhn.documents import to_json
from wlhn.errors import InputError
from wlhn.evaluation.plan import Plan
from wlhn.evaluation.pruning import Stop
from wlhn.training.numerics import Numerics
from wlhn.training.scores import Scores
from wlhn.training.settings import Settings


@dataclass(frozen=True)
class Job:
    """One training run of an evaluation. With `test` false the test items are not looked at."""

    data: str
    data_hash: str
    protocol: str
    protocol_seed: int
    split: int
    split_hash: str
    settings: Settings
    seed: int
    test: bool
    stops: tuple[Stop, ...] = ()  # what it has to reach by when, not to be stopped

    @staticmethod
    def of(plan: Plan, **rest: Any) -> Job:
        """A job of an evaluation with this plan; the rest of its fields by name."""
        return Job(data=plan.data, data_hash=plan.data_hash, protocol=plan.protocol, protocol_seed=plan.seed, **rest)

    @property
    def name(self) -> str:
        """Readable, and different for different jobs."""
        digest = hashlib.sha256(json.dumps(to_json(self), sort_keys=True).encode()).hexdigest()[:12]
        return f"{'final' if self.test else 'select'}-split{self.split}-seed{self.seed}-{digest}"


@dataclass(frozen=True)
class JobResult:
    """What came of a job."""

    job: Job
    metric: str
    valid: float
    valid_loss: float
    test: float | None  # None where test items were not looked at
    best_epoch: int
    epochs: int
    curve: tuple[float, ...]  # the best validation metric at each rung (`wlhn.evaluation.pruning`)
    stopped: bool  # as hopeless
    numerics: Numerics
    version: str
    machine: str
    seconds: float
    scores: Scores | None = None  # every metric on the test items
    chosen: Mapping[str, float] = field(default_factory=dict)  # by a model that fits something after its network
    voices: Mapping[str, float] = field(default_factory=dict)  # test scores of the parts of an averaging model
    made_with: Mapping[str, str] = field(default_factory=dict)  # processor and libraries; older results do not say


@dataclass(frozen=True)
class Failure:
    """Why a job has no result: the traceback, or a sentence."""

    error: str

    @property
    def reason(self) -> str:
        """In a line."""
        return self.error.strip().splitlines()[-1].removeprefix(f"{InputError.__module__}.{InputError.__name__}: ")


DIED = Failure("its process died")
