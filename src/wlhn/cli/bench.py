"""`wlhn bench`: speed, as ratios measured side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import typer

from wlhn.cli.common import options
from wlhn.cli.common.output import DataRoot, Json, Seed, note, print_json, print_records, print_table, working

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
    from wlhn.bench.refinement import CONTEST, ROUNDS, contest, growth
    from wlhn.bench.stable import NODES, stable_races

    with working(f"racing PyG and networkx on {min(CONTEST, max_edges):,} directed edges, {ROUNDS} rounds"):
        race = contest(min(CONTEST, max_edges), repeats, seed)
    with working("to the stable colouring of five graphs"):
        stable = stable_races(max(min(NODES, max_edges // 10), 10), repeats, seed)
    sizes = growth(max_edges, repeats, seed, lambda s: note(f"{s.directed_edges:,} directed edges: {s.seconds:.2f} s"))
    if json:
        ratios = {"ratio_to_pyg": race.ratio_to_pyg, "ratio_to_networkx": race.ratio_to_networkx}
        print_json(ratios | {"rounds": ROUNDS, "contest": race, "sizes": sizes, "stable": stable})
        return
    print_table(
        f"{ROUNDS} rounds on one graph of {race.directed_edges:,} directed edges",
        ("", "seconds", "times longer", "colours"),
        [
            ["wlhn", f"{race.seconds:.4f}", "1", race.colours],
            ["PyG WLConv", f"{race.seconds_pyg:.2f}", f"{race.ratio_to_pyg:.0f}", race.colours_pyg],
            ["networkx", f"{race.seconds_networkx:.2f}", f"{race.ratio_to_networkx:.0f}", race.colours_networkx],
        ],
    )
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
    if json:
        print_json(result)
        return
    print_table(
        f"Forward and backward, {rows:,} rows, d = {dimension}, one thread",
        ("", "milliseconds", "ratio to MLP"),
        [
            ["DiffHypCon level, compiled", f"{1e3 * result.seconds_compiled:.2f}", f"{result.ratio_to_mlp:.2f}"],
            ["DiffHypCon level, plain torch", f"{1e3 * result.seconds_plain:.2f}", f"{result.plain_ratio_to_mlp:.2f}"],
            ["GIN MLP", f"{1e3 * result.seconds_mlp:.2f}", "1"],
        ],
    )


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

    rows = []
    for name in data or TEN:
        with working(f"{name}: epochs of WLHN and GIN in turn"):
            row = measure_epoch(name, data_root=data_root, repeats=repeats, num_threads=threads)
        note(f"{name}: {row.wlhn_seconds:.4f} s against {row.gin_seconds:.4f} s, {row.ratio:.2f}")
        rows.append(row)
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

    with working(f"{data}: epochs of ours and PyG's in turn"):
        rows = list(measure_baselines(data, data_root=data_root, repeats=repeats, num_threads=threads))
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

    rows = []
    for name in data or ["NCI1"]:
        for kind in KERNELS:
            with working(f"{name}, {kind}: GraKeL for at most {budget:g} s, and ours"):
                row = measure_kernel(
                    name, kind, depth, budget, repeats=repeats, num_threads=threads, data_root=data_root
                )
            note(f"{name}, {kind}, {row.graphs} graphs: {row.seconds:.3f} s against {row.grakel_seconds:.1f} s")
            rows.append(row)
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

    rows = []
    for name in data or THREE:
        with working(f"{name}: evaluations of WLHN and GIN"):
            row = measure_evaluation(
                name, num_splits=splits, epochs=epochs, repeats=repeats, data_root=data_root, seed=seed
            )
        note(f"{name}: {row.wlhn_seconds:.1f} s against {row.gin_seconds:.1f} s, {row.ratio:.2f}")
        rows.append(row)
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

    with working(f"{data}: one graph, and {graphs:,}"):
        row = measure_prediction(
            data, num_graphs=graphs, repeats=repeats, num_threads=threads, data_root=data_root, seed=seed
        )
    if json:
        print_json(row)
        return
    latency = [f"{1e3 * row.wlhn_latency:.2f}", f"{1e3 * row.gin_latency:.2f}", f"{row.latency_ratio:.2f}"]
    throughput = [f"{row.wlhn_per_second:,.0f}", f"{row.gin_per_second:,.0f}", f"{row.throughput_ratio:.2f}"]
    print_table(
        f"Graphs of {row.dataset}, {threads} threads",
        ("", "WLHN", "GIN", "WLHN/GIN"),
        [["one graph, ms", *latency], [f"graphs a second, of {row.graphs:,}", *throughput]],
    )


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
