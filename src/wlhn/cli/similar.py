"""`wlhn similar`: the nearest nodes or graphs of a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from wlhn.cli.common.output import DataRoot, Json, Seed, print_json, print_table
from wlhn.cli.common.reading import Roles, read_like
from wlhn.errors import InputError


def similar(
    run: Annotated[Path, typer.Argument(help="A run folder of `wlhn train`.")],
    data: Annotated[str, typer.Argument(help="A known name or a path.")],
    node: Annotated[
        str | None, typer.Option("--node", help="The id of a node; GRAPH/NODE where there are several graphs.")
    ] = None,
    graph: Annotated[
        str | None, typer.Option("--graph", help="The id of a graph; without ids, its position from 0.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many to list.")] = 10,
    role: Roles = None,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """List the nearest nodes or graphs in the learned hyperbolic distance, beside their WL distance."""
    from wlhn.data.lookup import graph_names, graph_position, node_name, node_position
    from wlhn.inspection.similar import Space
    from wlhn.runs.run_folder import load_run

    if (node is None) == (graph is None):
        raise InputError("similar: expected either --node or --graph")
    trained = load_run(run)
    dataset = read_like(data, trained.columns, data_root, role, seed)
    item = node_position(dataset, node) if node is not None else graph_position(dataset, graph or "")
    space = Space(trained, dataset.graphs)
    found = space.similar_graphs(item, top) if node is None else space.similar_nodes(item, top)
    what = "graph" if node is None else "node"
    classes = dataset.classes if dataset.level == what and dataset.task == "classification" else ()

    def described(k: int) -> dict[str, Any]:
        name = str(graph_names(dataset)[k]) if node is None else node_name(dataset, k)
        true = dataset.true_class(k) if classes else None
        return {"id": name} | ({"class": "unknown" if true is None else str(true)} if classes else {})

    rows = [
        described(int(k)) | {"distance": float(d), "wl_distance": int(w)}
        for k, d, w in zip(found.index, found.distance, found.wl_distance, strict=True)
    ]
    if json:
        print_json({"data": dataset.name, "kind": what, **described(item), "nearest": rows})
        return
    mine = described(item)
    title = f"{dataset.name}: nearest to {what} {mine['id']}" + (f" (class {mine['class']})" if classes else "")
    columns = (what, *(["class"] if classes else []), "learned distance", "WL distance")
    cells = [
        (escape(row["id"]), *([escape(row["class"])] if classes else []), f"{row['distance']:.4f}", row["wl_distance"])
        for row in rows
    ]
    print_table(escape(title), columns, cells)
