"""A folder of jobs, where anyone can see what is done.

    NAME.json          the result, there only when the job is done
    NAME.error.txt     the spec and the traceback of a job that failed
    .NAME.checkpoint   of a job under way (a second network's ends in -2)

A job that is done is skipped, one that failed is left alone unless it is retried. Results are written here alone, each
in one piece, so that however often a job was begun, lost and begun again, there is one result of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from wlhn.documents import from_json, to_json
from wlhn.errors import InputError
from wlhn.evaluation.jobs import DIED, Failure, Job, JobResult, checkpoint_path, try_jobs
from wlhn.files import read_json, remove_drafts, write_json, write_text
from wlhn.training.checkpoint import remove_checkpoints


def result_path(folder: Path, job: Job) -> Path:
    return folder / f"{job.name}.json"


def error_path(folder: Path, job: Job) -> Path:
    return folder / f"{job.name}.error.txt"


def run_jobs(
    jobs: Sequence[Job],
    folder: Path,
    executor: Executor | None,
    shared: Any,
    retry_failed: bool = False,
    on_done: Callable[[int, int], None] = lambda done, failed: None,
) -> list[JobResult]:
    """The results of jobs, in their order; those that are not there yet are made first, all that can be.

    `on_done(done, failed)` is called as they come in; for executor and `shared` see `try_jobs`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    remove_drafts(folder)
    waiting = [job for job in jobs if not result_path(folder, job).exists()]
    if not retry_failed:
        waiting = [job for job in waiting if not error_path(folder, job).exists()]
    done = sum(result_path(folder, job).exists() for job in jobs)
    failed = len(jobs) - len(waiting) - done
    on_done(done, failed)
    for job, result in try_jobs(waiting, str(folder.resolve()), executor, shared):
        _keep(folder, job, result)
        done, failed = done + isinstance(result, JobResult), failed + isinstance(result, Failure)
        on_done(done, failed)
    lacking = [job for job in jobs if not result_path(folder, job).exists()]
    if lacking:
        where = error_path(folder, lacking[0])
        why = Failure(where.read_text(encoding="utf-8")) if where.exists() else DIED
        raise InputError(
            f"{len(lacking)} of {len(jobs)} jobs failed, the first because {why.reason} (see {where}); "
            "--retry-failed tries them again"
        )
    for job in jobs:  # of one that was lost with its driver or worker after its end
        remove_checkpoints(checkpoint_path(folder, job))
    return [read_result(result_path(folder, job)) for job in jobs]


def read_result(path: Path) -> JobResult:
    """The result of a job from its file."""
    try:
        return from_json(JobResult, read_json(path), path)
    except InputError as error:
        raise InputError(f"{error}; remove the file to run the job again") from None


def _keep(folder: Path, job: Job, result: JobResult | Failure) -> None:
    """Write a result or a traceback, whole or not at all."""
    if isinstance(result, Failure):
        write_text(error_path(folder, job), f"{json.dumps(to_json(job), indent=2)}\n\n{result.error}")
        return
    write_json(result_path(folder, job), to_json(result))
    error_path(folder, job).unlink(missing_ok=True)
    remove_checkpoints(checkpoint_path(folder, job))
