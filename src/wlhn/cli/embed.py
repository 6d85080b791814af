"""`wlhn embed`: where a trained model places nodes and graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from wlhn.cli import options
from wlhn.cli.datasets import Roles
from wlhn.cli.output import DataRoot, Json, Seed, print_json
from wlhn.cli.predict import load_like
from wlhn.cli.progress import progress
from wlhn.errors import InputError


def embed(
    run: Annotated[Path, typer.Argument(help="A run folder of `wlhn train`.")],
    data: Annotated[str, typer.Argument(help="A known name or a path.")],
    out: options.Out,
    role: Roles = None,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write node and graph embeddings of a trained model to an .npz: ball points, tangent vectors, depth by depth."""
    summary = embed_with_run(run, data, out, role=role, data_root=data_root, seed=seed)
    if json:
        print_json(summary)
    else:
        typer.echo(f"Points of {summary['nodes']} nodes and {summary['graphs']} graphs written to {out}:")
        for name, shape in summary["arrays"].items():
            typer.echo(f"  {name} {tuple(shape)}")


def embed_with_run(
    run: Path, data: str, out: Path, *, role: list[str] | None, data_root: Path | None, seed: int
) -> dict[str, Any]:
    """Embed data with a run; what was written."""
    from wlhn.evaluation.run_folder import load_run
    from wlhn.files import replacing

    if out.suffix != ".npz":
        raise InputError(f"{out}: expected a name that ends in .npz")
    trained = load_run(run)
    dataset = load_like(data, trained.columns, data_root, role, seed)
    graphs = dataset.graphs
    with progress("embedding", "graph") as advance:
        parts = []
        for part in trained.embed(graphs):
            parts.append(part)
            advance(part.first + len(part.graphs), len(graphs), "")
    names = range(len(graphs)) if dataset.graph_ids is None else dataset.graph_ids
    arrays: dict[str, Any] = {
        "node_ball": np.concatenate([part.ball for part in parts]),
        "node_tangent": np.concatenate([part.tangent for part in parts]),
        "graph_vector": np.concatenate([part.graph for part in parts]),
        "graph_id": np.array([str(name) for name in names]),
        "node_id": np.array([str(name) for g in range(len(graphs)) for name in graphs.ids(g)]),
        "graph_of_node": graphs.graph_of_node,
    }
    with replacing(out) as draft, draft.open("wb") as file:
        np.savez(file, **arrays)
    return {
        "out": str(out),
        "nodes": graphs.num_nodes,
        "graphs": len(graphs),
        "arrays": {name: list(array.shape) for name, array in arrays.items()},
    }
