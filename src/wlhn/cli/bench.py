"""`wlhn bench`: speed, as ratios measured side by side."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Annotated

import typer

from wlhn.cli import bench_whole
from wlhn.cli.common.output import DataRoot, Json, Seed, note, print_json, print_table, working

bench = typer.Typer(help="Speed, as ratios measured side by side.", no_args_is_help=True)
bench.command("evaluate")(bench_whole.evaluate)
bench.command("predict")(bench_whole.predict)
Repeats = Annotated[int, typer.Option(min=1, help="The best of this many runs counts.")]


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
        document = {
            "rounds": ROUNDS,
            "contest": asdict(race),
            "sizes": [asdict(size) for size in sizes],
            "stable": [asdict(row) | {"ratio_to_bliss": row.ratio_to_bliss} for row in stable],
        }
        print_json(ratios | document)
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
    print_table(
        "To the stable colouring; Bliss goes on to a canonical labelling"
        if stable[0].seconds_bliss is not None
        else "To the stable colouring (pip install igraph for Bliss beside it)",
        ("graph", "nodes", "rounds", "colours", "seconds", "Bliss", "times longer"),
        [
            [row.graph, row.nodes, row.rounds, row.colours, f"{row.seconds:.4f}"]
            + [
                "" if value is None else format(value, digits)
                for value, digits in ((row.seconds_bliss, ".4f"), (row.ratio_to_bliss, ".3g"))
            ]
            for row in stable
        ],
    )
    print_table(
        f"{ROUNDS} rounds on larger graphs",
        ("directed edges", "nodes", "seconds", "ns per edge", "peak GB"),
        [
            [f"{s.directed_edges:,}", s.nodes]
            + [f"{x:.2f}" for x in (s.seconds, s.nanoseconds_per_edge, s.peak_gigabytes)]
            for s in sizes
        ],
    )


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
        ratios = {"ratio_to_mlp": result.ratio_to_mlp, "plain_ratio_to_mlp": result.plain_ratio_to_mlp}
        print_json(ratios | asdict(result))
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
    threads: Annotated[int, typer.Option(min=1, help="Threads of all contestants.")] = 2,
    data_root: DataRoot = None,
    json: Json = False,
) -> None:
    """One training epoch of WLHN against PyG's GIN and against itself node by node (d = 64, T = 3, batch 128)."""
    from wlhn.bench.epoch import TEN, measure_epoch

    rows = []
    for name in data or TEN:
        with working(f"{name}: epochs of WLHN and GIN in turn"):
            rows.append(measure_epoch(name, data_root=data_root, repeats=repeats, num_threads=threads))
        note(f"{name}: {rows[-1].wlhn_seconds:.4f} s against {rows[-1].gin_seconds:.4f} s, {rows[-1].ratio:.2f}")
    mean = math.exp(sum(math.log(row.ratio) for row in rows) / len(rows))
    if json:
        print_json({"rows": [asdict(row) for row in rows], "geometric_mean": mean})
        return
    print_table(
        f"One epoch, {threads} threads; WLHN/GIN on the geometric mean: {mean:.2f}",
        (
            "data set",
            "nodes",
            "colours",
            "WLHN s",
            "GIN s",
            "WLHN/GIN",
            "WLHN per node s",
            "WLHN adds MB",
            "GIN adds MB",
        ),
        [
            [row.dataset, row.nodes, row.colours]
            + [f"{x:.4f}" for x in (row.wlhn_seconds, row.gin_seconds)]
            + [f"{row.ratio:.2f}", f"{row.per_node_seconds:.4f}"]
            + [f"{x / 1e6:.0f}" for x in (row.wlhn_memory, row.gin_memory)]
            for row in rows
        ],
    )


@bench.command("baselines")
def baselines(
    data: Annotated[str, typer.Argument(help="Graphs with classes and edge labels.")] = "MUTAG",
    repeats: Repeats = 5,
    threads: Annotated[int, typer.Option(min=1, help="Threads of all contestants.")] = 2,
    data_root: DataRoot = None,
    json: Json = False,
) -> None:
    """One training epoch of each baseline against the straightforward PyG model (d = 64, T = 3, batch 128)."""
    from wlhn.bench.baselines import measure_baselines

    with working(f"{data}: epochs of ours and PyG's in turn"):
        rows = list(measure_baselines(data, data_root=data_root, repeats=repeats, num_threads=threads))
    if json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    print_table(
        f"{data}, one epoch, {threads} threads",
        ("model", "seconds", "PyG seconds", "ratio"),
        [[row.model, f"{row.seconds:.4f}", f"{row.pyg_seconds:.4f}", f"{row.ratio:.2f}"] for row in rows],
    )


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
                rows.append(
                    measure_kernel(name, kind, depth, budget, repeats=repeats, num_threads=threads, data_root=data_root)
                )
            row = rows[-1]
            note(f"{name}, {kind}, {row.graphs} graphs: {row.seconds:.3f} s against {row.grakel_seconds:.1f} s")
    if json:
        print_json({"depth": depth, "threads": threads, "rows": [asdict(row) for row in rows]})
        return
    print_table(
        f"Depths 0 to {depth}, {threads} threads; seconds",
        ("data set", "kernel", "graphs", "of", "wlhn", "GraKeL", "ratio", "wlhn, all graphs", "largest difference"),
        [
            [
                row.dataset,
                row.kernel,
                row.graphs,
                row.of_graphs,
                f"{row.seconds:.4f}",
                f"{row.grakel_seconds:.2f}",
                f"{row.ratio:.0f}",
                f"{row.all_seconds:.3f}",
                f"{row.largest_difference:.1e}",
            ]
            for row in rows
        ],
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
    if json:
        table = [asdict(s) | {"microseconds_per_node": s.microseconds_per_node} for s in rows]
        print_json({"rows": table, "collections": [asdict(c) for c in drawn]})
        return
    print_table(
        "One graph, ten directed edges a node; seconds",
        ("nodes", "group", "refine", "count", "a step", "rows of it", "embed all", "µs a node", "peak GB"),
        [
            [f"{s.nodes:,}"]
            + [f"{x:.3f}" for x in (s.group_seconds, s.refine_seconds, s.count_seconds, s.step_seconds)]
            + [f"{s.step_rows:,}", f"{s.embed_seconds:.2f}"]
            + [f"{s.microseconds_per_node:.1f}", f"{s.peak_gigabytes:.2f}"]
            for s in rows
        ],
    )
    if drawn:
        print_table(
            f"Collections drawn from {data}; seconds",
            ("graphs", "nodes", "colours", "refine", "a step", "peak GB"),
            [
                [f"{c.graphs:,}", f"{c.nodes:,}", f"{c.colours:,}"]
                + [f"{x:.3f}" for x in (c.refine_seconds, c.step_seconds)]
                + [f"{c.peak_gigabytes:.2f}"]
                for c in drawn
            ],
        )
