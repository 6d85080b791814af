"""How commands read data: what can be said of somebody's own tables, and who hears what was found in them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wlhn.cli.common.output import DataRoot, Seed, note
from wlhn.errors import InputError
from wlhn.words import counted

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.data.dataset import Column, Role


@dataclass(frozen=True)
class DataFlags:
    """How data are read."""

    role: Annotated[
        list[str] | None, typer.Option(help="What a column of your own tables is: NAME=ROLE, repeatable.")
    ] = None
    skip_invalid: Annotated[bool, typer.Option("--skip-invalid", help="Leave out molecules that cannot be read.")] = (
        False
    )
    data_root: DataRoot = None
    seed: Seed = 0

    def load(self, data: str, **further: Any) -> Dataset:
        """A data set, read as the flags say; `further` are options of `wlhn.data.load`."""
        from wlhn.data.load import load

        return load(
            data,
            data_root=self.data_root,
            roles=parse_roles(self.role),
            skip_invalid=self.skip_invalid,
            seed=self.seed,
            progress=sys.stderr.isatty(),
            **further,
        )

    def load_to_learn(self, data: str) -> Dataset:
        """A data set to learn from; what its readers had to decide is said on standard error."""
        dataset = self.load(data)
        for each in dataset.notes:
            note(f"{dataset.name}: {each}")
        return dataset

    def load_like(self, data: str, columns: Sequence[Column]) -> Dataset:
        """A data set whose columns are read as those of the training data were."""
        dataset = self.load(data, like=columns)
        if skipped := dataset.skipped:
            many = counted(len(skipped), "molecule")
            note(f"{dataset.name}: {many} could not be read, the first {skipped[0].id}: {skipped[0].why}")
        return dataset


@dataclass(frozen=True)
class TargetFlags(DataFlags):
    """How data are read, and what their targets are."""

    task: Annotated[
        str | None,
        typer.Option(help="classification or regression, where targets could be either.", show_default="inferred"),
    ] = None
    missing: Annotated[
        str | None,
        typer.Option(help="What stands for an unknown target beside an empty cell: --missing=-1."),
    ] = None

    def load(self, data: str, **further: Any) -> Dataset:
        return super().load(data, task=self.task, missing=self.missing, **further)


def training_data_warning(run: Path, dataset: Dataset, level: str) -> str:
    """A sentence where these are the very data of a run, as a score on them is not one on new data; else nothing."""
    from wlhn.runs.run_folder import read_config
    from wlhn.training.provenance import data_hash

    if read_config(run).get("data_hash") != data_hash(dataset):
        return ""
    return (
        f"The model was trained on some of these {level}s, so the score says little about new ones: "
        f"{run / 'README.md'} has the score on the test {level}s alone."
    )


def parse_roles(given: list[str] | None) -> dict[str, Role]:
    """Column roles from NAME=ROLE.

    >>> parse_roles(["age=category"])
    {'age': 'category'}
    """
    roles: dict[str, Role] = {}
    for text in given or []:
        name, equals, role = text.rpartition("=")
        if not equals:
            raise InputError(f"--role {text}: write NAME=ROLE")
        roles[name] = role  # type: ignore[assignment]
    return roles
