"""`wlhn similar`: the nearest nodes or graphs of a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wlhn.cli.common.options import with_flags
from wlhn.cli.common.output import Json, Out, print_json, print_table, text, write_rows
from wlhn.cli.common.reading import DataFlags
from wlhn.errors import InputError
from wlhn.options.checks import check_choice

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.inspection.similar import Alike, Similar
    from wlhn.runs.trained import Trained


@with_flags
def similar(
    run: Annotated[Path, typer.Argument(help="A run folder of `wlhn train`; with --by kernel it may be left out.")],
    data: Annotated[str | None, typer.Argument(help="A known name or a path.")] = None,
    *,
    node: Annotated[
        str | None, typer.Option(help="The id of a node; GRAPH/NODE where there are several graphs.")
    ] = None,
    graph: Annotated[str | None, typer.Option(help="The id of a graph; without ids, its position from 0.")] = None,
    by: Annotated[
        str,
        typer.Option(help="model: the learned distance; kernel: optimal assignment of nodes in the tree, for graphs."),
    ] = "model",
    top: Annotated[int, typer.Option(min=1, help="How many to list.")] = 10,
    out: Out = None,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """List the nearest nodes or graphs, by the learned hyperbolic distance or a kernel, beside their WL distance."""
    from wlhn.data.display import graph_names, graph_position, node_name, node_position
    from wlhn.runs.run_folder import load_run

    if (node is None) == (graph is None):
        raise InputError("similar: give either --node or --graph")
    check_choice("--by", by, "model", "kernel")
    if by == "kernel" and node is not None:
        raise InputError("--by kernel compares graphs; give --graph instead of --node")
    if data is None and by == "model":
        raise InputError("similar: give a run folder and data; without a run, --by kernel compares graphs")
    trained = None if data is None else load_run(run)
    dataset = reading.load_like(data or str(run), () if trained is None else trained.columns)
    item = node_position(dataset, node) if node is not None else graph_position(dataset, graph or "")
    found, measure = _nearest(dataset, trained, item, node is not None, by, top)
    what = "graph" if node is None else "node"
    classes = dataset.classes if dataset.level == what and dataset.task == "classification" else ()

    def described(k: int) -> dict[str, Any]:
        name = str(graph_names(dataset)[k]) if node is None else node_name(dataset, k)
        true = dataset.true_class(k) if classes else None
        return {"id": name} | ({"class": "unknown" if true is None else str(true)} if classes else {})

    rows = [
        described(int(k)) | {measure: float(d), "wl_distance": int(w)}
        for k, d, w in zip(found.index, getattr(found, measure), found.wl_distance, strict=True)
    ]
    if out is not None and write_rows(out, rows, json):
        return
    if json:
        print_json({"data": dataset.name, "kind": what, **described(item), "nearest": rows})
        return
    mine = described(item)
    title = f"{dataset.name}: nearest to {what} {mine['id']}" + (f" (class {mine['class']})" if classes else "")
    measured_by = "learned distance" if measure == "distance" else "similarity"
    columns = (what, *(["class"] if classes else []), measured_by, "WL distance")
    print_table(title, columns, [[text(value) for value in row.values()] for row in rows])


def _nearest(
    dataset: Dataset, trained: Trained | None, item: int, nodes: bool, by: str, top: int
) -> tuple[Similar | Alike, str]:
    """(what was found, by which of its fields)."""
    if by == "kernel" or trained is None:
        from wlhn.inspection.similar import alike, tree_of

        return alike(tree_of(dataset, trained), item, top), "similarity"
    from wlhn.inspection.similar import LearnedSpace

    space = LearnedSpace(trained, dataset.graphs)
    return space.similar_nodes(item, top) if nodes else space.similar_graphs(item, top), "distance"
