"""The application: its commands, its version, and what it does with bad input."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import Annotated

import typer

from wlhn.cli.bench import bench
from wlhn.cli.datasets import datasets
from wlhn.cli.embed import embed
from wlhn.cli.evaluate import evaluate
from wlhn.cli.explain import explain
from wlhn.cli.explore import explore
from wlhn.cli.hierarchy import hierarchy
from wlhn.cli.models import models
from wlhn.cli.output import fail
from wlhn.cli.predict import predict
from wlhn.cli.report import report
from wlhn.cli.reproduce import reproduce
from wlhn.cli.similar import similar
from wlhn.cli.train import train
from wlhn.errors import InputError

app = typer.Typer(
    name="wlhn",
    help="Distance-preserving representations of nodes and graphs (Weisfeiler-Leman Hyperbolic Network).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(datasets, name="datasets")
for command in (train, predict, evaluate, models, reproduce, report, hierarchy, embed, explain, similar, explore):
    app.command()(command)
app.add_typer(bench, name="bench")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"wlhn {importlib.metadata.version('wlhn')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; bad input ends with one sentence on standard error and exit code 2."""
    try:
        app()
    except InputError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or 'system'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit(130)
