"""Options of models and training on the command line, made from where each is written down (`wlhn.options`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from wlhn.cli.common.first_use import begin_compiling
from wlhn.errors import InputError
from wlhn.options.network import NetworkOptions
from wlhn.options.option import choices_of
from wlhn.options.portable import restart_portably
from wlhn.options.training import TrainingOptions

Given = dict[str, Any]  # the settings that somebody gave, by name

Model = Annotated[str, typer.Option("--model", help="A model by name; `wlhn models` lists them.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any option of the model, as often as wanted; `wlhn models MODEL` lists them.",
    ),
]
Plugin = Annotated[
    list[Path] | None,
    typer.Option("--plugin", help="A Python file that registers models, data sets or protocols; repeatable."),
]
Grid = Annotated[
    str,
    typer.Option(
        "--grid", help="lean, fair, paper, defaults (one candidate), or a JSON file of settings to choose from."
    ),
]
Splits = Annotated[
    int | None,
    typer.Option("--splits", min=1, help="Only the first splits; the results say so.", show_default="all"),
]
Log = Annotated[
    str | None, typer.Option("--log", help="Also tell tensorboard, mlflow or wandb how it goes.", show_default="none")
]
FinalRuns = Annotated[
    int | None, typer.Option("--final-runs", min=1, help="Final runs on each split.", show_default="as the protocol")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Try jobs again that failed.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Local processes at work; numbers do not depend on it.", show_default="1"),
]
ExecutorKind = Annotated[
    str, typer.Option("--executor", help="Who does the jobs: local processes, or a ray cluster (as many as its CPUs).")
]
Address = Annotated[
    str | None,
    typer.Option("--address", help="Of the Ray cluster, HOST:PORT.", show_default="one found here, else a new one"),
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
        help="Hold instruction sets to AVX2, so that other x86-64 processors give the same numbers; slower.",
    ),
]


def flags() -> list[inspect.Parameter]:
    """A flag for each option that all networks share; without a value, so that what was given can be told."""
    shared = {each.name: (each, owner) for owner in (NetworkOptions, TrainingOptions) for each in fields(owner)}
    made = []
    for name, (each, owner) in shared.items():
        choices = choices_of(owner, name)
        about = each.metadata["about"] + (f" One of {', '.join(choices)}." if choices else "")
        info = typer.Option(help=about, show_default=str(each.default))
        annotation = Annotated[type(each.default) | None, info]  # type: ignore[valid-type]
        made.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
    return made


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter `given` becomes a flag for each option of networks, and `--set` for all others."""
    known = inspect.signature(command, eval_str=True)
    ours = {each.name: each for each in flags()}
    set_ = inspect.Parameter("set_", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Set)
    parameters: list[inspect.Parameter] = []
    for each in known.parameters.values():
        parameters += [*ours.values(), set_] if each.name == "given" else [each.replace(kind=set_.kind)]

    @wraps(command)
    def wrapped(**arguments: Any) -> None:
        if arguments["model"] == "wlhn":  # others compile less, or nothing
            begin_compiling()
        flagged = {name: value for name in ours if (value := arguments.pop(name)) is not None}
        load_plugins(arguments.get("plugin"))
        texts = set_beside(arguments["model"], flagged, arguments.pop("set_"))
        command(**arguments, given=flagged | texts)

    wrapped.__signature__ = known.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {}
    return wrapped


def set_beside(model: str, flagged: Given, texts: list[str] | None) -> Given:
    """The options that `--set` gives, none of which has a flag that was used."""
    if not texts:
        return {}
    from wlhn.training.settings import parse_settings

    values = parse_settings(model, texts)
    for name in flagged.keys() & values.keys():
        raise InputError(f"{name}: given by --{name.replace('_', '-')} and by --set; give it once")
    return values


def load_plugins(paths: list[Path] | None) -> None:
    """Run the files of `--plugin`."""
    from wlhn.plugins import load_plugin

    for path in paths or ():
        load_plugin(path)
