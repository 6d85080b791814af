"""Graph kernels against GraKeL's: normalised matrices of the WL subtree and the optimal assignment kernel.

Both start from graphs in their own form and end with the matrix; ours includes refinement. GraKeL's time grows with the
square of the number of graphs, so it gets a budget of seconds and the largest part of a set that it finishes in it:
parts grow until the next would be too long, and the last one counts, once; ours is the best of a few runs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.bench.timing import Measured, alternate
from wlhn.data import Dataset
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.kernels import OptimalAssignmentKernel, WLKernel
from wlhn.loops.parallel import torch_threads

KERNELS = {"wl": WLKernel, "oa": OptimalAssignmentKernel}
FIRST_PART = 64  # graphs
GROWTH = 4  # a part is at most so many times the last


@dataclass(frozen=True)
class KernelRace(Measured):
    """Seconds for the same matrix; the ratio says how many times longer GraKeL takes."""

    dataset: str
    kernel: str
    depth: int
    graphs: int  # of the part that GraKeL finished
    of_graphs: int
    seconds: float
    grakel_seconds: float
    largest_difference: float  # of the two matrices
    all_seconds: float  # ours, on the whole set

    @property
    def ratio(self) -> float:
        return self.grakel_seconds / self.seconds


def grakel_graphs(graphs: Graphs) -> list[Any]:
    """[neighbours of each node, label of each node] for each graph; degrees where there are no labels."""
    values = (graphs.degree if graphs.node_label is None else graphs.node_label).tolist()
    ptr, neighbour = graphs.row_ptr.tolist(), graphs.neighbour.tolist()
    found = []
    for start, stop in zip(graphs.node_ptr[:-1].tolist(), graphs.node_ptr[1:].tolist(), strict=True):
        # Not lists of neighbours: from these GraKeL's optimal assignment leaves out nodes that have none.
        around = {v: dict.fromkeys(neighbour[ptr[v] : ptr[v + 1]], 1.0) for v in range(start, stop)}
        found.append([around, {v: values[v] for v in around}])
    return found


def grakel_matrix(kind: str, graphs: list[Any], depth: int) -> NDArray[Any]:
    """GraKeL's normalised matrix of the kernel "wl" or "oa"."""
    from grakel import VertexHistogram, WeisfeilerLehman, WeisfeilerLehmanOptimalAssignment

    if kind == "wl":
        theirs = WeisfeilerLehman(n_iter=depth, base_graph_kernel=VertexHistogram, normalize=True)
    else:
        theirs = WeisfeilerLehmanOptimalAssignment(n_iter=depth, normalize=True)
    return np.asarray(theirs.fit_transform(graphs))


def measure_kernel(
    dataset: Dataset, kind: str, depth: int = 5, budget: float = 600, *, repeats: int = 3, num_threads: int = 2
) -> KernelRace:
    """One row of the table. A part is spread over the set, since sets are often sorted by class."""
    graphs = dataset.graphs
    if dataset.level == "node":
        raise InputError(f"{dataset.name}: its items are nodes; give a set of graphs to compare")
    part, theirs, matrix = _largest_part(kind, graphs, depth, budget)
    with torch_threads(num_threads):
        made = KERNELS[kind](depth)
        ours = made.fit_transform(part)  # compiles
        on = {"seconds": lambda: made.fit_transform(part), "all_seconds": lambda: made.fit_transform(graphs)}
        best = alternate(on, repeats)
    return KernelRace(
        dataset=dataset.name,
        kernel=kind,
        depth=depth,
        graphs=len(part),
        of_graphs=len(graphs),
        grakel_seconds=theirs,
        largest_difference=float(np.abs(ours - matrix).max()),
        **best,
    )


def _largest_part(kind: str, graphs: Graphs, depth: int, budget: float) -> tuple[Graphs, float, NDArray[Any]]:
    """(part, GraKeL's seconds, its matrix), the budget counting for all parts that were tried."""
    order = np.random.default_rng(0).permutation(len(graphs))
    size, left = min(FIRST_PART, len(graphs)), budget
    while True:
        part = graphs.select(np.sort(order[:size]))
        theirs = grakel_graphs(part)
        began = time.perf_counter()
        matrix = grakel_matrix(kind, theirs, depth)
        seconds = time.perf_counter() - began
        left -= seconds
        # Time grows with the square of the number of graphs; some of the budget is left for what that is worth.
        reachable = int(size * (0.8 * max(left, 0) / seconds) ** 0.5)
        larger = min(GROWTH * size, reachable, len(graphs))
        if (larger < 1.2 * size and larger < len(graphs)) or size == len(graphs):
            return part, seconds, matrix
        size = larger
