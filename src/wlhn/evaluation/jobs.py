"""Jobs: a pure function from a JSON spec to one JSON result, and a folder where anyone can see what is done.

    NAME.json          the result, there only when the job is done: spec, scores, version, time
    NAME.error.txt     the traceback of a job that failed
    .NAME.checkpoint   of a job under way

A job that is done is skipped, one that failed is left alone unless it is retried. Any `concurrent.futures.Executor`
can do the work, on any machine: it gets a JSON object and gives one back. Results are written here alone, each in one
piece, so that however often a job was begun, lost and begun again, there is one result of it.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from wlhn.data.dataset import Dataset
from wlhn.data.load import load
from wlhn.data.readers.ogb import ogb_score
from wlhn.errors import InputError
from wlhn.evaluation.protocols import protocol_named
from wlhn.evaluation.pruning import Stop, behind, curve
from wlhn.files import read_json, replacing, write_json
from wlhn.loops.parallel import torch_threads
from wlhn.runs.train import score
from wlhn.training.fit import fit
from wlhn.training.problem import Problem
from wlhn.training.provenance import code_version, data_hash
from wlhn.training.settings import Settings

RESULT = ("job", "metric", "scores", "curve", "stopped", "numerics", "version", "seconds")  # what others read of it


@dataclass(frozen=True)
class Job:
    """One training run of an evaluation. With `test` false the test items are not looked at."""

    data: str
    data_root: str | None  # where the data lie: no part of what the job is
    data_hash: str
    protocol: str
    protocol_seed: int
    split: int
    split_hash: str
    settings: dict[str, Any]
    seed: int
    test: bool
    stops: list[Stop] | None = None  # what it has to reach by when, not to be stopped

    @property
    def name(self) -> str:
        """Readable, and different for different jobs."""
        identity = {key: value for key, value in asdict(self).items() if key != "data_root"}
        if not self.stops:
            del identity["stops"]
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
        return f"{'final' if self.test else 'select'}-split{self.split}-seed{self.seed}-{digest}"


def run_job(job: Job, checkpoint: Path | None = None, dataset: Dataset | None = None) -> dict[str, Any]:
    """Do a job: the same spec gives the same scores, wherever and however often it runs."""
    with torch_threads(1):  # sums of more threads have other roundings
        return _run(job, checkpoint, dataset)


def _run(job: Job, checkpoint: Path | None, dataset: Dataset | None) -> dict[str, Any]:
    started = time.time()
    if dataset is None:
        dataset = _load(job.data, job.data_root)
    if data_hash(dataset) != job.data_hash:
        raise InputError(f"{job.data}: not the data this job was made for, expected {job.data_hash}")
    split = protocol_named(job.protocol).splits(dataset, job.protocol_seed)[job.split]
    if split.hash != job.split_hash:
        raise InputError(f"{job.data}, split {job.split}: is {split.hash}, expected {job.split_hash}")
    problem = Problem(dataset, split, Settings.from_json(job.settings))
    fitted = fit(problem, job.seed, checkpoint, stop=lambda past: behind(past, job.stops or [], problem.metric))
    sound = fitted.history if fitted.numerics.first_nan is None else fitted.history[:-1]
    stopped = behind(sound, job.stops or [], problem.metric)
    scores = {"valid": fitted.best.valid_metric, "valid_loss": fitted.best.valid_loss}
    if job.test and job.protocol == "ogb" and dataset.name.startswith("ogbg-"):
        items, outputs = problem.outputs(fitted.model, split.test)
        scores["test"] = next(iter(ogb_score(dataset.name, dataset.y[items], outputs.numpy()).values()))
    elif job.test:
        scores["test"] = score(problem, fitted, split.test)
    return {
        "job": asdict(job),
        "metric": problem.metric,
        "scores": scores,
        "best_epoch": fitted.best.epoch,
        "epochs": len(fitted.history),
        "curve": curve(sound, problem.settings.epochs, problem.metric, stopped),
        "stopped": stopped,
        "numerics": asdict(fitted.numerics),
        "version": code_version(),
        "machine": platform.node(),
        "seconds": round(time.time() - started, 3),
    }


@lru_cache(maxsize=1)
def _load(data: str, data_root: str | None) -> Dataset:
    return load(data, data_root=data_root)


def result_path(folder: Path, job: Job) -> Path:
    return folder / f"{job.name}.json"


def error_path(folder: Path, job: Job) -> Path:
    return folder / f"{job.name}.error.txt"


def checkpoint_path(folder: Path, job: Job) -> Path:
    return folder / f".{job.name}.checkpoint"


def work(spec: dict[str, Any], folder: str | None, dataset: Dataset | None = None) -> dict[str, Any]:
    """Do the job of a spec: its result, or {"error": traceback}. This is all an executor has to call.

    Checkpoints go to the folder, if there is one that can be seen from here; the data set is loaded by name, unless it
    is given.
    """
    job = Job(**spec)
    try:
        place = None if folder is None else Path(folder)
        return run_job(job, checkpoint_path(place, job) if place and place.is_dir() else None, dataset)
    except Exception:
        return {"error": traceback.format_exc()}


def run_jobs(
    jobs: Sequence[Job],
    folder: Path,
    executor: Executor | None,
    retry_failed: bool = False,
    on_done: Callable[[int, int], None] = lambda done, total: None,
    dataset: Any = None,
) -> list[dict[str, Any]]:
    """The results of jobs, in their order; those that are not there yet are made first, all that can be.

    Without an executor they run here, one by one. `on_done(done, total)` is called as they come in. `dataset` goes
    along with each job: the data set, or what the executor knows it by.
    """
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [job for job in jobs if not result_path(folder, job).exists()]
    if not retry_failed:
        waiting = [job for job in waiting if not error_path(folder, job).exists()]
    done = len(jobs) - len(waiting)
    on_done(done, len(jobs))
    for job, result in work_all(waiting, str(folder.resolve()), executor, dataset):
        _keep(folder, job, result)
        done += 1
        on_done(done, len(jobs))
    failed = [job for job in jobs if not result_path(folder, job).exists()]
    if failed:
        where = error_path(folder, failed[0])
        why = reason(where.read_text(encoding="utf-8") if where.exists() else None)
        raise InputError(
            f"{len(failed)} of {len(jobs)} jobs failed, the first: {why} (see {where}); "
            "expected all of them, --retry-failed tries them again"
        )
    for job in jobs:  # of one that was lost with its driver or worker after its end
        checkpoint_path(folder, job).unlink(missing_ok=True)
    return [_result(result_path(folder, job)) for job in jobs]


def _result(path: Path) -> dict[str, Any]:
    result = read_json(path)
    if lacking := [field for field in RESULT if field not in result]:
        raise InputError(
            f"{path}: not a result of this version, expected {', '.join(lacking)} in it; remove it to run the job again"
        )
    return result


def reason(error: str | None) -> str:
    """Why a job has no result, in a line: the end of its traceback, or that there is none."""
    if error is None:
        return "its process died"
    return error.strip().splitlines()[-1].removeprefix(f"{InputError.__module__}.{InputError.__name__}: ")


def work_all(
    jobs: Sequence[Job], folder: str | None, executor: Executor | None, dataset: Any
) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Jobs with what came of them, as they come; a job whose process died never comes."""
    if executor is None:
        for job in jobs:
            yield job, work(asdict(job), folder, dataset)
        return
    futures: dict[Future[dict[str, Any]], Job] = {}
    with suppress(BrokenExecutor):  # a process died before all were given out
        for job in jobs:
            futures[executor.submit(work, asdict(job), folder, dataset)] = job
    for future in as_completed(futures):
        match future.exception():
            case None:
                yield futures[future], future.result()
            case InputError() as refusal:
                yield futures[future], {"error": str(refusal)}


def _keep(folder: Path, job: Job, result: dict[str, Any]) -> None:
    """Write a result or a traceback, whole or not at all."""
    if "error" in result:
        with replacing(error_path(folder, job)) as draft:
            draft.write_text(f"{json.dumps(asdict(job), indent=2)}\n\n{result['error']}", encoding="utf-8")
        return
    write_json(result_path(folder, job), result)
    error_path(folder, job).unlink(missing_ok=True)
    checkpoint_path(folder, job).unlink(missing_ok=True)
