"""`wlhn explain`, `similar`, `explore`: what can be asked of a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wlhn.cli.common.options import Data, DataFlags, Run, with_flags
from wlhn.cli.common.output import Json, Out, print_json, print_table, text, write_rows
from wlhn.errors import InputError
from wlhn.options.checks import check_choice
from wlhn.words import counted, shortened

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.inspection.explain import Explanation, Margin
    from wlhn.runs.trained import Trained

GraphName = Annotated[str | None, typer.Option(help="The id of a graph; without ids, its position from 0.")]
NodeName = Annotated[
    str | None, typer.Option(help="The id of a node, for runs on nodes; GRAPH/NODE of several graphs.")
]


@with_flags
def explain(
    run: Run,
    data: Data,
    *,
    graph: GraphName = None,
    node: NodeName = None,
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
    from wlhn.data.display import graph_names, graph_position, names_as_seen, node_name, node_names, node_position
    from wlhn.data.edge_words import edges_in_words
    from wlhn.hierarchy import colour_names
    from wlhn.inspection.explain import explain as explain_graph
    from wlhn.inspection.explain import explain_node
    from wlhn.runs.run_folder import load_run

    if (graph is None) == (node is None):
        raise InputError("explain: name either a graph (--graph) or, of a run on nodes, a node (--node)")
    trained = load_run(run)
    dataset = reading.load_like(data, trained)
    item = graph_position(dataset, graph) if graph is not None else node_position(dataset, node or "")
    what_it_is = f"graph {graph_names(dataset)[item]}" if node is None else f"node {node_name(dataset, item)}"
    explanation = (explain_graph if node is None else explain_node)(trained, dataset.graphs, item)
    outputs = [str(name) for name in (trained.classes or trained.targets or range(trained.out_channels))]
    if output is not None and output not in outputs:
        raise InputError(f"--class {output}: must be one of {', '.join(outputs)}")
    single = trained.task != "classification"
    wanted = outputs.index(output) if output is not None else 0 if single else int(explanation.output.argmax())
    margin = explanation.margin(wanted, alone=single)
    names, ids = node_names(dataset)[explanation.positions], _ids(dataset, explanation)
    seen = names_as_seen(dataset, trained.vocabulary.nodes.inputs)[explanation.positions]
    rows = explanation.edge_rows
    edge_words = None if rows is None else edges_in_words(dataset, trained.vocabulary, rows)
    substructure = colour_names(explanation.hierarchy, explanation.hierarchy.depth, seen, edge_words=edge_words)
    order = (-abs(margin.colour)).argsort(kind="stable")
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
    shown = [
        (f"{c['adds']:+.4f}", f"{c['adds_per_node']:+.4f}", c["substructure"], shortened(", ".join(c["nodes"]), 30))
        for c in colours[:top]
    ]
    true = dataset.true_class(item) if dataset.level == trained.level else None
    truth = "" if true is None else f", true: {true}"
    said = f", predicted: {outputs[int(explanation.output.argmax())]}{truth}" if not single else ""
    print_table(
        f"{dataset.name}, {what_it_is}{said}",
        ("adds", "each node", f"substructure, {counted(trained.colours.depth, 'round')} deep", "nodes"),
        shown,
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


def _ids(dataset: Dataset, explanation: Explanation) -> Any:
    """The user's names of the explained nodes within their graph."""
    import numpy as np

    graphs = dataset.graphs
    graph = int(graphs.graph_of_node[explanation.positions[0]]) if len(explanation.positions) else 0
    return np.array([str(name) for name in graphs.ids(graph)])[explanation.positions - graphs.node_ptr[graph]]


def _draw(explanation: Explanation, names: Any, margin: Margin, out: Path, title: str) -> None:
    from wlhn.report.drawings import tinted_graph

    assert explanation.hierarchy.source is not None
    edges = explanation.hierarchy.source.edge_index.T
    tinted_graph(edges[edges[:, 0] < edges[:, 1]], margin.node, out, labels=names.tolist(), title=title)


