"""Trees with a motif planted in half of them: the answer is known, so an explanation can be wrong."""

import networkx as nx
import numpy as np

from wlhn.data import Dataset
from wlhn.data.dataset import class_indices
from wlhn.graphs import as_graphs

MOTIF = 5


def planted_motifs(graphs: int, seed: int) -> Dataset:
    """Random trees on which a 5-clique (class "motif") or a 5-star ("none") hangs, in the last five nodes."""
    rng = np.random.default_rng(seed)
    made, label = [], []
    for k in range(graphs):
        size = int(rng.integers(10, 20))
        tree = nx.from_prufer_sequence(rng.integers(0, size, size - 2).tolist())
        piece = nx.complete_graph(MOTIF) if k % 2 else nx.star_graph(MOTIF - 1)
        graph = nx.disjoint_union(tree, piece)
        graph.add_edge(int(rng.integers(size)), size + int(rng.integers(MOTIF)))
        made.append(graph)
        label.append("motif" if k % 2 else "none")
    y, classes = class_indices(label)
    return Dataset("planted", as_graphs(made), y, "graph", "classification", classes)
