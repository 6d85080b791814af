"""Colour refinement against PyG's and networkx's on one graph, alone on larger and larger ones, and to the end.

Random graphs have ten directed edges for each node on average; three rounds from a uniform start. Ours is timed from
the array of edges on, grouping included; PyG gets its tensors and networkx its graph ready-made.

To the end means rounds until no colour splits, on graphs that are not random, against a tool of the isomorphism field:
Bliss (Junttila & Kaski), through igraph if that is installed. It refines to the same stable colouring by splitting
cells and then, where nodes still share a colour, goes on to a canonical labelling: more than is asked for here,
wherever colours are fewer than nodes. Ours keeps the colours of all depths on the way. On a path that is the wrong way:
a round splits two nodes off, and all others wait for the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.nn import WLConv

from wlhn.bench.timing import Measured, alternate, peak_memory
from wlhn.graphs import Graphs
from wlhn.hierarchy import Hierarchy, refine
from wlhn.options.checks import check_at_least

ROUNDS = 3
DEGREE = 10
CONTEST = 1_000_000  # directed edges
SIZES = (1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000)


@dataclass(frozen=True)
class Contest(Measured):
    """Seconds on the same graph; the ratios say how many times longer the others take."""

    directed_edges: int
    seconds: float
    seconds_pyg: float
    seconds_networkx: float
    colours: int
    colours_pyg: int
    colours_networkx: int

    @property
    def ratio_to_pyg(self) -> float:
        return self.seconds_pyg / self.seconds

    @property
    def ratio_to_networkx(self) -> float:
        return self.seconds_networkx / self.seconds


@dataclass(frozen=True)
class Size(Measured):
    """One row of the table; peak memory is that of the process so far, so sizes rise."""

    directed_edges: int
    nodes: int
    seconds: float
    colours: int
    peak_gigabytes: float

    @property
    def nanoseconds_per_edge(self) -> float:
        return 1e9 * self.seconds / self.directed_edges


def random_edges(directed_edges: int, seed: int, simple: bool = False) -> tuple[NDArray[Any], int]:
    """(edges (2, m), nodes) of a random undirected graph; `simple` drops the few loops and copies."""
    nodes = max(directed_edges // DEGREE, 2)
    pairs = np.random.default_rng(seed).integers(0, nodes, (2, directed_edges // 2), dtype=np.int32)
    if simple:
        pairs = np.unique(np.sort(pairs[:, pairs[0] != pairs[1]], axis=0), axis=1)
    return np.concatenate([pairs, pairs[::-1]], axis=1), nodes


def contest(directed_edges: int = CONTEST, repeats: int = 3, seed: int = 0) -> Contest:
    """The same graph and rounds for wlhn, PyG's `WLConv` and networkx's `weisfeiler_lehman_subgraph_hashes`."""
    check_at_least("edges", directed_edges, 100)
    edges, nodes = random_edges(directed_edges, seed, simple=True)
    edge_index = torch.from_numpy(edges.astype(np.int64))
    graph = nx.empty_graph(nodes)
    graph.add_edges_from(edges.T.tolist())
    nx.set_node_attributes(graph, "0", "start")  # not "": networkx counts neighbours by the length of their labels
    _ours(*random_edges(100, seed))  # compile
    colours: dict[str, int] = {}
    contestants: dict[str, Callable[[], None]] = {
        "seconds": lambda: colours.update(colours=_ours(edges, nodes).num_colours[-1]),
        "seconds_pyg": lambda: colours.update(colours_pyg=_pyg(edge_index, nodes)),
        "seconds_networkx": lambda: colours.update(colours_networkx=_networkx(graph)),
    }
    measured: dict[str, Any] = {**alternate(contestants, repeats), **colours}
    return Contest(directed_edges=edges.shape[1], **measured)


def growth(
    max_edges: int = SIZES[-1], repeats: int = 3, seed: int = 0, report: Callable[[Size], None] = lambda size: None
) -> list[Size]:
    """Ours alone, from a million directed edges to as many as asked for; `report` hears of each size in turn.

    The best of the repeats counts at every size alike: the first run may also pay for the machine finding memory.
    """
    check_at_least("edges", max_edges, 100)
    _ours(*random_edges(100, seed))  # compile
    rows: list[Size] = []
    for size in [s for s in SIZES if s <= max_edges] or [max_edges]:
        edges, nodes = random_edges(size, seed)
        colours = 0

        def run(edges: NDArray[Any] = edges, nodes: int = nodes) -> None:
            nonlocal colours
            colours = _ours(edges, nodes).num_colours[-1]  # and no more, or its memory would add to the next run's

        seconds = alternate({"wlhn": run}, repeats)["wlhn"]
        rows.append(Size(edges.shape[1], nodes, seconds, colours, peak_memory() / 1e9))
        report(rows[-1])
    return rows


def _ours(edges: NDArray[Any], nodes: int) -> Hierarchy:
    return refine(Graphs.from_edges(edges, nodes), ROUNDS)


def _pyg(edge_index: torch.Tensor, nodes: int) -> int:
    conv, colour = WLConv(), torch.zeros(nodes, dtype=torch.long)
    for _ in range(ROUNDS):
        colour = conv(colour, edge_index)
    return len(colour.unique())


def _networkx(graph: nx.Graph) -> int:
    hashes = nx.weisfeiler_lehman_subgraph_hashes(graph, node_attr="start", iterations=ROUNDS)
    return len({history[-1] for history in hashes.values()})


STABLE_NODES = 20_000
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


def stable_races(nodes: int = STABLE_NODES, repeats: int = 3, seed: int = 0) -> list[StableRace]:
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
