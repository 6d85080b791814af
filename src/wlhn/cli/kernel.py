"""`wlhn kernel`: how alike the graphs of a data set are, or explicit features of them, in a file."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from wlhn.cli.common.options import Data, DataFlags, given_by_user, with_flags
from wlhn.cli.common.output import Json, note, print_json, print_values, progress, working
from wlhn.cli.tree import Directed, EdgeLabels, check_suffix
from wlhn.errors import InputError
from wlhn.files import replacing, write_json
from wlhn.options.checks import check_choice
from wlhn.options.training import BINNINGS, InputOptions
from wlhn.words import counted

if TYPE_CHECKING:
    from wlhn.data import Dataset
    from wlhn.kernels import OptimalAssignmentKernel, TreeWasserstein, WLFeatures, WLKernel

KINDS = ("wl", "oa", "wasserstein", "features")
ONLY_FOR = {"gamma": "wasserstein", "continuous": "wasserstein", "code": "features", "min_graphs": "features"}


@with_flags
def kernel(
    context: typer.Context,
    data: Data,
    *,
    kind: Annotated[str, typer.Option(help="wl, oa (optimal assignment), wasserstein, or features (explicit).")] = "oa",
    depth: Annotated[int, typer.Option("--depth", "-T", help="Rounds of refinement.")] = 5,
    start: Annotated[
        str | None,
        typer.Option(
            help="uniform, degree, label, features, or columns with commas between (label,0,2); without it, label "
            "where there are labels, else categorical features, else degree."
        ),
    ] = None,
    edge_labels: EdgeLabels = False,
    directed: Directed = False,
    weights: Annotated[str | None, typer.Option(help="Weights of depths 0, 1, …, with commas between; all 1.")] = None,
    normalise: Annotated[
        bool | None,
        typer.Option(
            "--normalise/--no-normalise",
            help="Similarity 1 of a graph to itself, weight 1 in transport, rows of length 1; on but for features.",
            show_default=False,
        ),
    ] = None,
    gamma: Annotated[float | None, typer.Option(help="wasserstein: exp(−gamma d) in place of distances d.")] = None,
    continuous: Annotated[bool, typer.Option("--continuous", help="wasserstein: numbers as they are (needs POT).")] = (
        False
    ),
    code: Annotated[str, typer.Option(help="features: counts, log or thermometer.")] = "counts",
    min_graphs: Annotated[int, typer.Option(help="features: leave out colours of fewer graphs.")] = 1,
    binning: Annotated[str, typer.Option(help="How numbers become categories: quantiles or k-means.")] = BINNINGS[0],
    bins: Annotated[int, typer.Option(help="Bins of each column of numbers, or clusters.")] = InputOptions.bins,
    out: Annotated[Path | None, typer.Option(help="Write the matrix to this file (.npz).")] = None,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Compare all graphs of a data set by their trees of colours.

    The file has `matrix`, `y` and `graph_ids`. For features it is scipy's (`scipy.sparse.load_npz`), and what its
    columns and rows are stands beside it in a .json of the same name.
    """
    check_suffix(out, ".npz")
    check_choice("kind", kind, *KINDS)
    for name, only in ONLY_FOR.items():
        if only != kind and given_by_user(context, name):
            raise InputError(f"--{name.replace('_', '-')} belongs to --kind {only}; leave it out with --kind {kind}")
    with working(f"reading {data}"):
        dataset = reading.load_with_notes(data, directed=directed or None)
    chosen = _columns(start, dataset) if start is not None else None if continuous else _default(dataset)
    parameters = {
        "depth": depth,
        "start": chosen,
        "edge_labels": edge_labels,
        "directed": directed,
        "weights": None if weights is None else _numbers(weights),
        "normalise": kind != "features" if normalise is None else normalise,
        "binning": binning,
        "bins": bins,
    }
    if kind == "wasserstein":
        parameters |= {"gamma": gamma, "continuous": continuous}
    if kind == "features":
        document = _features(dataset, parameters | {"code": code, "min_graphs": min_graphs}, out)
    else:
        document = _matrix(dataset, kind, parameters, out)
    document |= {"out": out}
    if json:
        print_json({"name": dataset.name, "kind": kind, "graphs": len(dataset.graphs)} | document)
    else:
        print_values(f"{dataset.name}: {counted(len(dataset.graphs), 'graph')}, {kind}", "", document)


