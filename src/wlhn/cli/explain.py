"""`wlhn explain`: which substructures speak for an answer, and how strongly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from wlhn.cli.datasets import Roles
from wlhn.cli.output import DataRoot, Json, Seed, print_json, print_table
from wlhn.cli.predict import load_like
from wlhn.errors import InputError

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.inspection.explain import Explanation, Margin
    from wlhn.runs.trained import Trained


def explain(
    run: Annotated[Path, typer.Argument(help="A run folder of `wlhn train`.")],
    data: Annotated[str, typer.Argument(help="A known name or a path.")],
    graph: Annotated[str, typer.Option("--graph", help="The id of a graph; without ids, its position from 0.")],
    output: Annotated[
        str | None,
        typer.Option("--class", help="The class or target to explain.", show_default="the predicted class"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also draw the graph with its nodes tinted: .svg or .png.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Colours in the table.")] = 10,
    role: Roles = None,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Divide a model's answer for one graph among its substructures (WL colours); the parts add up to the answer."""
    from wlhn.data.display import node_names
    from wlhn.data.lookup import graph_names, graph_position
    from wlhn.hierarchy import colour_names
    from wlhn.inspection.explain import explain as explain_graph
    from wlhn.runs.run_folder import load_run

    trained = load_run(run)
    dataset = load_like(data, trained.columns, data_root, role, seed)
    position = graph_position(dataset, graph)
    explanation = explain_graph(trained, dataset.graphs, position)
    outputs = [str(name) for name in (trained.classes or trained.targets or range(trained.out_channels))]
    if output is not None and output not in outputs:
        raise InputError(f"--class {output}: expected one of {', '.join(outputs)}")
    single = trained.task != "classification"
    wanted = outputs.index(output) if output is not None else 0 if single else int(explanation.output.argmax())
    margin = explanation.margin(wanted, alone=single)
    start, stop = dataset.graphs.node_ptr[position : position + 2]
    names = node_names(dataset)[start:stop]
    substructure = colour_names(explanation.hierarchy, explanation.hierarchy.depth, names)
    order = np.argsort(-np.abs(margin.colour), kind="stable")
    colours: list[dict[str, Any]] = [
        {
            "substructure": substructure[c],
            "nodes": [str(i) for i in np.array(dataset.graphs.ids(position))[explanation.node_colour == c]],
            "adds": float(margin.colour[c]),
            "adds_per_node": float(margin.colour[c] / explanation.count[c]),
        }
        for c in order
    ]
    what = _what(trained, outputs, margin)
    if out is not None:
        _draw(dataset, position, names, margin, out, f"{dataset.name}, graph {graph_names(dataset)[position]}: {what}")
    if json:
        print_json(_document(trained, dataset, position, outputs, explanation, margin, what, colours, out))
        return
    rows = [
        (f"{c['adds']:+.4f}", f"{c['adds_per_node']:+.4f}", escape(c["substructure"]), escape(_short(c["nodes"])))
        for c in colours[:top]
    ]
    true = dataset.true_class(position) if dataset.level == "graph" else None
    truth = "" if true is None else f", true: {true}"
    said = f", predicted: {outputs[int(explanation.output.argmax())]}{truth}" if not single else ""
    print_table(
        escape(f"{dataset.name}, graph {graph_names(dataset)[position]}{said}"),
        ("adds", "each node", f"substructure, {trained.colours.depth} rounds deep", "nodes"),
        rows,
    )
    rest = float(margin.colour[order[top:]].sum())
    typer.echo(
        f"{what}: {margin.value:+.4f} = {margin.base:+.4f} (nothing summed) "
        f"{float(margin.colour[order[:top]].sum()):+.4f} (rows above) {rest:+.4f} (the other "
        f"{max(len(order) - top, 0)} substructures)."
    )
    if out is not None:
        typer.echo(f"Drawn to {out}.")


def _what(trained: Trained, outputs: list[str], margin: Margin) -> str:
    if margin.rival is not None:
        return f"lead of {outputs[margin.wanted]} over {outputs[margin.rival]} (logits)"
    return f"{outputs[margin.wanted]} ({'number' if trained.task == 'regression' else 'logit'})"


def _short(nodes: list[str], length: int = 30) -> str:
    text = ", ".join(nodes)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _draw(dataset: Dataset, position: int, names: Any, margin: Margin, out: Path, title: str) -> None:
    from wlhn.report.drawings import tinted_graph

    edges = dataset.graphs.select([position]).edge_index.T
    tinted_graph(edges[edges[:, 0] < edges[:, 1]], margin.node, out, labels=names.tolist(), title=title)


def _document(
    trained: Trained,
    dataset: Dataset,
    position: int,
    outputs: list[str],
    explanation: Explanation,
    margin: Margin,
    what: str,
    colours: list[dict[str, Any]],
    out: Path | None,
) -> dict[str, Any]:
    from wlhn.data.lookup import graph_names

    ids = [str(i) for i in dataset.graphs.ids(position)]
    return {
        "data": dataset.name,
        "graph": str(graph_names(dataset)[position]),
        "outputs": dict(zip(outputs, explanation.output.tolist(), strict=True)),
        "explained": what,
        "value": margin.value,
        "base": margin.base,
        "substructures": colours,
        "nodes": [{"id": i, "adds": v} for i, v in zip(ids, margin.node.tolist(), strict=True)],
        "picture": None if out is None else str(out),
    }
