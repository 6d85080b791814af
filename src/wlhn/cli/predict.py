"""`wlhn predict`, `wlhn score`: what a trained model says of graphs, written as it comes, and how good that is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wlhn.cli.common.options import Data, DataFlags, Run, training_data_warning, with_flags
from wlhn.cli.common.output import Json, note, print_classes, print_json, progress, scores_in_a_line
from wlhn.errors import InputError

if TYPE_CHECKING:
    from wlhn.runs.trained import Predicted


@with_flags
def predict(
    run: Run,
    data: Data,
    *,
    out: Annotated[
        Path,
        typer.Option(help="The file to write; - streams CSV to standard output, with --json JSON lines."),
    ],
    raw_ids: Annotated[
        bool,
        typer.Option("--raw-ids", help="CSV: leave ids as they are, even those that a spreadsheet takes for formulas."),
    ] = False,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Write predictions and probabilities with your own ids: .csv, .jsonl, .parquet, or - for a stream.

    Where the data have targets, the answers are scored too.
    """
    import numpy as np

    from wlhn.runs.run_folder import load_run
    from wlhn.runs.tables import prediction_rows, with_skipped, write_stream, write_table
    from wlhn.runs.trained import Unseen, targets_for
    from wlhn.runs.trained import score as score_answers

    trained = load_run(run)
    dataset = reading.load_like(data, trained)
    unseen = Unseen(0, 0, (0,) * (trained.colours.depth + 1))
    logits: list[Any] = []
    streamed = str(out) == "-"
    with progress("predicting", "graph") as advance:

        def counted() -> Iterator[Predicted]:
            nonlocal unseen
            for part in trained.predict(dataset.graphs):
                unseen += part.unseen
                logits.append(part.logits)
                yield part
                advance(part.first + len(part.graphs), len(dataset.graphs), "")

        parts = with_skipped((prediction_rows(trained, dataset, part) for part in counted()), dataset.skipped)
        if streamed:
            rows = write_stream(sys.stdout, parts, as_json=json, raw=raw_ids)
        else:
            rows = write_table(out, parts, raw_ids)
    has_targets = False
    with suppress(InputError):  # no targets, or none that can be compared
        has_targets = len(targets_for(trained, dataset)) > 0
    scores = score_answers(trained, dataset, np.concatenate(logits)) if has_targets else None
    nodes = dataset.graphs.num_nodes
    if json and not streamed:
        scored = None if scores is None else scores.to_json()
        print_json({"out": str(out), "rows": rows, "nodes": nodes, "unseen": asdict(unseen), "scores": scored})
        return
    say = note if streamed else typer.echo
    say(f"{rows} predictions for {dataset.name} written to {'standard output' if streamed else out}.")
    if dataset.skipped:
        say(f"The {len(dataset.skipped)} that could not be read have an empty answer.")
    if unseen.nodes or unseen.edges:
        say(f"Not seen in training: labels of {unseen.nodes} nodes and {unseen.edges} edges, taken as unknown.")
    if trained.colours.depth:
        share = unseen.colours[-1] / max(nodes, 1)
        say(f"{100 * share:.1f} % of the nodes have a neighbourhood (WL colour) that training did not have.")
    if scores is not None:
        say(f"Against the targets of {scores.items} {trained.level}s in these data: {scores_in_a_line(scores)}.")
        if warning := training_data_warning(run, dataset, trained.level):
            say(warning)


@with_flags
def score(
    run: Run,
    data: Annotated[str, typer.Argument(help="A known name (see `wlhn datasets`) or a path, with targets.")],
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
    dataset = reading.load_like(data, trained)
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
