"""The application: its commands, its version, and what it does with bad input.

A command is imported when it is called or its own help is asked for: `wlhn --version`, `wlhn --help` and a shell's
completion answer without numpy or torch. So what `wlhn --help` says of a command stands here, beside its name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
import typer.core
import typer.main

from wlhn.cli.common.first_use import announce_compiling
from wlhn.errors import InputError

# Command NAME is the function, or the group of commands, NAME of this module of wlhn.cli; and what it is about.
COMMANDS = {
    "datasets": ("datasets", "Data sets: known ones, where they lie, their statistics against the published ones."),
    "train": ("train", "Train one model and keep it in a run folder."),
    "predict": ("predict", "Write what a trained model says of new graphs, with your own ids."),
    "score": ("predict", "Say how good a trained model is on data with targets."),
    "evaluate": ("evaluate", "Compare models fairly: selection on validation items, assessment on others."),
    "models": ("train", "List the models, or the options of one with their defaults."),
    "reproduce": ("reproduce", "Reproduce the paper's tables and figures."),
    "report": ("reproduce", "Write a page from result files."),
    "hierarchy": ("tree", "Refine colours and show what the WL hierarchy of a data set looks like."),
    "kernel": ("kernel", "Similarities of graphs, or explicit features, from the WL tree."),
    "embed": ("tree", "Embed the WL hierarchy in hyperbolic space and measure how well."),
    "explain": ("inspect", "Divide a model's answer for a graph or a node among substructures."),
    "similar": ("inspect", "Find the graphs or nodes nearest to one, by a model or by a kernel."),
    "explore": ("inspect", "Write a page to look at colours, graphs and a model's answers."),
    "bench": ("bench", "Speed, as ratios measured side by side."),
}


@cache
def load_command(name: str) -> Any:
    """A command as typer makes it, its module imported now; defaults in words stand in its help as numbers do."""
    found = getattr(import_module(f"wlhn.cli.{COMMANDS[name][0]}"), name)
    alone = typer.Typer(rich_markup_mode=None)
    alone.callback()(lambda: None)  # a group of one
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name)
    else:
        alone.command(name)(found)
    command: Any = typer.main.get_group(alone).commands[name]
    for each in (command, *getattr(command, "commands", {}).values()):
        for option in each.params:
            if isinstance(getattr(option, "show_default", None), str):  # which click would put into brackets
                option.help, option.show_default = f"{option.help}  [default: {option.show_default}]", False
    return command


class _Commands(Mapping[str, Any]):
    """All commands by name; whoever takes one imports it."""

    def __getitem__(self, name: str) -> Any:
        return load_command(name)

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Application(typer.core.TyperGroup):
    """A group that knows what its commands are about without having them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What help and completion ask for: a name and a sentence."""
        known = cmd_name in COMMANDS
        return typer.core.TyperCommand(cmd_name, short_help=COMMANDS[cmd_name][1]) if known else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """What a call asks for: the command itself."""
        name, found, rest = super().resolve_command(ctx, args)
        if name is None or found is None:  # completion of something that does not exist
            return name, None, rest
        announce_compiling(name)
        return name, load_command(name), rest


app = typer.Typer(
    name="wlhn",
    cls=_Application,
    help="The Weisfeiler-Leman tree of graphs: compare, embed, learn, explain.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: importing rich's markup takes twice as long as everything else here
)
INTERRUPTED = 130  # the exit code of a command that Ctrl-C ended
RESUMED = ("train", "evaluate", "reproduce")  # commands that go on where they were interrupted


def _version(wanted: bool) -> None:
    if wanted:
        import importlib.metadata

        typer.echo(f"wlhn {importlib.metadata.version('wlhn')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; bad input ends with one sentence on standard error and exit code 2."""
    try:
        app(prog_name="wlhn")
    except InputError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or 'system'}: {error.strerror or error}")
    except KeyboardInterrupt:
        _interrupted()
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:  # typer has heard of it first
            _interrupted()
        raise


def _interrupted() -> NoReturn:
    if sys.argv[1:2] and sys.argv[1] in RESUMED:
        typer.echo("interrupted; run the same command again to continue", err=True)
    sys.exit(INTERRUPTED)


def _fail(message: str) -> None:
    """One line on standard error, exit code 2."""
    typer.echo(f"error: {message}", err=True)
    sys.exit(2)
