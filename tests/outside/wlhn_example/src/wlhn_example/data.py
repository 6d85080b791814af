"""A generated data set: wheels and stars, told apart by their degrees."""

import networkx as nx
import numpy as np

from wlhn.data import Dataset, as_dataset


def wheels_and_stars(seed: int) -> Dataset:
    sizes = np.random.default_rng(seed).integers(5, 12, 40)
    graphs = [nx.wheel_graph(n) if k % 2 else nx.star_graph(n) for k, n in enumerate(sizes)]
    return as_dataset(graphs, ["wheel" if k % 2 else "star" for k in range(40)])
