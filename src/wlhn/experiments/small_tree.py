"""Figures 1 to 3: the paper's small graph, its refinement and WL tree, distances without training, Sarkar's disc."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import numpy as np

from wlhn.embeddings import sarkar
from wlhn.experiments.figure import NUMBERS, correlation_table, figure_section, in_both_formats
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.untrained import correlation, distances
from wlhn.files import write_json
from wlhn.hierarchy import refine
from wlhn.report.drawings import refinement_steps, shades_by_depth
from wlhn.report.markdown import Block
from wlhn.report.plots import distance_heatmap
from wlhn.report.trees import disc, tree
from wlhn.training.provenance import code_version

ROUNDS, DIMENSION, TAU, SEEDS = 4, 128, 1.0, 10
SHOWN = ("WLHN", "WLHN, whitened", "GIN")


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
    """Numbers and pictures of the small tree."""
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
    correlations = {m: [round(correlation(d, truth), 6) for d in made[m]] for m in SHOWN}
    numbers = {
        "edges": [list(edge) for edge in graph.edges],
        "colours": hierarchy.num_colours,
        "dimension": DIMENSION,
        "tau": TAU,
        "seeds": seeds,
        "correlation": correlations,
        "version": code_version(),
    }
    write_json(folder / NUMBERS, numbers)
    yield Finished("the small tree", shown=", ".join(f"{m} {np.mean(v):.2f}" for m, v in correlations.items()))


def hierarchy_section(item: str, results: Path, link: str) -> list[Block]:
    """Correlations, ours and the paper's, and the pictures."""
    return figure_section(item, results, link, ("refinement", "tree", "disc", "heatmap"), correlation_table)
