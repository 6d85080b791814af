"""Data sets so small that a test can train on them: paths and cycles, with labels that do not give them away."""

from pathlib import Path

import networkx as nx
import numpy as np

from wlhn.data import Dataset, as_dataset


def tiny(graphs: int = 30, seed: int = 0) -> Dataset:
    """Paths and cycles of random size with random node labels 0, 1, 2."""
    random = np.random.default_rng(seed)
    sizes = random.integers(3, 9, graphs)
    made = [nx.cycle_graph(n) if k % 2 else nx.path_graph(n) for k, n in enumerate(sizes)]
    for graph in made:
        nx.set_node_attributes(graph, {v: int(random.integers(3)) for v in graph}, "label")
    return as_dataset(made, [k % 2 for k in range(graphs)], name="tiny", graph_ids=[f"g{k}" for k in range(graphs)])


def write_tu(folder: Path, dataset: Dataset) -> Path:
    """The data set in TU's format, so that jobs can load it."""
    place = folder / "TINY"
    place.mkdir(parents=True)
    graphs = dataset.graphs
    source, target = graphs.edge_index + 1
    assert graphs.node_label is not None
    files = {
        "A": [f"{u}, {v}" for u, v in zip(source, target, strict=True)],
        "graph_indicator": graphs.graph_of_node + 1,
        "graph_labels": dataset.y,
        "node_labels": graphs.node_label,
    }
    for name, lines in files.items():
        (place / f"TINY_{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return place
