"""`wlhn hierarchy`: the colours of a data set, depth by depth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from wlhn.cli.common.options import with_flags
from wlhn.cli.common.output import DataRoot, Json, Seed, print_json, print_table, working
from wlhn.errors import InputError

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.hierarchy import Hierarchy

Data = Annotated[str, typer.Argument(help="A known name (see `wlhn datasets`) or a path.")]
Rounds = Annotated[int | None, typer.Option("--rounds", "-T", help="Rounds; without it, until none splits.")]
EdgeLabels = Annotated[bool, typer.Option("--edge-labels", help="Count neighbours with the labels of their edges.")]


@dataclass(frozen=True)
class TreeFlags:
    """How nodes are coloured at the start and told apart."""

    initial: Annotated[
        str | None,
        typer.Option(help="uniform, degree, label or features; without it, label where there are labels, else degree."),
    ] = None
    edge_labels: EdgeLabels = False
    data_root: DataRoot = None
    seed: Seed = 0

    def refine(self, data: str, rounds: int | None, directed: bool = False) -> tuple[Dataset, Hierarchy]:
        """A data set and its hierarchy; files that leave it open are read as `directed` too."""
        from wlhn.data import load
        from wlhn.hierarchy import refine

        with working(f"reading {data}"):
            dataset = load(data, data_root=self.data_root, seed=self.seed, directed=directed or None)
        graphs = dataset.graphs
        start: Any = self.initial or ("degree" if graphs.node_label is None else "label")
        with working(f"refining {graphs.num_nodes:,} nodes and {graphs.num_edges:,} directed edges"):
            return dataset, refine(graphs, rounds, start, self.edge_labels, directed)


@with_flags
def hierarchy(
    data: Data,
    *,
    rounds: Rounds = None,
    tree: TreeFlags,
    directed: Annotated[
        bool, typer.Option("--directed", help="Distinguish in-neighbours from out-neighbours.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the hierarchy to this file (.npz).")] = None,
    json: Json = False,
) -> None:
    """Refine colours and show what the WL hierarchy of a data set looks like."""
    check_suffix(out, ".npz")
    dataset, fitted = tree.refine(data, rounds, directed)
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
        [[str(row["depth"]), row["colours"], row["largest"], row["single_nodes"]] for row in document["depths"]],
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
    sizes = [fitted.count(t) for t in range(fitted.depth + 1)]
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
        "depths": [
            {
                "depth": t,
                "colours": len(size),
                "largest": int(size.max(initial=0)),
                "single_nodes": int((size == 1).sum()),
            }
            for t, size in enumerate(sizes)
        ],
        "largest_classes": [
            {"colour": int(c), "nodes": int(sizes[-1][c])} for c in (-sizes[-1]).argsort(kind="stable")[:10]
        ],
        "wl_distance": {
            "mean": 2 * float(np.average(np.arange(len(pairs)), weights=pairs)) if pairs.any() else None,
            "pairs": {str(2 * k): count for k, count in enumerate(pairs.tolist()) if count},
        },
    }
