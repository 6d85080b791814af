"""The trees see what message passing could see, and learn it from the rows they are given alone."""

import networkx as nx
import numpy as np
import pytest
import torch
from baseline_graphs import build, sample
from scipy.sparse import csr_array

from wlhn import InputError
from wlhn.models.neighbourhood_trees import NeighbourhoodTrees, statistics


def test_statistics_by_plain_loops() -> None:
    random = np.random.default_rng(0)
    dense = random.random((12, 12)) < 0.2
    dense[3] = False  # nobody points at node 3
    x = random.normal(size=(12, 2))
    total, mean, deviation, least, largest = np.split(statistics(csr_array(dense.astype(float)), x), 5, axis=1)
    for v in range(12):
        rows = x[dense[v]] if dense[v].any() else np.zeros((1, 2))
        for found, of in ((total, np.sum), (mean, np.mean), (deviation, np.std), (least, np.min), (largest, np.max)):
            np.testing.assert_allclose(found[v], of(rows, axis=0), atol=1e-12)


def test_held_out_nodes_are_predicted_from_two_hops() -> None:
    graph = nx.gnp_random_graph(600, 0.01, seed=0)
    edges = torch.tensor([*graph.edges, *((v, u) for u, v in graph.edges)]).T
    degree = edges[1].bincount(minlength=600).float()
    y = torch.zeros(600).index_add(0, edges[1], degree[edges[0]])[:, None]  # walks of two steps
    rows = torch.arange(400)
    model = NeighbourhoodTrees(in_channels=1, hidden_channels=1, num_layers=2, out_channels=1, trees=100)
    model.fit(torch.ones(600, 1), edges, None, None, y=y[rows], task="regression", rows=rows)
    rest = (model(torch.ones(600, 1), edges) - y)[400:].square().mean()
    assert rest < 0.05 * y[400:].var()
    again = NeighbourhoodTrees(in_channels=1, hidden_channels=1, num_layers=2, out_channels=1, trees=100)
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(torch.ones(600, 1), edges), model(torch.ones(600, 1), edges))


def test_too_many_columns_are_refused() -> None:
    model = build("neighbourhood-trees", "node")
    model.rounds = 6
    with pytest.raises(InputError, match="5 features make 97655 columns in 6 layers, expected at most 5000"):
        model.fit(*sample().inputs().values(), y=sample().targets("node"), task="classification")
