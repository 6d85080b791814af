"""A job of an evaluation, one training run: its spec, what comes of it, and who does it.

A job is a pure function from its spec, and the data it is about, to one result. Any `concurrent.futures.Executor` can
do the work, on any machine. What all jobs of an evaluation share (data, splits, models from outside) travels once to
each worker, not with each job.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from wlhn.data.dataset import Dataset
from wlhn.data.splits import Split
from wlhn.documents import to_json
from wlhn.errors import InputError
from wlhn.evaluation.plan import Plan
from wlhn.evaluation.protocols import Score
from wlhn.evaluation.pruning import Stop, behind, curve, epochs_of
from wlhn.loops.parallel import torch_threads
from wlhn.models.registry import MODELS
from wlhn.nn.capabilities import HasVoices
from wlhn.plugins import load_sources, loaded_sources
from wlhn.training.answers import Answers, answers_on
from wlhn.training.fit import fit
from wlhn.training.numerics import Numerics
from wlhn.training.problem import Problem, depth_of
from wlhn.training.provenance import code_version, made_with
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


@dataclass(frozen=True, eq=False)
class Shared:
    """What all jobs of an evaluation share: it travels once to each worker."""

    dataset: Dataset
    data_hash: str
    splits: tuple[Split, ...]
    score: Score | None = None  # of test items, where not by the metric of the task
    sources: Mapping[str, str] = field(default_factory=loaded_sources)  # plugin files that the driver has loaded
    models: Mapping[str, type] = field(default_factory=lambda: importable(MODELS.registered))

    def open(self) -> None:
        """Load here what the driver had loaded."""
        load_sources(self.sources)
        for name, model in self.models.items():
            MODELS.registered.setdefault(name, model)


class Started(NamedTuple):
    """Who does the jobs."""

    executor: Executor | None  # None: this process
    shared: Any  # what stands for what jobs share
    parallel_jobs: int


def importable(models: Mapping[str, type]) -> dict[str, type]:
    """Models that were registered as objects and that another process can import; those of plugin files are loaded from
    their sources, and those of a notebook stay where they are.
    """

    def found_by_name(model: type) -> bool:
        return getattr(sys.modules.get(model.__module__), model.__qualname__, None) is model

    plugins = "wlhn_plugin_"
    return {
        k: model for k, model in models.items() if found_by_name(model) and not model.__module__.startswith(plugins)
    }


_shared_here: Shared | None = None  # in a worker process


def share_here(shared: Shared) -> None:
    """Keep what jobs share in this process, for all jobs that come."""
    global _shared_here
    _shared_here = shared


def try_job(job: Job, folder: str | None, shared: Shared | None = None) -> JobResult | Failure:
    """Do a job, or say how it failed. This is all an executor has to call.

    Checkpoints go to the folder, if there is one that can be seen from here. Without `shared`, what `share_here` was
    given is used.
    """
    shared = shared or _shared_here
    assert shared is not None
    try:
        shared.open()
        place = None if folder is None else Path(folder)
        return run_job(job, shared, checkpoint_path(place, job) if place and place.is_dir() else None)
    except OSError:  # a full disk: no failure of the job, which the same command repeats
        raise
    except Exception:
        return Failure(traceback.format_exc())


def checkpoint_path(folder: Path, job: Job) -> Path:
    return folder / f".{job.name}.checkpoint"


@torch_threads(1)  # sums of more threads have other roundings
def run_job(job: Job, shared: Shared, checkpoint: Path | None = None) -> JobResult:
    """Do a job: the same spec gives the same scores, wherever and however often it runs."""
    started, dataset, split = time.time(), shared.dataset, shared.splits[job.split]
    if shared.data_hash != job.data_hash:
        raise InputError(f"{job.data}: its hash is {shared.data_hash}, but the job is about {job.data_hash}")
    if split.hash != job.split_hash:
        raise InputError(
            f"{job.data}, split {job.split}: is {split.hash}, but the job is about {job.split_hash}; "
            "give the data with the splits that were published with them (--data-root or WLHN_DATA)"
        )
    problem = _problem(job, dataset, split)
    fitted = fit(problem, job.seed, checkpoint, stop=lambda past: behind(past, job.stops, problem.metric))
    sound = fitted.runs[0].sound  # of several networks, the first: what others have to reach is about one
    stopped = behind(sound, job.stops, problem.metric)
    answers = answers_on(problem, fitted.model, problem.split.test) if job.test else None
    if job.test and answers is None:
        raise InputError(f"{job.data}, split {job.split}: has no test items with a target; choose other splits")

    def score(answers: Answers | None) -> float:
        assert answers is not None
        return answers.score() if shared.score is None else shared.score(dataset, answers.items, answers.outputs)

    voices = fitted.model.voices() if job.test and isinstance(fitted.model, HasVoices) else {}
    return JobResult(
        job=job,
        metric=problem.metric,
        valid=fitted.best.valid_metric,
        valid_loss=fitted.best.valid_loss,
        test=score(answers) if job.test else None,
        best_epoch=fitted.best.epoch,
        epochs=len(fitted.history),
        curve=tuple(curve(sound, epochs_of(job.settings), problem.metric, stopped)),
        stopped=stopped,
        numerics=fitted.numerics,
        version=code_version(),
        machine=platform.node(),
        seconds=round(time.time() - started, 3),
        scores=None if answers is None else answers.scores(),
        chosen=fitted.chosen,
        voices={name: score(answers_on(problem, voice, problem.split.test)) for name, voice in voices.items()},
        made_with=made_with(),
    )


_last: tuple[Any, Problem] | None = None


def _problem(job: Job, dataset: Dataset, split: Split) -> Problem:
    """The problem of a job; jobs that differ in options which it does not depend on have it made once."""
    global _last
    settings, last = job.settings, _last
    key = job.data_hash, job.split_hash, settings.model, settings.training, depth_of(settings, dataset.level)
    if last is None or last[0] != key:
        _last = last = key, Problem(dataset, split, settings)
    return last[1].but(settings)


def try_jobs(
    jobs: Sequence[Job], folder: str | None, executor: Executor | None, shared: Any
) -> Iterator[tuple[Job, JobResult | Failure]]:
    """Jobs with what came of them, as they come; a job whose process died never comes.

    Without an executor they run here, one by one. `shared` goes along with each job: what they share, what the executor
    knows it by, or None where its workers hold it.
    """
    if executor is None:
        for job in jobs:
            yield job, try_job(job, folder, shared)
        return
    futures: dict[Future[JobResult | Failure], Job] = {}
    with suppress(BrokenExecutor):  # a process died before all were given out
        for job in jobs:
            futures[executor.submit(try_job, job, folder, shared)] = job
    for future in as_completed(futures):
        match future.exception():
            case None:
                yield futures[future], future.result()
            case InputError() as refusal:
                yield futures[future], Failure(str(refusal))
            case OSError() as error:
                raise error
