"""What the explorer page shows, as one document of plain lists: the colour tree in the disc, and graphs or nodes.

The page itself is `wlhn.report.explorer`; here is what it is made from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.data.display import bond_orders, graph_names, names_as_seen, node_columns, node_names
from wlhn.data.edge_words import edges_in_words
from wlhn.embeddings.planar import PlanarTree, planar
from wlhn.errors import InputError
from wlhn.hierarchy import Hierarchy, Tree, colour_names, refine
from wlhn.hyperbolic.polar import polar_distance
from wlhn.inspection.groups import grouped, hangs_on_its_root
from wlhn.inspection.items import Items, graph_items, node_items
from wlhn.inspection.similar import ROUNDS, LearnedSpace, tree_of
from wlhn.runs.trained import Trained
from wlhn.words import counted

COLOURS = 10_000  # of larger trees the most frequent colours are shown
ITEMS = 2_000  # graphs or nodes in the second view
EDGES = 150_000  # of the graphs that can be drawn
LISTED = 100  # graphs named for a colour


@dataclass(frozen=True, eq=False)
class Kept:
    """The colours on the page: nodes of the whole tree, the part of it that they are, and what was left out below."""

    node: NDArray[Any]  # (kept,) nodes of the hierarchy's tree
    tree: Tree
    hidden: NDArray[Any]  # (kept,) colours below that are not shown


def explorer_document(
    dataset: Dataset, trained: Trained | None = None, rounds: int = ROUNDS, limit: int = COLOURS
) -> dict[str, Any]:
    """The page of a data set, or of what a trained model makes of it."""
    graphs = dataset.graphs
    if not graphs.num_nodes:
        raise InputError(f"{dataset.name}: has no nodes to show; give data with at least one")
    space = None if trained is None else LearnedSpace(trained, graphs)
    hierarchy = tree_of(dataset, rounds=rounds) if space is None else space.hierarchy
    learned = None if space is None else space.tree_directions()
    names, said = names_as_seen(dataset, dataset.inputs if trained is None else trained.vocabulary.nodes.inputs), []
    edge_words = None
    if trained is not None and space is not None and space.edge_rows is not None:
        edge_words = edges_in_words(dataset, trained.vocabulary, space.edge_rows)
    if hangs_on_its_root(hierarchy, dataset):
        names, why = grouped(dataset)
        hierarchy, learned, said, edge_words = refine(graphs, hierarchy.depth, names), None, [why], None
    kept = keep_frequent(hierarchy, limit)
    order = None if learned is None else _along_first_component(learned[1][kept.node])
    disc = planar(kept.tree, order=order)
    items = node_items(dataset, trained, space, ITEMS) if dataset.level == "node" else None
    items = items or graph_items(dataset, trained, space, hierarchy, ITEMS)
    text = _names(hierarchy, kept, names, edge_words)
    colours = _colours(dataset, hierarchy, kept, text, disc.points.numpy(), items)
    return {
        "title": dataset.name,
        "level": dataset.level,
        "model": None if trained is None else trained.settings.model,
        "classes": [str(name) for name in dataset.classes],
        "notes": said + _notes(dataset, hierarchy, kept, disc, learned),
        "grown_from": said[0] if said else None,
        "start": telling(colours),
        "colours": colours,
        "items": items.document,
        "graphs": _drawings(dataset),
    }


def keep_frequent(hierarchy: Hierarchy, limit: int) -> Kept:
    """The most frequent colours, parents always with their children (they are at least as frequent).

    >>> import networkx as nx, wlhn
    >>> kept = keep_frequent(wlhn.refine(nx.path_graph(9), 3), limit=3)
    >>> kept.tree.parent.tolist(), kept.hidden.tolist()
    ([-1, 0, 1], [7, 4, 2])
    """
    tree = hierarchy.tree
    count = np.concatenate(
        [[hierarchy.num_nodes]] * (hierarchy.offsets[0]) + [hierarchy.count(t) for t in range(hierarchy.depth + 1)]
    )
    best = np.lexsort((tree.depth, -count))[:limit]
    node = np.sort(best)
    number = np.full(len(tree), -1)
    number[node] = np.arange(len(node))
    parent = np.concatenate([[-1], number[tree.parent[node[1:]]]])
    below = np.ones(len(tree), np.int64)
    for level in tree.levels[:0:-1]:
        np.add.at(below, tree.parent[level], below[level])
    shown = np.ones(len(node), np.int64)
    for k in range(len(node) - 1, 0, -1):
        shown[parent[k]] += shown[k]
    return Kept(node, Tree(parent), below[node] - shown)


def _along_first_component(direction: torch.Tensor) -> NDArray[Any]:
    """Positions along the direction in which directions differ most."""
    centred = direction.double() - direction.double().mean(dim=0)
    return (centred @ torch.linalg.svd(centred, full_matrices=False)[2][0]).numpy()


def telling(colours: Mapping[str, Any]) -> int:
    """The colour to begin with: where classes differ most from those of all nodes (χ²), else the most frequent one.

    >>> telling({"depth": [-1, 0, 1, 1], "count": [9, 9, 5, 4], "class": [[5, 4], [5, 4], [5, 0], [0, 4]]})
    3
    """
    depth, count = np.array(colours["depth"]), np.array(colours["count"])
    structure = depth >= min(1, depth.max())  # with neighbours, where there is such a depth
    if colours["class"] is None or len(colours["class"][0]) < 2:
        return int(np.argmax(np.where(structure, count, -1)))
    each = np.array(colours["class"], float)
    expected = count[:, None] * each[0] / max(each[0].sum(), 1)
    score = ((each - expected) ** 2 / np.maximum(expected, 1e-9)).sum(axis=1)
    return int(np.argmax(np.where(structure, score, -1)))


def _notes(dataset: Dataset, hierarchy: Hierarchy, kept: Kept, disc: PlanarTree, learned: Any) -> list[str]:
    """How much of the truth the picture loses, in words."""
    tree = hierarchy.tree
    size = f"{counted(len(dataset.graphs), 'graph')}, {counted(dataset.graphs.num_nodes, 'node')}"
    notes = [f"{size}, {counted(len(tree), 'colour')} in the tree."]
    if len(kept.node) < len(tree):
        notes.append(f"The {len(kept.node):,} most frequent are shown; each says how many are hidden below it.")
    a, b = np.random.default_rng(0).integers(0, len(kept.node), (2, 20_000))
    drawn = disc.distance(a, b).numpy()
    notes.append(
        "Branches have room by what lies below them. Distances in this disc against steps in the tree: correlation "
        f"{_correlation(drawn, kept.tree.distance(a, b)):.2f}."
    )
    if learned is not None:
        r, e = learned[0][kept.node], learned[1][kept.node]
        model = polar_distance(r[a], e[a], r[b], e[b]).numpy()
        notes.append(
            f"Siblings are ordered by the model's directions ({e.shape[1]} dimensions brought to 2); "
            f"disc against learned distance: correlation {_correlation(model, drawn):.2f}."
        )
    return notes


def _correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else 1.0


def _names(
    hierarchy: Hierarchy, kept: Kept, names: NDArray[Any], edge_words: Sequence[tuple[str, str]] | None
) -> list[str]:
    """What each kept colour is called."""
    offsets, text = hierarchy.offsets, ["all nodes"] * len(kept.node)
    for t in range(hierarchy.depth + 1):
        first, end = np.searchsorted(kept.node, [offsets[t], offsets[t] + hierarchy.num_colours[t]])
        text[first:end] = colour_names(hierarchy, t, names, kept.node[first:end] - offsets[t], edge_words)
    return text


def _colours(
    dataset: Dataset, hierarchy: Hierarchy, kept: Kept, text: list[str], points: NDArray[Any], items: Items
) -> dict[str, Any]:
    """Each kept colour: where it is, how many nodes have it, whose they are, what they are like."""
    graphs, offsets = dataset.graphs, hierarchy.offsets
    graph_of = graphs.graph_of_node
    columns = node_columns(dataset) | items.columns_per_node
    count = np.zeros(len(kept.node), np.int64)
    example = np.full(len(kept.node), -1)
    members: list[list[int]] = [[] for _ in kept.node]
    spread = np.zeros(len(kept.node), np.int64)
    per_class = np.zeros((len(kept.node), len(dataset.classes)), np.int64)
    per_answer, wrong = per_class.copy(), np.zeros(len(kept.node))
    values: dict[str, list[Any]] = {name: [None] * len(kept.node) for name in columns}
    number = np.full(len(hierarchy.tree), -1)
    number[kept.node] = np.arange(len(kept.node))
    for t in range(-offsets[0], hierarchy.depth + 1):
        row = number[offsets[t] + hierarchy.colours[t]] if t >= 0 else np.zeros(graphs.num_nodes, int)
        here = np.flatnonzero(row >= 0)
        if not len(here):  # too rare to be shown, all of them
            break
        order = here[np.argsort(row[here], kind="stable")]
        which, first = np.unique(row[order], return_index=True)
        for k, nodes in zip(which.tolist(), np.split(order, first[1:]), strict=True):
            count[k], example[k] = len(nodes), nodes[0]
            inside = np.unique(graph_of[nodes])
            spread[k], members[k] = len(inside), inside[:LISTED].tolist()
            for name, column in columns.items():
                values[name][k] = _typical(column[nodes])
            if items.node_class is not None:
                known = items.node_class[nodes]
                per_class[k] = np.bincount(known[known >= 0], minlength=len(dataset.classes))
                if items.node_answer is not None:
                    per_answer[k] = np.bincount(items.node_answer[nodes], minlength=len(dataset.classes))
                    said = items.node_answer[nodes]
                    wrong[k] = ((known != said) & (known >= 0)).sum() / max((known >= 0).sum(), 1)
    told = items.node_answer is not None
    return {
        "x": np.round(points[:, 0], 9).tolist(),
        "y": np.round(points[:, 1], 9).tolist(),
        "parent": kept.tree.parent.tolist(),
        "depth": (kept.tree.depth - offsets[0]).tolist(),  # as colours have it; a root above them has −1
        "count": count.tolist(),
        "hidden": kept.hidden.tolist(),
        "name": text,
        "example": example.tolist(),
        "graphs": members,
        "spread": spread.tolist(),
        "class": per_class.tolist() if items.node_class is not None else None,
        "answer": per_answer.tolist() if told else None,
        "wrong": np.round(wrong, 4).tolist() if told else None,
        "columns": values,
    }


def _typical(values: NDArray[Any]) -> Any:
    """The mean of numbers, or the most frequent text."""
    if values.dtype.kind in "fiu":
        known = values[~np.isnan(values.astype(float))]
        return round(float(known.mean()), 4) if len(known) else None
    kinds, times = np.unique(values, return_counts=True)
    return str(kinds[times.argmax()])


def _drawings(dataset: Dataset) -> dict[str, Any]:
    """Graphs that can be drawn: all, or as many as the page can carry, in order."""
    graphs = dataset.graphs
    edges = np.diff(graphs.row_ptr[graphs.node_ptr])
    fits = int(np.searchsorted(np.cumsum(edges), 2 * EDGES, side="right"))
    some = np.arange(min(max(fits, 1), len(graphs)))
    orders, names = bond_orders(dataset), node_names(dataset)
    index = graphs.edge_index
    stop = int(graphs.node_ptr[len(some)])
    inside = (index[0] < index[1]) & (index[1] < stop)
    plain = bool((orders[inside] == 1).all())
    return {
        "id": [str(name)[:200] for name in graph_names(dataset)],
        "node_ptr": graphs.node_ptr[: len(some) + 1].tolist(),
        "names": names[:stop].tolist() if names[:1] != "" else None,
        "from": index[0][inside].tolist(),
        "to": index[1][inside].tolist(),
        "order": None if plain else orders[inside].tolist(),
        "node_ids": None if graphs.node_ids is None else [str(name)[:200] for name in graphs.node_ids[:stop]],
    }
