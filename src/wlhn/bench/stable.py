"""Colour refinement to the end, on graphs that are not random, against a tool of the isomorphism field.

Rounds are made until no colour splits. The other tool is Bliss (Junttila & Kaski), through igraph if that is installed.
It refines to the same stable colouring by splitting cells and then, where nodes still share a colour, goes on to a
canonical labelling: more than is asked for here, wherever colours are fewer than nodes. Ours keeps the colours of all
depths on the way. On a path that is the wrong way: a round splits two nodes off, and all others wait for the next.

Ours is timed from the array of edges on, grouping included; igraph gets its graph ready-made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import networkx as nx
import numpy as np

from wlhn.bench.timing import Measured, alternate
from wlhn.graphs import Graphs
from wlhn.hierarchy import refine
from wlhn.options.checks import check_at_least

NODES = 20_000
STREETS = 0.7  # the share of a grid's edges that a road network keeps
PATH = 2_000  # nodes; rounds times nodes are its square


@dataclass(frozen=True)
class StableRace(Measured):
    """Seconds to the stable colouring of one graph; without igraph the other tool has none."""

    graph: str
    nodes: int
    directed_edges: int
    rounds: int
    colours: int
    seconds: float
    seconds_bliss: float | None = None

    @property
    def ratio_to_bliss(self) -> float | None:
        """How many times longer the other tool takes."""
        return None if self.seconds_bliss is None else self.seconds_bliss / self.seconds


def road_network(nodes: int, seed: int) -> nx.Graph:
    """A grid without some of its streets: low degrees, long ways, a few colours that many rounds split."""
    side = max(math.isqrt(nodes), 2)
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    edges, random = list(grid.edges), np.random.default_rng(seed)
    grid.remove_edges_from(edge for edge, out in zip(edges, random.random(len(edges)) > STREETS, strict=True) if out)
    return grid


def power_law(nodes: int, seed: int) -> nx.Graph:
    """Preferential attachment, three edges for each new node."""
    return nx.barabasi_albert_graph(nodes, 3, seed=seed)


def random_tree(nodes: int, seed: int) -> nx.Graph:
    """Each new node hangs on any of those before it: many leaves alike."""
    above = (np.arange(1, nodes) * np.random.default_rng(seed).random(nodes - 1)).astype(np.int64)
    return nx.Graph(enumerate(above.tolist(), start=1))


def equal_branches(nodes: int, seed: int) -> nx.Graph:
    """A complete binary tree: as many colours as depths."""
    return nx.balanced_tree(2, max(nodes.bit_length() - 2, 1))


def path(nodes: int, seed: int) -> nx.Graph:
    """The worst case of refinement by rounds."""
    return nx.path_graph(min(nodes, PATH))


GRAPHS: dict[str, Callable[[int, int], nx.Graph]] = {
    "road network": road_network,
    "power law": power_law,
    "random tree": random_tree,
    "equal branches": equal_branches,
    "path": path,
}


def stable_races(nodes: int = NODES, repeats: int = 3, seed: int = 0) -> list[StableRace]:
    """All graphs of about so many nodes.

    >>> [(race.graph, race.nodes, race.colours) for race in stable_races(nodes=15, repeats=1)[3:]]
    [('equal branches', 7, 3), ('path', 15, 8)]
    """
    check_at_least("nodes", nodes, 10)
    refine(nx.path_graph(5))  # compile
    return [_race(name, make(nodes, seed), repeats) for name, make in GRAPHS.items()]


def _race(name: str, graph: nx.Graph, repeats: int) -> StableRace:
    pairs = np.array(graph.edges, dtype=np.int32).T
    edges, nodes = np.concatenate([pairs, pairs[::-1]], axis=1), len(graph)
    contestants: dict[str, Callable[[], Any]] = {"seconds": lambda: refine(Graphs.from_edges(edges, nodes))}
    if find_spec("igraph") is not None:
        import igraph

        contestants["seconds_bliss"] = igraph.Graph(nodes, pairs.T.tolist()).canonical_permutation
    best = alternate(contestants, repeats)
    fitted = refine(Graphs.from_edges(edges, nodes))
    return StableRace(name, nodes, edges.shape[1], fitted.depth, fitted.num_colours[-1], **best)
