"""An evaluation: select settings on the validation items of each split, then run finally and score the test items.

Selection and assessment are separate jobs: those of selection never look at test items. The outcome is one JSON
document, `evaluation.json`, that says what was done and how it came out; results of a failed job are not averaged
around, they fail the whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wlhn.data.dataset import Dataset
from wlhn.data.splits import Split, splits_hash
from wlhn.errors import InputError
from wlhn.evaluation.executor import along
from wlhn.evaluation.jobs import Job, run_jobs
from wlhn.evaluation.outcome import OUTCOME, read_outcome
from wlhn.evaluation.plan import Plan, keep_plan, never_less
from wlhn.evaluation.protocols import protocol_named, spread
from wlhn.evaluation.pruning import Stop
from wlhn.evaluation.search import Trial
from wlhn.evaluation.search import search as run_search
from wlhn.files import read_json, write_json
from wlhn.models.registry import check_options
from wlhn.training.metrics import METRICS
from wlhn.training.provenance import data_hash
from wlhn.training.settings import Settings

VALIDATION = "validation.json"


def evaluate(
    dataset: Dataset,
    data: str,
    candidates: list[Settings],
    folder: Path,
    *,
    protocol: str,
    grid: str,
    seed: int = 0,
    final_runs: int | None = None,
    num_splits: int | None = None,
    search: int | None = None,
    validation_only: bool = False,
    data_root: str | None = None,
    executor: Executor | None = None,
    retry_failed: bool = False,
    on_done: Callable[[str, int, int], None] = lambda phase, done, total: None,
) -> dict[str, Any]:
    """Evaluate a model; what is done already in the folder, the whole or some of its jobs, is not done again.

    `data` is the name or path that a job loads the data set by; `num_splits` keeps to the first splits of the protocol,
    though neither it nor `final_runs` to fewer than the folder's outcome has;
    `search` tries so many candidates on each split instead of all; `on_done(phase, done, total)` hears of progress.
    With `validation_only` it ends after selection and says how each candidate did: test items stay unseen.
    """
    if search is not None and validation_only:
        raise InputError("search: tries other candidates on each split, expected all of them to compare them")
    chosen_protocol = protocol_named(protocol)
    for settings in candidates:
        check_options(settings)
    splits = [split.check_fits(len(dataset), dataset.name) for split in chosen_protocol.splits(dataset, seed)]
    plan = Plan(
        data=dataset.name,
        data_hash=data_hash(dataset),
        model=candidates[0].model,
        protocol=protocol,
        grid=grid,
        candidates=[settings.to_json() for settings in candidates],
        seed=seed,
        splits_hash=splits_hash(splits),
        num_splits=num_splits if num_splits is not None and num_splits < len(splits) else None,
        final_runs=final_runs or chosen_protocol.final_runs,
        search=search,
    )
    stored = folder / (VALIDATION if validation_only else OUTCOME)
    before = read_json(stored) if stored.exists() else {}
    plan = never_less(plan, before)
    keep_plan(folder, plan)
    if not validation_only and before.items() >= asdict(plan).items():
        return read_outcome(folder)  # its jobs need not be there: a repository keeps outcomes alone
    splits = splits[: plan.num_splits]

    def job(k: int, settings: dict[str, Any], run: int, test: bool, stops: list[Stop] | None = None) -> Job:
        return Job(
            data=data,
            data_root=data_root,
            data_hash=plan.data_hash,
            protocol=protocol,
            protocol_seed=seed,
            split=k,
            split_hash=splits[k].hash,
            settings=settings,
            seed=1000 * seed + run,  # run 0 selects, runs 1, 2, … are final
            test=test,
            stops=stops,
        )

    sent = along(executor, dataset)

    def results(phase: str, jobs: list[Job]) -> list[dict[str, Any]]:
        heard = lambda done, total: on_done(phase, done, total)  # noqa: E731
        return run_jobs(jobs, folder / "jobs", executor, retry_failed, heard, sent)

    def trials(phase: str, asked: list[Trial]) -> list[dict[str, Any]]:
        return results(phase, [job(k, plan.candidates[c], 0, test=False, stops=stops) for k, c, stops in asked])

    places, width = range(len(splits)), len(plan.candidates)
    selection: list[list[dict[str, Any]]] = [[] for _ in places]  # split by split, a result for each candidate
    tried = [list(range(width)) for _ in places]
    if search is not None and width > 1:
        found = run_search(plan.candidates, search, len(splits), seed, trials)
        tried, selection = [[c for c, _ in row] for row in found], [[result for _, result in row] for row in found]
    elif width > 1 or validation_only:
        flat = trials("selection", [(k, c, []) for k in places for c in range(width)])
        selection = [flat[k * width : (k + 1) * width] for k in places]
    if validation_only:
        outcome = _validation_outcome(plan, selection)
        write_json(folder / VALIDATION, outcome)
        return outcome
    chosen = [which[best_candidate(row)] if row else 0 for which, row in zip(tried, selection, strict=True)]
    runs = range(1, plan.final_runs + 1)
    flat = results("final runs", [job(k, plan.candidates[chosen[k]], run, test=True) for k in places for run in runs])
    final = [flat[k * len(runs) : (k + 1) * len(runs)] for k in places]
    outcome = _outcome(plan, splits, chosen, selection, final)
    write_json(folder / OUTCOME, outcome)
    return outcome


def best_candidate(results: list[dict[str, Any]]) -> int:
    """The position of the result that is best on the validation items; of equal ones, the smaller loss.

    A run that was stopped as hopeless is chosen last.

    >>> scores = [(0.8, 0.6), (0.9, 0.5), (0.9, 0.4)]
    >>> found = {"metric": "accuracy", "stopped": False}
    >>> best_candidate([found | {"scores": {"valid": v, "valid_loss": x}} for v, x in scores])
    2
    """
    sign = 1 if METRICS[results[0]["metric"]].higher_is_better else -1
    return max(
        range(len(results)),
        key=lambda k: (
            not results[k]["stopped"],
            sign * results[k]["scores"]["valid"],
            -results[k]["scores"]["valid_loss"],
            -k,
        ),
    )


def _validation_outcome(plan: Plan, selection: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """How each candidate did on the validation items, the mean over splits."""

    def mean(k: int, score: str) -> float:
        return sum(row[k]["scores"][score] for row in selection) / len(selection)

    candidates = [
        {"settings": settings, "valid": mean(k, "valid"), "valid_loss": mean(k, "valid_loss")}
        for k, settings in enumerate(plan.candidates)
    ]
    flat = [result for row in selection for result in row]
    return _about(plan) | {"metric": flat[0]["metric"], "candidates": candidates} | _cost(flat)


def _outcome(
    plan: Plan,
    splits: list[Split],
    chosen: list[int],
    selection: list[list[dict[str, Any]]],
    final: list[list[dict[str, Any]]],
) -> dict[str, Any]:
    scores = [[result["scores"]["test"] for result in results] for results in final]
    mean, deviation = spread(scores)
    tested = [result for results in final for result in results]
    done = [result for row in selection for result in row] + tested
    return (
        _about(plan)
        | {
            "metric": tested[0]["metric"],
            "mean": mean,
            "std": deviation,
            "splits": [
                {
                    "hash": split.hash,
                    "train": len(split.train),
                    "test": len(split.test),
                    "settings": plan.candidates[chosen[k]],
                    "valid": [result["scores"]["valid"] for result in final[k]],
                    "test_scores": scores[k],
                    "seeds": [result["job"]["seed"] for result in final[k]],
                }
                for k, split in enumerate(splits)
            ],
            "candidates": plan.candidates,
            "visited": _visited(plan, selection),
            "numerics": {
                "largest_radius": max((r["numerics"]["largest_radius"] or 0.0 for r in tested), default=0.0),
                "broken_runs": sum(r["numerics"]["first_nan"] is not None for r in done),
            },
        }
        | _cost(done)
    )


def _visited(plan: Plan, selection: list[list[dict[str, Any]]]) -> dict[str, int]:
    """How much of the grid selection has seen."""
    done = [result for row in selection for result in row]
    return {
        "grid": len(plan.candidates),
        "per_split": max(map(len, selection)),
        "in_all": len({json.dumps(result["job"]["settings"]) for result in done}),
        "stopped": sum(result["stopped"] for result in done),
    }


def _about(plan: Plan) -> dict[str, Any]:
    return {key: value for key, value in asdict(plan).items() if key != "candidates"}


def _cost(done: list[dict[str, Any]]) -> dict[str, Any]:
    """The work behind an outcome, and the code that did it: all versions, where a folder was filled over time."""
    return {
        "jobs": len(done),
        "seconds": round(sum(result["seconds"] for result in done), 1),
        "version": ", ".join(sorted({result["version"] for result in done})),
    }