def _matrix(dataset: Dataset, kind: str, parameters: dict[str, Any], out: Path | None) -> dict[str, Any]:
    from wlhn.kernels import OptimalAssignmentKernel, TreeWasserstein, WLKernel
    from wlhn.kernels.dense import check_fits

    n = len(dataset.graphs)
    check_fits(n, n)
    made = {"wl": WLKernel, "oa": OptimalAssignmentKernel, "wasserstein": TreeWasserstein}[kind](**parameters)
    with working(f"refining {dataset.graphs.num_nodes:,} nodes and {dataset.graphs.num_edges:,} directed edges"):
        made.fit(dataset)
    with progress("comparing graphs", "rows") as advance:
        matrix = made.fitted_matrix(lambda done, total: advance(done, total, ""))
    described = _described(made, parameters)
    if out is not None:
        with working(f"writing {out}"):
            about = {"name": dataset.name, "kind": kind} | described
            arrays: dict[str, Any] = {"matrix": matrix, "y": dataset.y, "graph_ids": np.array(_ids(dataset), dtype=str)}
            with replacing(out) as draft, draft.open("wb") as file:
                np.savez(file, **arrays, meta=np.array(json_text.dumps(about)))
    others = (matrix.sum() - matrix.trace()) / max(n * (n - 1), 1)
    summary = {"shape": list(matrix.shape), "mean": float(others) if n > 1 else None}
    return described | summary | {"smallest": float(matrix.min()), "largest": float(matrix.max())}


def _features(dataset: Dataset, parameters: dict[str, Any], out: Path | None) -> dict[str, Any]:
    from scipy import sparse

    from wlhn.kernels import WLFeatures

    made = WLFeatures(**parameters)
    with working(f"refining {dataset.graphs.num_nodes:,} nodes and {dataset.graphs.num_edges:,} directed edges"):
        rows = made.fit_transform(dataset)
    described = _described(made, parameters)
    if out is not None:
        with working(f"writing {out}"):
            about = {"name": dataset.name, "names": made.get_feature_names_out().tolist(), "graph_ids": _ids(dataset)}
            y = dataset.y.astype(object)
            y[np.isnan(dataset.y)] = None  # JSON knows no NaN
            with replacing(out) as draft:  # there only if what its rows and columns are is there too
                sparse.save_npz(draft, rows, compressed=False)
                write_json(out.with_suffix(".json"), about | {"y": y.tolist()} | described)
    return described | {"shape": list(rows.shape), "nonzeros": int(rows.nnz)}


def _described(
    made: WLKernel | OptimalAssignmentKernel | TreeWasserstein | WLFeatures, parameters: dict[str, Any]
) -> dict[str, Any]:
    """What was computed: the parameters as they were understood, and the colours."""
    continuous = parameters.get("continuous", False)
    start = made.attributes_ if continuous else made.start_.columns
    colours = None if continuous else made.hierarchy_.num_colours
    return parameters | {"start": list(start) or ["uniform"], "colours": colours}


def _default(dataset: Dataset) -> Any:
    """What nodes start from without --start; numbers that do not count are told."""
    from wlhn.data.columns import default_start

    start = default_start(dataset.graphs, dataset.columns)
    if start == "degree" and dataset.graphs.x is not None:
        note("Features of nodes are numbers, so nodes start from their degrees; --start features counts them in bins.")
    return start


def _columns(text: str, dataset: Dataset) -> Any:
    """`label,0,age`: words stay, columns of features are numbers, and names of numeric columns stand for them."""
    graphs = dataset.graphs
    named = [c.name for c in dataset.columns if c.role == "feature" and c.kind == "numeric" and not c.edge]
    if graphs.x is None or len(named) != graphs.x.shape[1]:
        named = []
    parts = [part.strip() for part in text.split(",")]
    columns = [int(p) if p.isdigit() else named.index(p) if p in named else p for p in parts]
    return columns[0] if len(columns) == 1 else columns


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"weights: expected numbers with commas between, found {text!r}") from None


def _ids(dataset: Dataset) -> list[str]:
    from wlhn.data.display import graph_names

    return [str(name) for name in graph_names(dataset)]
