"""`wlhn hierarchy`, `wlhn embed`: the colours of a data set, depth by depth, and their tree in hyperbolic space (or
graphs, where a trained model places them).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from wlhn.cli.common.options import Data, DataFlags, given_by_user, with_flags
from wlhn.cli.common.output import Json, print_json, print_table, print_values, progress, working
from wlhn.errors import InputError
from wlhn.files import replacing
from wlhn.options.checks import check_at_least, check_choice
from wlhn.words import counted

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.embeddings import TreeEmbedding
    from wlhn.hierarchy import Hierarchy

EdgeLabels = Annotated[bool, typer.Option("--edge-labels", help="Count neighbours with the labels of their edges.")]
Directed = Annotated[bool, typer.Option("--directed", help="Distinguish in-neighbours from out-neighbours.")]


@dataclass(frozen=True)
class TreeFlags:
    """How nodes are coloured at the start and told apart."""

    initial: Annotated[
        str | None,
        typer.Option(
            help="uniform, degree, label or features; without it, label where there are labels, else categorical "
            "features, else degree."
        ),
    ] = None
    edge_labels: EdgeLabels = False

    def refine(
        self, data: str, reading: DataFlags, rounds: int | None, directed: bool = False
    ) -> tuple[Dataset, Hierarchy]:
        """A data set and its hierarchy; files that leave it open are read as `directed` too."""
        from wlhn.data.columns import default_start
        from wlhn.hierarchy import refine

        with working(f"reading {data}"):
            dataset = reading.load_with_notes(data, directed=directed or None)
        graphs = dataset.graphs
        start: Any = self.initial or default_start(graphs, dataset.columns)
        columns = start if isinstance(start, str) else np.asarray(graphs.x)[:, list(start)]
        with working(f"refining {graphs.num_nodes:,} nodes and {graphs.num_edges:,} directed edges"):
            fitted = refine(graphs, rounds, columns, self.edge_labels, directed)
        return dataset, fitted if columns is start else replace(fitted, start="categories")


@with_flags
def hierarchy(
    data: Data,
    *,
    rounds: Annotated[
        int | None, typer.Option("--rounds", "-T", help="Rounds of refinement.", show_default="until none splits")
    ] = None,
    tree: TreeFlags,
    directed: Directed = False,
    out: Annotated[Path | None, typer.Option(help="Write the hierarchy to this file (.npz).")] = None,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Refine colours and show what the WL hierarchy of a data set looks like."""
    check_suffix(out, ".npz")
    dataset, fitted = tree.refine(data, reading, rounds, directed)
    if out is not None:
        with working(f"writing {out}"):
            fitted.save(out)
    document = _described(dataset, fitted)
    if json:
        print_json(document | {"out": out})
        return
    print_table(
        f"{dataset.name}: {document['tree_nodes']:,} tree nodes from {fitted.num_nodes:,} nodes, start {fitted.start}",
        ("depth", "colours", "largest", "single nodes"),
        [[str(row["depth"]), *list(row.values())[1:]] for row in document["depths"]],
    )
    stable = document["stable_depth"]
    typer.echo("Colours still split at the last depth" if stable is None else f"Stable from depth {stable} on")
    distances = document["wl_distance"]
    if distances["mean"] is not None:
        shares = ", ".join(f"{k}: {count:,}" for k, count in distances["pairs"].items())
        typer.echo(f"WL distance of two nodes: {distances['mean']:.3f} on average (pairs at {shares})")
    if out is not None:
        typer.echo(f"Written to {out}")


def check_suffix(out: Path | None, *suffixes: str) -> None:
    """Before any work: can this file be written?"""
    if out is None:
        return
    if out.suffix not in suffixes:
        raise InputError(f"{out}: the name must end in {' or '.join(suffixes)}")
    if out.is_dir():
        raise InputError(f"{out}: is a folder; name a file")


