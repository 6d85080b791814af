"""What an evaluation depends on, kept in its folder as `plan.json`: a folder has one plan, whose extent may grow."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from wlhn.errors import InputError
from wlhn.files import read_json, write_json

PLAN = "plan.json"


@dataclass(frozen=True)
class Plan:
    """All that an evaluation depends on; two with the same plan have the same numbers."""

    data: str
    data_hash: str
    model: str
    protocol: str
    grid: str
    candidates: list[dict[str, Any]]  # settings
    seed: int
    splits_hash: str  # of all splits of the protocol
    num_splits: int | None  # how many of them, the first ones; all where None
    final_runs: int
    search: int | None = None  # how many candidates are tried on each split; all where None


EXTENT = ("num_splits", "final_runs", "search")  # may grow in a folder


def keep_plan(folder: Path, plan: Plan) -> None:
    """Write the plan down, or refuse a folder that was begun with another (of another extent, it takes its place)."""
    path = folder / PLAN
    document = json.loads(json.dumps(asdict(plan)))
    if path.exists():
        before = read_json(path)
        if before == document:
            return
        different = [key for key, value in document.items() if key not in EXTENT and before.get(key) != value]
        if _most(before.get("search"), plan.search) != plan.search:  # fewer would take the place of more
            different.append("search")
        if different:
            raise InputError(f"{folder}: holds an evaluation with other {', '.join(different)}, expected a new folder")
    write_json(path, document)


def never_less(plan: Plan, before: dict[str, Any]) -> Plan:
    """A plan of at least the extent that an outcome has already, if that outcome is of the same plan otherwise."""
    same = asdict(plan).keys() - {*EXTENT, "candidates"}
    if any(key not in before or before[key] != getattr(plan, key) for key in same):
        return plan
    return replace(
        plan,
        num_splits=_most(plan.num_splits, before["num_splits"]),
        final_runs=max(plan.final_runs, before["final_runs"]),
    )


def _most(one: int | None, other: int | None) -> int | None:
    """The larger of two numbers of which None stands for all there are."""
    return None if one is None or other is None else max(one, other)
