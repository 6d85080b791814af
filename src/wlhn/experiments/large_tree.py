"""The appendix's comparison with the WL distance: the tree of IMDB-BINARY, 2,997 nodes, in 128 dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.load import load
from wlhn.errors import InputError
from wlhn.evaluation.progress import Progress
from wlhn.experiments.figure import NUMBERS, correlation_table, figure_section, in_both_formats
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.table import read_paper
from wlhn.experiments.untrained import METHODS, correlation, distances
from wlhn.files import write_json
from wlhn.hierarchy import refine
from wlhn.report.markdown import Block, TableBlock
from wlhn.report.plots import LEVELS, correlation_by_length, distance_panels
from wlhn.training.provenance import code_version, data_hash

DATA, ROUNDS, DIMENSION, TAU, SEEDS = "IMDB-BINARY", 2, 128, 1.0, 3
LENGTHS = (1.0, 1.763, 3.0, 5.0)
BY_LENGTH = ("WLHN", "WLHN, whitened")


def reproduce_distances(item: str, request: Request) -> Iterator[Finished]:
    """Correlations for every method, quantiles at each WL distance, and how τ matters."""
    try:
        dataset = load(DATA, data_root=request.data_root)
    except InputError as error:
        yield Finished.without_result(DATA, error)
        return
    hierarchy = refine(dataset.graphs, ROUNDS, "uniform")
    truth = hierarchy.tree.all_distances()
    seeds = [request.seed + k for k in range(SEEDS)]
    plan = [(m, TAU, seed) for m in METHODS for seed in (seeds[:1] if m == "Sala" else seeds)]
    plan += [(m, tau, seed) for m in BY_LENGTH for tau in LENGTHS if tau != TAU for seed in seeds]
    found: dict[tuple[str, float], list[float]] = {}
    quantiles: dict[str, dict[int, list[float]]] = {}
    for k, (method, tau, seed) in enumerate(plan):
        request.say(DATA, Progress(method, len(plan), k))
        made = distances(method, hierarchy, DIMENSION, tau, seed)
        found.setdefault((method, tau), []).append(round(correlation(made, truth), 6))
        if (tau, seed) == (TAU, seeds[0]):
            quantiles[method] = _quantiles(made, truth)
    numbers = {
        "data": dataset.name,
        "data_hash": data_hash(dataset),
        "colours": hierarchy.num_colours,
        "dimension": DIMENSION,
        "tau": TAU,
        "seeds": seeds,
        "correlation": {m: found[m, TAU] for m in METHODS},
        "lengths": list(LENGTHS),
        "by_length": {m: [found[m, tau] for tau in LENGTHS] for m in BY_LENGTH},
        "quantiles": quantiles,
        "version": code_version(),
    }
    _draw(numbers, read_paper(item)["correlation"], request.folder / item)
    write_json(request.folder / item / NUMBERS, numbers)
    yield Finished(DATA, shown=", ".join(f"{m} {np.mean(found[m, TAU]):.2f}" for m in METHODS))


def _quantiles(made: NDArray[Any], truth: NDArray[Any]) -> dict[int, list[float]]:
    return {
        int(d): [round(float(q), 6) for q in np.quantile(made[truth == d], LEVELS)] for d in np.unique(truth).tolist()
    }


def _draw(numbers: dict[str, Any], paper: dict[str, float], folder: Path) -> None:
    panels = {
        f"{m}: {np.mean(numbers['correlation'][m]):.2f}": numbers["quantiles"][m] for m in METHODS if "without" not in m
    }
    for path in in_both_formats(folder / "distances"):
        distance_panels(panels, path)
    for path in in_both_formats(folder / "tau"):
        correlation_by_length(LENGTHS, numbers["by_length"], {"paper, WLHN": paper["WLHN"]}, path)


def distances_section(item: str, results: Path, link: str) -> list[Block]:
    """Correlations, ours and the paper's, and the pictures."""
    return figure_section(item, results, link, ("distances", "tau"), _tables, ("by_length", "lengths"))


def _tables(numbers: dict[str, Any], paper: dict[str, Any]) -> list[Block]:
    rows = [[name, *(f"{np.mean(values):.2f}" for values in rows)] for name, rows in numbers["by_length"].items()]
    header = ["mean correlation at", *(f"τ = {tau:g}" for tau in numbers["lengths"])]
    return [*correlation_table(numbers, paper), TableBlock(header, rows)]
