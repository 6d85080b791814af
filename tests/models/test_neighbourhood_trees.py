"""The trees see what message passing could see, and learn it from the rows they are given alone."""

import networkx as nx
import numpy as np
import pytest
import torch
from baseline_graphs import build, sample

from wlhn import InputError
from wlhn.models.machines.neighbourhood_trees import NeighbourhoodTrees, statistics
from wlhn.nn.machine import Inputs


def test_statistics_by_plain_loops() -> None:
    random = np.random.default_rng(0)
    neighbours = [random.integers(0, 12, size) for size in random.integers(0, 5, 12)]  # some twice, some nodes without
    assert min(map(len, neighbours)) == 0
    row_ptr = np.cumsum([0, *map(len, neighbours)])
    x = random.normal(size=(12, 2)).astype(np.float32)
    found = np.split(statistics(row_ptr, np.concatenate(neighbours), x), 5, axis=1)
    for v, others in enumerate(neighbours):
        rows = x[others] if len(others) else np.zeros((1, 2))
        for part, of in zip(found, (np.sum, np.mean, np.std, np.min, np.max), strict=True):
            np.testing.assert_allclose(part[v], of(rows, axis=0), atol=1e-6)


def test_numbering_of_a_larger_graph_does_not_matter() -> None:
    graph = nx.barabasi_albert_graph(300, 4, seed=0)
    edges = np.array([*graph.edges, *((v, u) for u, v in graph.edges)]).T
    x = np.random.default_rng(1).normal(size=(300, 1)).astype(np.float32)
    order = np.random.default_rng(2).permutation(300)
    place = np.argsort(order)
    model = NeighbourhoodTrees(in_channels=1, rounds=2, out_channels=1)
    one = model.features(Inputs(x, edges, np.zeros(300, int), None))
    other = model.features(Inputs(x[order], place[edges], np.zeros(300, int), None))
    np.testing.assert_array_equal(other, one[order])


def test_held_out_nodes_are_predicted_from_two_hops() -> None:
    graph = nx.gnp_random_graph(600, 0.01, seed=0)
    edges = torch.tensor([*graph.edges, *((v, u) for u, v in graph.edges)]).T
    degree = edges[1].bincount(minlength=600).float()
    y = torch.zeros(600).index_add(0, edges[1], degree[edges[0]])[:, None]  # walks of two steps
    rows = torch.arange(400)
    model = NeighbourhoodTrees(in_channels=1, rounds=2, out_channels=1, level="node", trees=100)
    model.fit(torch.ones(600, 1), edges, None, None, y=y[rows], task="regression", rows=rows)
    rest = (model(torch.ones(600, 1), edges) - y)[400:].square().mean()
    assert rest < 0.05 * y[400:].var()
    again = NeighbourhoodTrees(in_channels=1, rounds=2, out_channels=1, level="node", trees=100)
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(torch.ones(600, 1), edges), model(torch.ones(600, 1), edges))


def test_too_many_columns_are_refused() -> None:
    model = build("neighbourhood-trees", "node", rounds=6)
    with pytest.raises(InputError, match="5 features become 97655 columns after 6 rounds"):
        model.fit(*sample().inputs().values(), y=sample().targets("node"), task="classification")


def test_a_fit_that_fails_leaves_the_machine_as_it_was() -> None:
    inputs, y = sample().inputs(), sample().targets("node")
    model = build("neighbourhood-trees", "node", rounds=1)
    with pytest.raises(InputError, match="all training items have the same class"):
        model.fit(*inputs.values(), y=torch.zeros_like(y), task="classification")
    with pytest.raises(InputError, match="is not trained yet; call `fit` first"):
        model(*inputs.values())
    model.fit(*inputs.values(), y=y, task="classification")
    memory, outputs = model.memory, model(*inputs.values())
    with pytest.raises(InputError, match="all training items have the same class"):
        model.fit(*inputs.values(), y=torch.zeros_like(y), task="classification")
    assert model.memory is memory
    assert torch.equal(model(*inputs.values()), outputs)
