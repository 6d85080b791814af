"""`wlhn score`: how good a trained model's answers are for data whose targets are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wlhn.cli.common.options import with_flags
from wlhn.cli.common.output import Json, print_classes, print_json, scores_in_a_line
from wlhn.cli.common.reading import DataFlags, training_data_warning
from wlhn.errors import InputError


@with_flags
def score(
    run: Annotated[Path, typer.Argument(help="A run folder of `wlhn train`.")],
    data: Annotated[str, typer.Argument(help="A known name or a path, with targets.")],
    *,
    out: Annotated[Path | None, typer.Option(help="Also draw which class was taken for which: an .svg.")] = None,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Score a trained model on labelled data: every metric, class by class, and what was taken for what.

    All items with a target count, also those that the model was trained on: give it data of their own.
    """
    from wlhn.report.svg import confusion_matrix
    from wlhn.runs.run_folder import load_run
    from wlhn.runs.trained import score as score_data

    trained = load_run(run)
    if out is not None and not trained.classes:
        raise InputError(f"--out {out}: would draw which class was taken for which, and the run has no classes")
    dataset = reading.load_like(data, trained.columns)
    scores = score_data(trained, dataset)
    if out is not None:
        confusion_matrix(scores.confusion, trained.classes, out, title=f"{run.name} on {dataset.name}")
    if json:
        print_json({"data": dataset.name, "run": str(run), **scores.to_json()})
        return
    print_classes(scores, f"{trained.level}s")
    typer.echo(f"Scored on the {scores.items} {trained.level}s with a target: {scores_in_a_line(scores)}.")
    if warning := training_data_warning(run, dataset, trained.level):
        typer.echo(warning)
    if out is not None:
        typer.echo(f"Drawn to {out}.")
