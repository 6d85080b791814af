"""Stored results, checked: some of their final runs are done again and compared to the last digit."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.evaluation.executor import along
from wlhn.evaluation.jobs import Job, reason, work_all
from wlhn.evaluation.outcome import OUTCOME, read_outcome
from wlhn.experiments.cells import cell_folder, each_cell
from wlhn.experiments.request import Done, Request
from wlhn.experiments.table import Column, Row, Table


def check_cells(table: Table, request: Request) -> Iterator[Done]:
    """Check the results of a table that are stored; one that comes out otherwise counts as failed."""
    cells = [
        (column, row)
        for column, row in table.cells(request.datasets, request.models)
        if (cell_folder(request.folder, column, row) / OUTCOME).exists()
    ]
    if not cells:
        raise InputError(f"{request.folder}: has none of these results, expected one to check")
    return each_cell(cells, request, _checked)


def _checked(dataset: Dataset, column: Column, row: Row, request: Request, executor: Executor | None) -> str:
    outcome = read_outcome(cell_folder(request.folder, column, row))
    stored = _final_runs(outcome, column, request.data_root)[: request.check]
    waiting = {job.name: scores for job, scores in stored}
    part = f"{column.key}, {row.key}"
    request.say(part, "again", 0, len(stored))
    results = work_all([job for job, _ in stored], None, executor, along(executor, dataset))
    for done, (job, result) in enumerate(results, 1):
        where = f"split {job.split}, seed {job.seed}"
        if "error" in result:
            raise InputError(f"{where}: {reason(result['error'])}")
        for items, score in waiting.pop(job.name).items():
            if result["scores"][items] != score:
                raise InputError(
                    f"{where}, {items} items: came out as {result['scores'][items]} with {result['version']}, "
                    f"expected {score} as stored by {outcome['version']}"
                )
        request.say(part, "again", done, len(stored))
    if waiting:
        raise InputError(f"{min(waiting)}: {reason(None)}")
    return f"{len(stored)} run{'s' * (len(stored) > 1)} again, the same"


def _final_runs(outcome: dict[str, Any], column: Column, data_root: str | None) -> list[tuple[Job, dict[str, float]]]:
    """The jobs behind an outcome with their scores: the first run on every split, then the second, …"""

    def job(k: int, run: int) -> Job:
        split = outcome["splits"][k]
        return Job(
            data=column.data,
            data_root=data_root,
            data_hash=outcome["data_hash"],
            protocol=outcome["protocol"],
            protocol_seed=outcome["seed"],
            split=k,
            split_hash=split["hash"],
            settings=split["settings"],
            seed=split["seeds"][run],
            test=True,
        )

    return [
        (job(k, run), {"valid": split["valid"][run], "test": split["test_scores"][run]})
        for run in range(outcome["final_runs"])
        for k, split in enumerate(outcome["splits"])
    ]
