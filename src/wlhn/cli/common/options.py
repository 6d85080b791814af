"""Flags that commands share, and how data are read by them.

A parameter of a command that is a dataclass stands for a flag for each of its fields. Options of models and training
become flags from where each is written down (`wlhn.options`).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from wlhn.cli.common.first_use import begin_compiling
from wlhn.cli.common.output import DataRoot, Seed, note
from wlhn.errors import InputError
from wlhn.evaluation import DEFAULT_GRID
from wlhn.options.network import NetworkOptions
from wlhn.options.option import choices_of
from wlhn.options.portable import restart_portably
from wlhn.options.training import TrainingOptions
from wlhn.words import counted

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.data.columns import Role
    from wlhn.evaluation.executor import Workers
    from wlhn.runs.trained import Trained

Class = TypeVar("Class")
SHARED = {each.name: (owner, each) for owner in (NetworkOptions, TrainingOptions) for each in fields(owner)}

Run = Annotated[Path, typer.Argument(help="A run folder of `wlhn train`.")]
Data = Annotated[str, typer.Argument(help="A known name (see `wlhn datasets`) or a path.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any option of the model; repeatable. `wlhn models MODEL` lists them.",
    ),
]
Plugin = Annotated[
    list[Path] | None,
    typer.Option(help="A Python file that registers models, data sets or protocols; repeatable."),
]
Splits = Annotated[
    int | None,
    typer.Option(min=1, help="Only the first splits; the results say so.", show_default="all"),
]
Log = Annotated[str | None, typer.Option(help="Also log to tensorboard, mlflow or wandb.", show_default="none")]
Address = Annotated[
    str | None,
    typer.Option(help="Address of the Ray cluster, HOST:PORT.", show_default="one found here, else a new one"),
]


def _portable(wanted: bool) -> bool:
    if wanted:
        restart_portably()
    return wanted


Portable = Annotated[
    bool,
    typer.Option(
        "--portable",
        callback=_portable,
        is_eager=True,
        help="Restrict instruction sets to AVX2, so that other x86-64 processors give the same numbers; slower.",
    ),
]


def with_flags(command: Callable[..., None]) -> Callable[..., None]:
    """A command as typer takes it: a flag for each field of the dataclasses among its parameters."""
    known, keyword_only = inspect.signature(command, eval_str=True), inspect.Parameter.KEYWORD_ONLY
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for each in known.parameters.values():
        if not is_dataclass(each.annotation):
            parameters.append(each.replace(kind=keyword_only))
            continue
        groups[each.name] = each.annotation
        hints = get_type_hints(each.annotation, include_extras=True)
        for flag in fields(each.annotation):
            described = {"default": flag.default, "annotation": hints[flag.name]}
            parameters.append(inspect.Parameter(flag.name, keyword_only, **described))

    @wraps(command)
    def wrapped(**arguments: Any) -> None:
        for name, group in groups.items():
            arguments[name] = group(**{flag.name: arguments.pop(flag.name) for flag in fields(group)})
        command(**arguments)

    wrapped.__signature__ = known.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {}
    return wrapped


def given_by_user(context: typer.Context, parameter: str) -> bool:
    """Whether a parameter was given in this call, and has not its default."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def _with_shared_options(flags: type[Class]) -> type[Class]:
    """A dataclass with one more flag for each option that all networks share: None, so that what was given shows."""
    for name, (owner, each) in SHARED.items():
        choices = choices_of(owner, name)
        about = each.metadata["about"] + (f" One of {', '.join(choices)}." if choices else "")
        info = typer.Option(help=about, show_default=str(each.default))
        flags.__annotations__[name] = Annotated[type(each.default) | None, info]
        setattr(flags, name, None)
    return dataclass(frozen=True)(flags)


@_with_shared_options
class ModelFlags:
    """A model and its settings."""

    model: Annotated[str, typer.Option(help="A model by name; `wlhn models` lists them.")] = "wlhn"
    plugin: Plugin = None
    set_: Set = None

    def given(self) -> dict[str, Any]:
        """The settings that somebody gave, by flags or by `--set`; call it first, as plugins may bring the model."""
        if self.model == "wlhn":  # others compile less, or nothing
            begin_compiling()
        load_plugins(self.plugin)
        flagged = {name: value for name in SHARED if (value := getattr(self, name)) is not None}
        if not self.set_:
            return flagged
        from wlhn.training.settings import parse_settings

        values = parse_settings(self.model, self.set_)
        for name in flagged.keys() & values.keys():
            raise InputError(f"{name}: given by --{name.replace('_', '-')} and by --set; give it once")
        return flagged | values


@dataclass(frozen=True)
class EvaluationFlags:
    """How thorough an evaluation is, and who does its jobs."""

    grid: Annotated[
        str,
        typer.Option(help="lean, fair, wide, paper, defaults (one candidate), or a JSON file to choose settings from."),
    ] = DEFAULT_GRID
    splits: Splits = None
    final_runs: Annotated[
        int | None,
        typer.Option(min=1, help="Final runs on each split.", show_default="as the protocol"),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of local processes; it does not change the numbers.", show_default="1"),
    ] = None
    executor: Annotated[
        str,
        typer.Option(help="Where jobs run: local (processes here) or ray (all CPUs of a cluster)."),
    ] = "local"
    address: Address = None
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Retry jobs that failed.")] = False
    portable: Portable = False

    @property
    def workers(self) -> Workers:
        from wlhn.evaluation.executor import Workers

        return Workers(self.executor, self.jobs, self.address)


def load_plugins(paths: list[Path] | None) -> None:
    """Run the files of `--plugin`."""
    from wlhn.plugins import load_plugin

    for path in paths or ():
        load_plugin(path)


@dataclass(frozen=True)
class DataFlags:
    """How data are read: every command that reads the user's own has all of these, as errors of readers name them."""

    role: Annotated[
        list[str] | None, typer.Option(help="What a column of your own tables is: NAME=ROLE, repeatable.")
    ] = None
    task: Annotated[
        str | None,
        typer.Option(help="classification or regression, where targets could be either.", show_default="inferred"),
    ] = None
    missing: Annotated[
        str | None,
        typer.Option(help="What stands for an unknown target beside an empty cell: --missing=-1."),
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
            task=self.task,  # type: ignore[arg-type]  # which `load` checks
            missing=self.missing,
            skip_invalid=self.skip_invalid,
            seed=self.seed,
            progress=sys.stderr.isatty(),
            **further,
        )

    def load_with_notes(self, data: str, **further: Any) -> Dataset:
        """A data set; what its readers had to decide is said on standard error."""
        dataset = self.load(data, **further)
        for each in dataset.notes:
            note(f"{dataset.name}: {each}")
        return dataset

    def load_like(self, data: str, trained: Trained | None) -> Dataset:
        """A data set; where there is a run, its columns and directions are read as those of the training data were."""
        as_then: dict[str, Any] = {}
        if trained is not None:
            as_then = {"like": trained.columns, "directed": trained.settings.training.directed or None}
        dataset = self.load(data, **as_then)
        if skipped := dataset.skipped:
            many = counted(len(skipped), "molecule")
            note(f"{dataset.name}: {many} could not be read, the first {skipped[0].id}: {skipped[0].why}")
        return dataset


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