@with_flags
def similar(
    run: Annotated[Path, typer.Argument(help="A run folder of `wlhn train`; with --by kernel it may be left out.")],
    data: Annotated[str | None, typer.Argument(help="A known name or a path.")] = None,
    *,
    node: NodeName = None,
    graph: GraphName = None,
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
    from wlhn.inspection.similar import LearnedSpace, alike, tree_of
    from wlhn.runs.run_folder import load_run

    if (node is None) == (graph is None):
        raise InputError("similar: give either --node or --graph")
    check_choice("--by", by, "model", "kernel")
    if by == "kernel" and node is not None:
        raise InputError("--by kernel compares graphs; give --graph instead of --node")
    if data is None and by == "model":
        raise InputError("similar: give a run folder and data; without a run, --by kernel compares graphs")
    trained = None if data is None else load_run(run)
    dataset = reading.load_like(data or str(run), trained)
    item = graph_position(dataset, graph) if graph is not None else node_position(dataset, node or "")
    what = "graph" if node is None else "node"
    if by == "kernel" or trained is None:
        found = alike(tree_of(dataset, trained), item, top)
    else:
        space = LearnedSpace(trained, dataset.graphs)
        found = space.similar_graphs(item, top) if node is None else space.similar_nodes(item, top)
    measure = "similarity" if found.distance is None else "distance"
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


@with_flags
def explore(
    what: Annotated[str, typer.Argument(metavar="RUN|DATA", help="A run folder of `wlhn train`, or data.")],
    *,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("explorer.html"),
    data: Annotated[
        str | None, typer.Option(help="With a run: data to show.", show_default="what it was trained on")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=0, help="Without a run: rounds of refinement.", show_default="3")
    ] = None,
    colours: Annotated[
        int, typer.Option(min=1, help="At most this many colours on the page, the most frequent first.")
    ] = 10_000,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Write a self-contained page: the colour tree in the Poincaré disc, the graphs, and what a model says of them."""
    from wlhn.files import under_way
    from wlhn.inspection.explorer import explorer_document
    from wlhn.report.explorer import write_page
    from wlhn.runs.run_folder import is_run, load_run

    if out.suffix != ".html":
        raise InputError(f"{out}: the name must end in .html")
    is_folder_of_run = is_run(Path(what)) or under_way(Path(what)) is not None  # finished or not, which `load_run` says
    trained = load_run(Path(what)) if is_folder_of_run else None
    if trained is not None and rounds is not None:
        raise InputError(f"--rounds {rounds}: the run in {what} has its own depth; leave --rounds out")
    if trained is None and data is not None:
        raise InputError(f"{what}: no finished run here; --data goes with a run, so leave it out or name one")
    if trained is not None and data is None:
        dataset = _training_data(Path(what), trained, reading)
    else:
        dataset = reading.load_like(data or what, trained)
    document = explorer_document(dataset, trained, 3 if rounds is None else rounds, colours)
    write_page(document, out)
    if json:
        print_json({"out": str(out), "colours": len(document["colours"]["x"]), "notes": document["notes"]})
        return
    for note in document["notes"]:
        typer.echo(note)
    typer.echo(f"Written to {out} ({out.stat().st_size / 1e6:.1f} MB); open it in a browser.")


def _training_data(run: Path, trained: Trained, reading: DataFlags) -> Dataset:
    """What a run was trained on, where it still lies there and is the same."""
    from wlhn.runs.run_folder import read_config
    from wlhn.training.provenance import data_hash

    config = read_config(run)
    place = str(config.get("path") or config.get("data") or "")
    if not place:
        raise InputError(f"{run}: does not say what it was trained on; name the data with --data")
    try:
        dataset = reading.load_like(place, trained)
    except InputError as error:
        raise InputError(f"{run}: what it was trained on cannot be read ({error}); name the data with --data") from None
    if data_hash(dataset) != config.get("data_hash"):
        raise InputError(
            f"{run}: what is now at {place} is not what it was trained on; name the data with --data, or read them as "
            "for training (--task, --skip-invalid, --seed)"
        )
    return dataset
