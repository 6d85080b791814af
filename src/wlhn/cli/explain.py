"""`wlhn explain`: which substructures speak for an answer, and how strongly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from wlhn.cli.common.options import with_flags
from wlhn.cli.common.output import Json, print_json, print_table
from wlhn.cli.common.reading import DataFlags
from wlhn.errors import InputError
from wlhn.words import shortened

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.inspection.explain import Explanation, Margin
    from wlhn.runs.trained import Trained


@with_flags
def explain(
    run: Annotated[Path, typer.Argument(help="A run folder of `wlhn train`.")],
    data: Annotated[str, typer.Argument(help="A known name or a path.")],
    *,
    graph: Annotated[str | None, typer.Option(help="The id of a graph; without ids, its position from 0.")] = None,
    node: Annotated[
        str | None, typer.Option(help="The id of a node, for runs on nodes; GRAPH/NODE of several graphs.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--class", help="The class or target to explain.", show_default="the predicted class"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also draw the graph with its nodes tinted: .svg or .png.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Colours in the table.")] = 10,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Divide a model's answer for a graph or a node among substructures (WL colours); parts add up to the answer."""
    from wlhn.data.display import names_as_seen, node_names
    from wlhn.hierarchy import colour_names
    from wlhn.runs.run_folder import load_run

    if (graph is None) == (node is None):
        raise InputError("explain: name either a graph (--graph) or, of a run on nodes, a node (--node)")
    trained = load_run(run)
    dataset = reading.load_like(data, trained.columns)
    item, what_it_is, explanation = _explained(trained, dataset, graph, node)
    outputs = [str(name) for name in (trained.classes or trained.targets or range(trained.out_channels))]
    if output is not None and output not in outputs:
        raise InputError(f"--class {output}: must be one of {', '.join(outputs)}")
    single = trained.task != "classification"
    wanted = outputs.index(output) if output is not None else 0 if single else int(explanation.output.argmax())
    margin = explanation.margin(wanted, alone=single)
    names, ids = node_names(dataset)[explanation.positions], _ids(dataset, explanation)
    seen = names_as_seen(dataset, trained.vocabulary.nodes.inputs)[explanation.positions]
    substructure = colour_names(explanation.hierarchy, explanation.hierarchy.depth, seen)
    order = np.argsort(-np.abs(margin.colour), kind="stable")
    colours: list[dict[str, Any]] = [
        {
            "substructure": substructure[c],
            "nodes": ids[explanation.node_colour == c].tolist(),
            "adds": float(margin.colour[c]),
            "adds_per_node": float(margin.colour[c] / explanation.count[c]),
        }
        for c in order
    ]
    if explanation.own is not None:
        colours[order.tolist().index(explanation.node_colour[explanation.own])]["substructure"] += ", the node itself"
    what = _what(trained, outputs, margin)
    if out is not None:
        _draw(explanation, names, margin, out, f"{dataset.name}, {what_it_is}: {what}")
    if json:
        kind, _, name = what_it_is.partition(" ")
        document = {
            "data": dataset.name,
            kind: name,
            "outputs": dict(zip(outputs, explanation.output.tolist(), strict=True)),
            "explained": what,
            "value": margin.value,
            "base": margin.base,
            "substructures": colours,
            "nodes": [{"id": i, "adds": v} for i, v in zip(ids.tolist(), margin.node.tolist(), strict=True)],
            "picture": out,
        }
        print_json(document)
        return
    rows = [
        (f"{c['adds']:+.4f}", f"{c['adds_per_node']:+.4f}", c["substructure"], shortened(", ".join(c["nodes"]), 30))
        for c in colours[:top]
    ]
    true = dataset.true_class(item) if dataset.level == trained.level else None
    truth = "" if true is None else f", true: {true}"
    said = f", predicted: {outputs[int(explanation.output.argmax())]}{truth}" if not single else ""
    print_table(
        f"{dataset.name}, {what_it_is}{said}",
        ("adds", "each node", f"substructure, {trained.colours.depth} rounds deep", "nodes"),
        rows,
    )
    base = "nothing seen" if explanation.own is None else "nodes on average"
    parts = {base: margin.base, "rows above": margin.colour[order[:top]].sum()}
    if len(order) > top:
        parts[f"the other {len(order) - top} substructures"] = margin.colour[order[top:]].sum()
    sums = " ".join(f"{float(value):+.4f} ({name})" for name, value in parts.items())
    typer.echo(f"{what}: {margin.value:+.4f} = {sums}.")
    if out is not None:
        typer.echo(f"Drawn to {out}.")


def _what(trained: Trained, outputs: list[str], margin: Margin) -> str:
    if margin.rival is not None:
        return f"Lead of {outputs[margin.wanted]} over {outputs[margin.rival]} ({margin.unit}s)"
    return f"{outputs[margin.wanted]} ({'number' if trained.task == 'regression' else margin.unit})"


def _explained(trained: Trained, dataset: Dataset, graph: str | None, node: str | None) -> tuple[int, str, Explanation]:
    """(the position of the item, what it is, why the model said what it said of it)."""
    from wlhn.data.display import graph_names, graph_position, node_name, node_position
    from wlhn.inspection.explain import explain as explain_graph
    from wlhn.inspection.explain import explain_node

    if node is not None:
        position = node_position(dataset, node)
        return position, f"node {node_name(dataset, position)}", explain_node(trained, dataset.graphs, position)
    assert graph is not None
    position = graph_position(dataset, graph)
    return position, f"graph {graph_names(dataset)[position]}", explain_graph(trained, dataset.graphs, position)


def _ids(dataset: Dataset, explanation: Explanation) -> Any:
    """The user's names of the explained nodes within their graph."""
    graphs = dataset.graphs
    graph = int(graphs.graph_of_node[explanation.positions[0]]) if len(explanation.positions) else 0
    return np.array([str(name) for name in graphs.ids(graph)])[explanation.positions - graphs.node_ptr[graph]]


def _draw(explanation: Explanation, names: Any, margin: Margin, out: Path, title: str) -> None:
    from wlhn.report.drawings import tinted_graph

    assert explanation.hierarchy.source is not None
    edges = explanation.hierarchy.source.edge_index.T
    tinted_graph(edges[edges[:, 0] < edges[:, 1]], margin.node, out, labels=names.tolist(), title=title)
