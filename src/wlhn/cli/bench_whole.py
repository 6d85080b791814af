"""`wlhn bench evaluate` and `wlhn bench predict`: speed of what people ask for as a whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from wlhn.cli.common import options
from wlhn.cli.common.output import DataRoot, Json, Seed, note, print_json, print_table, working


def evaluate(
    data: Annotated[list[str] | None, typer.Argument(help="Data sets; without any, MUTAG, NCI1 and Cornell.")] = None,
    splits: options.Splits = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Epochs at most.", show_default="the lean grid's")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="The best of this many runs counts.")] = 1,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Whole evaluations with the lean grid, against the same jobs and epochs with PyG's GIN and loader (one thread)."""
    from wlhn.bench.evaluation import THREE, measure_evaluation

    rows = []
    for name in data or THREE:
        with working(f"{name}: evaluations of WLHN and GIN"):
            row = measure_evaluation(
                name, num_splits=splits, epochs=epochs, repeats=repeats, data_root=data_root, seed=seed
            )
        note(f"{name}: {row.wlhn_seconds:.1f} s against {row.gin_seconds:.1f} s, {row.ratio:.2f}")
        rows.append(row)
    if json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    print_table(
        "Whole evaluations, lean grid, one thread",
        ("data set", "splits", "jobs", "epochs", "WLHN s", "GIN s", "WLHN/GIN"),
        [
            [row.dataset, row.splits, row.jobs, row.epochs]
            + [f"{x:.2f}" for x in (row.wlhn_seconds, row.gin_seconds, row.ratio)]
            for row in rows
        ],
    )


def predict(
    data: Annotated[str, typer.Argument(help="Graphs with classes, to train on and to draw from.")] = "MUTAG",
    graphs: Annotated[int, typer.Option(help="How many are drawn.")] = 100_000,
    repeats: Annotated[int, typer.Option(min=1, help="The best of this many runs counts.")] = 3,
    threads: Annotated[int, typer.Option(min=1, help="Threads of both.")] = 2,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Answers of a trained WLHN against PyG's GIN: one graph's latency, and the throughput on many small graphs."""
    from wlhn.bench.prediction import measure_prediction

    with working(f"{data}: one graph, and {graphs:,}"):
        row = measure_prediction(
            data, num_graphs=graphs, repeats=repeats, num_threads=threads, data_root=data_root, seed=seed
        )
    if json:
        print_json(asdict(row))
        return
    print_table(
        f"Graphs of {row.dataset}, {threads} threads",
        ("", "WLHN", "GIN", "WLHN/GIN"),
        [
            ["one graph, ms"]
            + [f"{1e3 * s:.2f}" for s in (row.wlhn_latency, row.gin_latency)]
            + [f"{row.latency_ratio:.2f}"],
            [f"graphs a second, of {row.graphs:,}"]
            + [f"{n:,.0f}" for n in (row.wlhn_per_second, row.gin_per_second)]
            + [f"{row.throughput_ratio:.2f}"],
        ],
    )
