"""`wlhn bench`: speed, as ratios measured side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wlhn.cli.common import options
from wlhn.cli.common.output import DataRoot, Json, Seed, note, print_json, print_records, print_values, text, working
from wlhn.documents import to_json

if TYPE_CHECKING:
    from wlhn.data import Dataset

bench = typer.Typer(help="Speed, as ratios measured side by side.", no_args_is_help=True)
Repeats = Annotated[int, typer.Option(min=1, help="The best of this many runs counts.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads of all contestants.")]


@bench.command("refine")
def refine(
    max_edges: Annotated[int, typer.Option(help="The largest graph, in directed edges.")] = 100_000_000,
    repeats: Repeats = 3,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Colour refinement: against PyG and networkx on a million directed edges, alone up to --max-edges, and to the
    stable colouring of roads, power laws and trees, against Bliss where igraph is installed.
    """
    from wlhn.bench.refinement import CONTEST, ROUNDS, STABLE_NODES, contest, growth, stable_races

    with working(f"racing PyG and networkx on {min(CONTEST, max_edges):,} directed edges, {ROUNDS} rounds"):
        race = contest(min(CONTEST, max_edges), repeats, seed)
    with working("to the stable colouring of five graphs"):
        stable = stable_races(max(min(STABLE_NODES, max_edges // 10), 10), repeats, seed)
    sizes = growth(max_edges, repeats, seed, lambda s: note(f"{s.directed_edges:,} directed edges: {s.seconds:.2f} s"))
    if json:
        ratios = {"ratio_to_pyg": race.ratio_to_pyg, "ratio_to_networkx": race.ratio_to_networkx}
        print_json(ratios | {"rounds": ROUNDS, "contest": race, "sizes": sizes, "stable": stable})
        return
    print_values(f"{ROUNDS} rounds on one graph; ratios say how many times longer the others take", "", to_json(race))
    bliss = stable[0].seconds_bliss is not None
    beside = "; Bliss goes on to a canonical labelling" if bliss else " (pip install igraph for Bliss beside it)"
    print_records(f"To the stable colouring{beside}", stable)
    print_records(f"{ROUNDS} rounds on larger graphs", sizes)


@bench.command("construct")
def construct(
    rows: Annotated[int, typer.Option(help="Children; two for each parent.")] = 20_000,
    dimension: Annotated[int, typer.Option(help="Dimension of the ball.")] = 64,
    repeats: Repeats = 30,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """One level of DiffHypCon, forward and backward on one thread, against the GIN MLP on the same rows."""
    from wlhn.bench.construction import construction

    with working(f"{repeats} rounds of {rows:,} rows"):
        result = construction(rows, dimension, repeats, seed)
    _show_one(json, "Forward and backward, compiled, in plain torch, and the GIN MLP; one thread", result)


@bench.command("epoch")
def epoch(
    data: Annotated[list[str] | None, typer.Argument(help="Data sets; without any, the ten of the paper.")] = None,
    repeats: Repeats = 5,
    threads: Threads = 2,
    data_root: DataRoot = None,
    json: Json = False,
) -> None:
    """One training epoch of WLHN against PyG's GIN and against itself node by node (d = 64, T = 3, batch 128)."""
    from wlhn.bench.epoch import TEN, measure_epoch

    def measure(dataset: Dataset) -> list[Any]:
        return [measure_epoch(dataset, repeats=repeats, num_threads=threads)]

    rows = _measured(data or TEN, data_root, "epochs of WLHN and GIN in turn", measure)
    mean = math.exp(sum(math.log(row.ratio) for row in rows) / len(rows))
    title = f"One epoch, {threads} threads; WLHN/GIN on the geometric mean: {mean:.2f}"
    _show(json, title, rows, geometric_mean=mean)


@bench.command("baselines")
def baselines(
    data: Annotated[str, typer.Argument(help="Graphs with classes and edge labels.")] = "MUTAG",
    repeats: Repeats = 5,
    threads: Threads = 2,
    data_root: DataRoot = None,
    json: Json = False,
) -> None:
    """One training epoch of each baseline against the straightforward PyG model (d = 64, T = 3, batch 128)."""
    from wlhn.bench.baselines import measure_baselines
    from wlhn.data import load

    with working(f"{data}: epochs of ours and PyG's in turn"):
        rows = list(measure_baselines(load(data, data_root=data_root), repeats=repeats, num_threads=threads))
    _show(json, f"{data}, one epoch, {threads} threads", rows)


@bench.command("kernels")
def kernels(
    data: Annotated[list[str] | None, typer.Argument(help="Data sets of graphs; without any, NCI1.")] = None,
    depth: Annotated[int, typer.Option(min=1, help="Rounds of refinement.")] = 5,
    budget: Annotated[
        float, typer.Option(min=1, help="Seconds for GraKeL: the largest part of a set that it finishes in it counts.")
    ] = 600,
    repeats: Repeats = 3,
    threads: Annotated[int, typer.Option(min=1, help="Our threads; GraKeL has one.")] = 2,
    data_root: DataRoot = None,
    json: Json = False,
) -> None:
    """Matrices of the WL and the optimal assignment kernel against GraKeL's, from graphs to normalised matrix."""
    from wlhn.bench.kernels import KERNELS, measure_kernel

    def measure(dataset: Dataset) -> list[Any]:
        return [measure_kernel(dataset, kind, depth, budget, repeats=repeats, num_threads=threads) for kind in KERNELS]

    rows = _measured(data or ["NCI1"], data_root, f"GraKeL for at most {budget:g} s a kernel, and ours", measure)
    _show(json, f"Depths 0 to {depth}, {threads} threads; seconds", rows, depth=depth, threads=threads)


@bench.command("evaluate")
def evaluate(
    data: Annotated[list[str] | None, typer.Argument(help="Data sets; without any, MUTAG, NCI1 and Cornell.")] = None,
    splits: options.Splits = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of epochs.", show_default="the lean grid's")
    ] = None,
    repeats: Repeats = 1,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Whole evaluations with the lean grid, against the same jobs and epochs with PyG's GIN and loader (one thread)."""
    from wlhn.bench.evaluation import THREE, measure_evaluation

    def measure(dataset: Dataset) -> list[Any]:
        return [measure_evaluation(dataset, num_splits=splits, epochs=epochs, repeats=repeats, seed=seed)]

    rows = _measured(data or THREE, data_root, "evaluations of WLHN and GIN", measure)
    _show(json, "Whole evaluations, lean grid, one thread", rows)


@bench.command("predict")
def predict(
    data: Annotated[str, typer.Argument(help="Graphs with classes, to train on and to draw from.")] = "MUTAG",
    graphs: Annotated[int, typer.Option(help="How many are drawn.")] = 100_000,
    repeats: Repeats = 3,
    threads: Threads = 2,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Answers of a trained WLHN against PyG's GIN: one graph's latency, and the throughput on many small graphs."""
    from wlhn.bench.prediction import measure_prediction
    from wlhn.data import load

    with working(f"{data}: one graph, and {graphs:,}"):
        dataset = load(data, data_root=data_root)
        row = measure_prediction(dataset, num_graphs=graphs, repeats=repeats, num_threads=threads, seed=seed)
    _show_one(json, f"Seconds for one graph, graphs a second for many; {threads} threads", row)


@bench.command("scale")
def scale(
    max_nodes: Annotated[int, typer.Option(help="The largest graph, in nodes.")] = 1_000_000,
    data: Annotated[str | None, typer.Option(help="A data set of graphs to draw large collections from.")] = None,
    max_graphs: Annotated[int, typer.Option(help="The largest collection, in graphs.")] = 400_000,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Large graphs: time and memory from edges to colours, training steps and vectors of all nodes (d = 64, T = 3)."""
    from wlhn.bench.scale import collections
    from wlhn.bench.scale import scale as measured
    from wlhn.data import load

    rows = measured(max_nodes, seed, lambda s: note(f"{s.nodes:,} nodes: {s.microseconds_per_node:.1f} µs a node"))
    drawn = []
    if data is not None:
        with working(f"up to {max_graphs:,} graphs drawn from {data}"):
            drawn = collections(load(data, data_root=data_root, seed=seed), max_graphs, seed)
    _show(json, "One graph, ten directed edges a node; seconds", rows, collections=drawn)
    if drawn and not json:
        print_records(f"Collections drawn from {data}; seconds", drawn)


def _show(json: bool, title: str, rows: Sequence[object], **further: object) -> None:
    """Measurements as a table, or as a document that has more to say."""
    if json:
        print_json({"rows": rows, **further})
    else:
        print_records(title, rows)


def _show_one(json: bool, title: str, row: object) -> None:
    """A single measurement, with the names of its numbers beside them, or as a document."""
    if json:
        print_json(row)
    else:
        print_values(title, "", to_json(row))


def _measured(
    names: Sequence[str], data_root: Path | None, about: str, measure: Callable[[Dataset], list[Any]]
) -> list[Any]:
    """What is measured on each data set, told as it comes."""
    from wlhn.data import load

    rows: list[Any] = []
    for name in names:
        with working(f"{name}: {about}"):
            found = measure(load(name, data_root=data_root))
        for row in found:
            note(f"{name}: {', '.join(f'{what} {text(value)}' for what, value in to_json(row).items())}")
        rows += found
    return rows
