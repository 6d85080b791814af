"""Colour refinement against PyG's and networkx's on one graph, and alone on larger and larger ones.

The graphs are random, with ten directed edges for each node on average; three rounds from a uniform start. Ours is
timed from the array of edges on, grouping included; PyG gets its tensors and networkx its graph ready-made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
