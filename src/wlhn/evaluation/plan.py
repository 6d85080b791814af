"""What an evaluation depends on. A folder has one plan, whose extent may grow.

While an evaluation is under way its plan lies in `plan.json`; the outcome says the same, so then the file goes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

from wlhn.documents import from_json, to_json
from wlhn.errors import InputError
from wlhn.files import read_json, write_json
from wlhn.training.settings import Settings

PLAN = "plan.json"


@dataclass(frozen=True)
class Plan:
    """All that an evaluation depends on; two with the same plan have the same numbers."""

    data: str
    data_hash: str
    model: str
    protocol: str
    grid: str
    candidates: tuple[Settings, ...]
    seed: int
    splits_hash: str  # of all splits of the protocol
    num_splits: int | None  # how many of them, the first ones; all where None
    final_runs: int
    search: int | None = None  # how many candidates are tried on each split; all where None

    def differences(self, other: Plan) -> list[str]:
        """In which fields another plan differs, the extent apart."""
        names = [field.name for field in fields(self) if field.name not in EXTENT]
        return [name for name in names if getattr(self, name) != getattr(other, name)]

    def at_least(self, other: Plan) -> Plan:
        """This plan in an extent no smaller than another's."""
        return replace(
            self,
            num_splits=_most(self.num_splits, other.num_splits),
            final_runs=max(self.final_runs, other.final_runs),
        )


EXTENT = ("num_splits", "final_runs", "search")  # may grow in a folder


def begin(folder: Path, plan: Plan, before: Plan | None) -> Plan:
    """The plan to follow in a folder: of the extent that is there already, or refused if it is another plan's folder.

    `before` is the plan of an outcome that is there.
    """
    path = folder / PLAN
    if before is not None:
        plan = plan.at_least(before)
    elif path.exists():
        before = from_json(Plan, read_json(path), path)
    if before is not None:
        different = plan.differences(before)
        if _most(before.search, plan.search) != plan.search:  # fewer would take the place of more
            different.append("search")
        if different:
            raise InputError(f"{folder}: holds an evaluation with other {', '.join(different)}; choose another folder")
    write_json(path, to_json(plan))
    return plan


def finish(folder: Path) -> None:
    """The outcome is written: it says what the plan said."""
    (folder / PLAN).unlink(missing_ok=True)


def _most(one: int | None, other: int | None) -> int | None:
    """The larger of two numbers of which None stands for all there are."""
    return None if one is None or other is None else max(one, other)
