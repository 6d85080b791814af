"""Where a trained model places nodes and graphs: the part of `wlhn embed` that uses a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wlhn.cli.common.progress import progress
from wlhn.cli.common.reading import read_like
from wlhn.errors import InputError
from wlhn.files import replacing


def embed_with_run(run: Path, data: str, out: Path, *, data_root: Path | None, seed: int) -> dict[str, Any]:
    """Embed data with a run; what was written."""
    from wlhn.runs.run_folder import load_run

    if out.suffix != ".npz":
        raise InputError(f"{out}: the name must end in .npz")
    trained = load_run(run)
    dataset = read_like(data, trained.columns, data_root, None, seed)
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
