"""Figures 1 to 4: WL trees, and how distances of embeddings that nobody trained agree with those of the tree.

The small tree is that of the paper's figure 1; the large one, of the appendix, is that of IMDB-BINARY, 2,997 nodes.
Methods by name (sections 5.1 and D.1 of the paper): Sala's combinatorial placement; WLHN with random weights, with the
paper's directions and with whitened ones; and the GIN inside it, with Euclidean distance, with and without BatchNorm.

`figure.json` has the numbers behind the pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wlhn.data.load import load
from wlhn.embeddings import diffhypcon, random_gin, sala, sarkar
from wlhn.errors import InputError
from wlhn.evaluation.progress import Progress
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.sections import NOT_RUN, what_was_learned
from wlhn.experiments.table import command_for, read_paper
from wlhn.files import read_json, write_json
from wlhn.hierarchy import Hierarchy, refine
from wlhn.nn.whitening import Whitening
from wlhn.options.checks import check_choice
from wlhn.report.drawings import refinement_steps, shades_by_depth
from wlhn.report.markdown import Block, Pictures, TableBlock
from wlhn.report.plots import LEVELS, correlation_by_length, distance_heatmap, distance_panels
from wlhn.report.style import in_both_formats
from wlhn.report.trees import disc, tree
from wlhn.training.provenance import code_version, data_hash

DIMENSION, TAU = 128, 1.0
METHODS = ("Sala", "WLHN", "WLHN, whitened", "GIN", "GIN without BatchNorm")
ROUNDS, SEEDS, SHOWN = 4, 10, ("WLHN", "WLHN, whitened", "GIN")  # of the small tree
DATA, DATA_ROUNDS, DATA_SEEDS = "IMDB-BINARY", 2, 3  # of the large one
LENGTHS = (1.0, 1.763, 3.0, 5.0)
BY_LENGTH = ("WLHN", "WLHN, whitened")
NUMBERS = "figure.json"
PICTURES = {"figure-hierarchy": ("refinement", "tree", "disc", "heatmap"), "figure-distances": ("distances", "tau")}


def distances(method: str, hierarchy: Hierarchy, dimension: int, tau: float, seed: int) -> NDArray[np.float64]:
    """All distances (tree nodes, tree nodes) of a method; the seed draws weights, where there are any.

    >>> hierarchy = refine(nx.path_graph(5), 2)
    >>> truth = hierarchy.tree.all_distances()
    >>> [round(correlation(distances(m, hierarchy, 64, 1.0, seed=0), truth), 1) for m in ("Sala", "WLHN")]
    [1.0, 1.0]
    """
    tree = hierarchy.tree
    if method == "Sala":
        return sala(tree, dimension, tau).all_distances().numpy()
    features = random_gin(hierarchy, dimension, seed, normalise=method != "GIN without BatchNorm")
    if method.startswith("GIN"):
        return torch.cdist(features, features, compute_mode="donot_use_mm_for_euclid_dist").numpy()
    if method == "WLHN, whitened":
        features = whitened(hierarchy, features)
    elif method != "WLHN":
        check_choice("method", method, *METHODS)
    return diffhypcon(tree, features, tau).all_distances().numpy()


def whitened(hierarchy: Hierarchy, features: Tensor) -> Tensor:
    """Features of tree nodes as whitened directions, depth by depth, with the statistics of the nodes."""
    out = features.clone()
    for t, (start, count) in enumerate(zip(hierarchy.offsets, hierarchy.num_colours, strict=True)):
        rows = slice(start, start + count)
        out[rows] = Whitening(features.shape[1])(features[rows], torch.from_numpy(hierarchy.count(t)))
    return out


def correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Pearson's, over all ordered pairs, a node with itself included (as the paper counts 2,997² pairs)."""
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])


def example_graph() -> nx.Graph:
    """The graph of the paper's figure 1: a square and a pentagon that share a node, numbered from 0.

    >>> refine(example_graph(), 4).num_colours
    [1, 2, 3, 4, 5]
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(8))
    nx.add_cycle(graph, [0, 1, 2, 7])
    nx.add_cycle(graph, [2, 3, 4, 5, 6])
    return graph


def reproduce_hierarchy(item: str, request: Request) -> Iterator[Finished]:
    """Figures 1 to 3: the small graph, its refinement and WL tree, distances without training, Sarkar's disc."""
    graph = example_graph()
    hierarchy = refine(graph, ROUNDS)
    truth = hierarchy.tree.all_distances()
    seeds = [request.seed + k for k in range(SEEDS)]
    made = {m: [distances(m, hierarchy, DIMENSION, TAU, seed) for seed in seeds] for m in SHOWN}
    folder = request.folder / item
    for path in in_both_formats(folder / "refinement"):
        refinement_steps(list(graph.edges), hierarchy.colours, path)
    for path in in_both_formats(folder / "tree"):
        tree(
            hierarchy.tree.parent,
            path,
            labels=[number for count in hierarchy.num_colours for number in range(count)],
            fill=np.concatenate(shades_by_depth(hierarchy.colours)),
        )
    names = ["root", *(f"depth {t}" for t in range(1, ROUNDS + 1))]
    for path in in_both_formats(folder / "disc"):
        points = sarkar(hierarchy.tree, TAU).points
        disc(points, hierarchy.tree.parent, path, group=hierarchy.tree.depth, names=names)
    for path in in_both_formats(folder / "heatmap"):
        distance_heatmap(made["WLHN"][0], path, group=hierarchy.tree.depth, names=names, title="WLHN, random weights")
    found = {m: [round(correlation(d, truth), 6) for d in made[m]] for m in SHOWN}
    yield _finished("the small tree", folder, hierarchy, seeds, found, {"edges": [list(edge) for edge in graph.edges]})