def _described(dataset: Dataset, fitted: Hierarchy) -> dict[str, Any]:
    last = fitted.count(fitted.depth)
    pairs = fitted.distance_histogram()
    return {
        "name": dataset.name,
        "graphs": fitted.num_graphs,
        "nodes": fitted.num_nodes,
        "directed_edges": dataset.graphs.num_edges,
        "initial": fitted.start,
        "edge_labels": fitted.edge_values is not None,
        "directed": fitted.directed,
        "rounds": fitted.depth,
        "colours": fitted.num_colours,
        "tree_nodes": len(fitted.tree),
        "stable_depth": fitted.stable_depth,
        "depths": fitted.summary,
        "largest_classes": [{"colour": int(c), "nodes": int(last[c])} for c in (-last).argsort(kind="stable")[:10]],
        "wl_distance": {
            "mean": 2 * float(np.average(np.arange(len(pairs)), weights=pairs)) if pairs.any() else None,
            "pairs": {str(2 * k): count for k, count in enumerate(pairs.tolist()) if count},
        },
    }


METHODS = ("sarkar", "sala", "diffhypcon")
ROWS = 1_000  # of a table that are written at a time
LARGE = 1_000_000  # tree nodes; beyond, single precision has to do


@with_flags
def embed(
    context: typer.Context,
    data: Annotated[str, typer.Argument(metavar="[RUN] DATA", help="A known name or a path, perhaps after a run.")],
    of_run: Annotated[str | None, typer.Argument(hidden=True)] = None,
    *,
    method: Annotated[str, typer.Option(help="sarkar (the disc), sala or diffhypcon (with random weights).")] = "sala",
    rounds: Annotated[int, typer.Option("--rounds", "-T", help="Rounds of refinement.")] = 2,
    tree: TreeFlags,
    tau: Annotated[float, typer.Option(help="Length of the tree's edges.")] = 1.0,
    dimension: Annotated[int | None, typer.Option(help="Dimension of the ball; 128, for sarkar 2.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the points to this file (.npz or .csv); - streams CSV and nothing else.")
    ] = None,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Embed the tree of colours of a data set, and say how well distances are kept.

    After the folder of a run (`wlhn train`), embed nodes and graphs with that model instead: ball points and tangent
    vectors of nodes depth by depth, and vectors of graphs, to the .npz file of --out.
    """
    if of_run is not None:
        for name in ("method", "rounds", "initial", "edge_labels", "tau", "dimension"):
            if given_by_user(context, name):
                raise InputError(f"{name}: the run in {data} has its own; leave it out")
        _embed_with_run(Path(data), of_run, out, reading, json)
        return
    from wlhn.embeddings import quality
    from wlhn.runs.tables import write_stream

    streamed = str(out) == "-"
    if streamed and json:
        raise InputError("--json has no effect with --out -, which streams the points; leave one of them out")
    check_suffix(None if streamed else out, ".npz", ".csv")
    d = _checked_dimension(method, dimension)
    dataset, fitted = tree.refine(data, reading, rounds)
    with working(f"embedding {len(fitted.tree):,} tree nodes"):
        embedding = _embedded(fitted, method, d, tau, reading.seed)
    if streamed:
        write_stream(sys.stdout, _rows(_tree_columns(fitted, embedding)))
        return
    if out is not None:
        with working(f"writing {out}"):
            _write(out, fitted, embedding)
    with working("measuring distances"):
        result = quality(embedding, reading.seed)
    document = {
        "name": dataset.name,
        "method": method,
        "dimension": d,
        "tau": tau,
        "initial": fitted.start,
        "rounds": fitted.depth,
        "tree_nodes": len(fitted.tree),
        "quality": result,
        "out": out,
    }
    if json:
        print_json(document)
        return
    title = f"{dataset.name}: {len(fitted.tree):,} tree nodes by {method} in {d} dimensions, τ = {tau:g}"
    print_values(title, "against the tree's distances", asdict(result))
    if out is not None:
        typer.echo(f"Written to {out}")


def _embed_with_run(run: Path, data: str, out: Path | None, reading: DataFlags, json: bool) -> None:
    """Write where a trained model places nodes and graphs."""
    from wlhn.data.display import graph_names
    from wlhn.runs.run_folder import load_run

    if out is None:
        raise InputError("out: the points of a run go to a file whose name ends in .npz")
    check_suffix(out, ".npz")
    trained = load_run(run)
    dataset = reading.load_like(data, trained)
    graphs, parts = dataset.graphs, []
    with progress("embedding", "graph") as advance:
        for part in trained.embed(graphs):
            parts.append(part)
            advance(part.first + len(part.graphs), len(graphs), "")
    arrays: dict[str, Any] = {
        "node_ball": np.concatenate([part.ball for part in parts]),
        "node_tangent": np.concatenate([part.tangent for part in parts]),
        "graph_vector": np.concatenate([part.graph for part in parts]),
        "graph_id": np.array([str(name) for name in graph_names(dataset)]),
        "node_id": np.array([str(name) for g in range(len(graphs)) for name in graphs.ids(g)]),
        "graph_of_node": graphs.graph_of_node,
    }
    with replacing(out) as draft, draft.open("wb") as file:
        np.savez(file, **arrays)
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    if json:
        print_json({"out": str(out), "nodes": graphs.num_nodes, "graphs": len(graphs), "arrays": shapes})
        return
    typer.echo(f"Points of {counted(graphs.num_nodes, 'node')} and {counted(len(graphs), 'graph')} written to {out}:")
    for name, shape in shapes.items():
        typer.echo(f"  {name} {tuple(shape)}")


def _checked_dimension(method: str, dimension: int | None) -> int:
    check_choice("method", method, *METHODS)
    if method == "sarkar" and dimension not in (None, 2):
        raise InputError(f"dimension: sarkar embeds in 2 dimensions, found {dimension}; sala takes any")
    d = dimension or (2 if method == "sarkar" else 128)
    check_at_least("dimension", d, 2)
    return d


def _embedded(fitted: Hierarchy, method: str, dimension: int, tau: float, seed: int) -> TreeEmbedding:
    import torch

    from wlhn.embeddings import diffhypcon, random_gin, sala, sarkar

    if method == "sarkar":
        return sarkar(fitted.tree, tau)
    if method == "sala":
        return sala(fitted.tree, dimension, tau)
    dtype = torch.float64 if len(fitted.tree) <= LARGE else torch.float32
    return diffhypcon(fitted.tree, random_gin(fitted, dimension, seed, dtype=dtype), tau)


def _tree_columns(fitted: Hierarchy, embedding: TreeEmbedding) -> dict[str, Any]:
    """One row for each tree node: depth and number of its colour (a root above all colours has −1 and −1), the tree
    node it hangs from, its distance and direction from the root, and its point in the ball.
    """
    above = fitted.offsets[0]
    return {
        "depth": np.repeat(np.arange(-above, fitted.depth + 1), [1] * above + fitted.num_colours),
        "colour": np.concatenate([np.full(above, -1), *(np.arange(n) for n in fitted.num_colours)]),
        "parent": embedding.tree.parent,
        "r": embedding.r.numpy(),
        "direction": embedding.e.numpy(),
        "point": embedding.points.numpy(),
    }


def _write(out: Path, fitted: Hierarchy, embedding: TreeEmbedding) -> None:
    """The columns; in an .npz, `node_row` is the row of each graph node: the colour that it has at the last depth."""
    from wlhn.runs.tables import write_table

    columns = _tree_columns(fitted, embedding)
    if out.suffix == ".csv":
        write_table(out, _rows(columns))
        return
    columns["node_row"] = fitted.offsets[-1] + fitted.colours[-1].astype(np.int64)
    with replacing(out) as draft, draft.open("wb") as file:
        np.savez(file, **columns)


def _rows(columns: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Columns as rows, so many at a time, with a cell for each number."""
    cells = {name: array for name, array in columns.items() if array.ndim == 1}
    for name, array in columns.items():
        cells |= {f"{name}_{k}": array[:, k] for k in range(array.shape[1])} if array.ndim == 2 else {}
    for first in range(0, len(columns["depth"]), ROWS):
        some = (array[first : first + ROWS].tolist() for array in cells.values())
        yield [dict(zip(cells, row, strict=True)) for row in zip(*some, strict=True)]
