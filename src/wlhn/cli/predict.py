"""`wlhn predict`: what a trained model says of new graphs, written as it comes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wlhn.cli import options
from wlhn.cli.datasets import Roles, parse_roles
from wlhn.cli.output import DataRoot, Json, Seed, print_json
from wlhn.cli.progress import progress

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.runs.trained import Predicted


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder of `wlhn train`.")],
    data: Annotated[str, typer.Argument(help="A known name or a path.")],
    out: options.Out,
    raw_ids: Annotated[
        bool,
        typer.Option("--raw-ids", help="CSV: leave ids as they are, also those that a spreadsheet takes for formulas."),
    ] = False,
    role: Roles = None,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write predictions and probabilities with your own ids: .csv, .jsonl or .parquet."""
    from wlhn.runs.run_folder import load_run
    from wlhn.runs.tables import prediction_rows, write_table
    from wlhn.runs.trained import Unseen

    trained = load_run(run)
    dataset = load_like(data, trained.columns, data_root, role, seed)
    unseen = Unseen(0, 0, (0,) * (trained.colours.depth + 1))
    with progress("predicting", "graph") as advance:

        def counted() -> Iterator[Predicted]:
            nonlocal unseen
            for part in trained.predict(dataset.graphs):
                unseen += part.unseen
                yield part
                advance(part.first + len(part.graphs), len(dataset.graphs), "")

        rows = write_table(out, (prediction_rows(trained, dataset, part) for part in counted()), raw_ids)
    nodes = dataset.graphs.num_nodes
    if json:
        print_json({"out": str(out), "rows": rows, "nodes": nodes, "unseen": asdict(unseen)})
        return
    typer.echo(f"{rows} predictions for {dataset.name} written to {out}.")
    if unseen.nodes or unseen.edges:
        typer.echo(f"Not seen in training: labels of {unseen.nodes} nodes and {unseen.edges} edges, taken as unknown.")
    share = unseen.colours[-1] / max(nodes, 1)
    typer.echo(f"{share:.1%} of the nodes have a neighbourhood (WL colour) that training did not have.")


def load_like(data: str, columns: Any, data_root: Path | None, role: list[str] | None, seed: int) -> Dataset:
    """A data set whose columns are read as those of the training data were."""
    from wlhn.data.load import load

    return load(
        data, data_root=data_root, roles=parse_roles(role), like=columns, seed=seed, progress=sys.stderr.isatty()
    )