def reproduce_distances(item: str, request: Request) -> Iterator[Finished]:
    """The appendix's figure: correlations for every method, quantiles at each WL distance, and how τ matters."""
    try:
        dataset = load(DATA, data_root=request.data_root)
    except InputError as error:
        yield Finished.without_result(DATA, error)
        return
    hierarchy = refine(dataset.graphs, DATA_ROUNDS, "uniform")
    truth = hierarchy.tree.all_distances()
    seeds = [request.seed + k for k in range(DATA_SEEDS)]
    plan = [(m, TAU, seed) for m in METHODS for seed in (seeds[:1] if m == "Sala" else seeds)]
    plan += [(m, tau, seed) for m in BY_LENGTH for tau in LENGTHS if tau != TAU for seed in seeds]
    found: dict[tuple[str, float], list[float]] = {}
    quantiles: dict[str, dict[int, list[float]]] = {}
    for k, (method, tau, seed) in enumerate(plan):
        request.say(DATA, Progress(method, len(plan), k))
        made = distances(method, hierarchy, DIMENSION, tau, seed)
        found.setdefault((method, tau), []).append(round(correlation(made, truth), 6))
        if (tau, seed) == (TAU, seeds[0]):
            spread = {int(d): np.quantile(made[truth == d], LEVELS) for d in np.unique(truth)}
            quantiles[method] = {d: [round(float(q), 6) for q in each] for d, each in spread.items()}
    by_length = {m: [found[m, tau] for tau in LENGTHS] for m in BY_LENGTH}
    folder, paper = request.folder / item, read_paper(item)["correlation"]
    panels = {f"{m}: {np.mean(found[m, TAU]):.2f}": quantiles[m] for m in METHODS if "without" not in m}
    for path in in_both_formats(folder / "distances"):
        distance_panels(panels, path)
    for path in in_both_formats(folder / "tau"):
        correlation_by_length(LENGTHS, by_length, {"paper, WLHN": paper["WLHN"]}, path)
    further: dict[str, Any] = {"data": dataset.name, "data_hash": data_hash(dataset), "lengths": list(LENGTHS)}
    further |= {"by_length": by_length, "quantiles": quantiles}
    yield _finished(DATA, folder, hierarchy, seeds, {m: found[m, TAU] for m in METHODS}, further)


def _finished(
    part: str,
    folder: Path,
    hierarchy: Hierarchy,
    seeds: list[int],
    correlations: dict[str, list[float]],
    further: dict[str, Any],
) -> Finished:
    """Write the numbers of a figure, and say in a line what came of it."""
    numbers = {"colours": hierarchy.num_colours, "dimension": DIMENSION, "tau": TAU, "seeds": seeds}
    write_json(folder / NUMBERS, numbers | {"correlation": correlations, "version": code_version()} | further)
    return Finished(part, shown=", ".join(f"{m} {np.mean(v):.2f}" for m, v in correlations.items()))


def figure_section(item: str, results: Path, link: str) -> list[Block]:
    """Title, what it is, correlations with the WL distance (ours and the paper's), the pictures."""
    paper, path, pictures = read_paper(item), results / item / NUMBERS, PICTURES[item]
    title, about = f"## {paper['title']}", f"{paper['about']} {command_for(item)}."
    if not path.exists():
        return [title, f"{about} {NOT_RUN}"]
    of_lengths = ("by_length", "lengths") if "tau" in pictures else ()
    numbers = read_json(path, ("version", "dimension", "tau", "seeds", "correlation", *of_lengths))
    drawn = f"{len(numbers['seeds'])} draws of the weights, version {numbers['version']}"
    published = {name: f"{value:.2f}" for name, value in paper["correlation"].items()}
    rows = [
        [name, f"{np.mean(values):.2f}", f"{min(values):.2f} to {max(values):.2f}", published.get(name, "–")]
        for name, values in numbers["correlation"].items()
    ]
    tables = [TableBlock(["correlation with the WL distance", "ours, mean", "over seeds", "paper"], rows)]
    if of_lengths:
        rows = [[name, *(f"{np.mean(values):.2f}" for values in rows)] for name, rows in numbers["by_length"].items()]
        tables.append(TableBlock(["mean correlation at", *(f"τ = {tau:g}" for tau in numbers["lengths"])], rows))
    return [
        title,
        f"{about} d = {numbers['dimension']}, τ = {numbers['tau']:g}, {drawn}.",
        *tables,
        *what_was_learned(results, item, link),
        Pictures(pictures, results / item, f"{link}/{item}"),
    ]
