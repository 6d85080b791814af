"""Layers that take their sums as sparse products, against PyG's and against sums edge by edge."""

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GINEConv

from wlhn.batching.matrices import edge_kinds, lasting
from wlhn.models.geom_gcn import BiLevel, GeomGCN, neighbourhoods
from wlhn.nn.per_graph import each_graph
from wlhn.nn.sparse_layers import SparseGINEConv

NODES, CHANNELS = 30, 4


def some_edges(lasts: bool) -> Tensor:
    """Directed, with loops and edges that stand there twice."""
    edges = torch.randint(0, NODES - 1, (2, 120), generator=torch.Generator().manual_seed(0))
    return lasting(edges) if lasts else edges


def some_rows() -> Tensor:
    return torch.randn(
        NODES, CHANNELS, dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    ).requires_grad_()


@pytest.mark.parametrize("kinds", [1, 3, 120])
@pytest.mark.parametrize("lasts", [True, False])
def test_messages_by_kinds_of_edges_are_those_of_pyg(kinds: int, lasts: bool) -> None:
    edges, attributes = some_edges(lasts), torch.arange(120)[:, None] % kinds
    encode = torch.nn.Embedding(kinds, CHANNELS, dtype=torch.float64)
    perceptron = torch.nn.Linear(CHANNELS, 2).double()
    ours, theirs = (kind(perceptron, eps=0.3) for kind in (SparseGINEConv, GINEConv))
    for _ in range(2):  # made, and perhaps kept
        found = edge_kinds(edges, attributes, NODES)
        one, other = some_rows(), some_rows()
        results = []
        for said, h in (
            (ours(one, encode(found.x[:, 0]), found), one),
            (theirs(other, edges, encode(attributes[:, 0])), other),
        ):
            results.append((said, *torch.autograd.grad(said.square().sum(), (h, encode.weight))))
        for a, b in zip(*results, strict=True):
            torch.testing.assert_close(a, b)
    assert len(found.x) == kinds
    assert len(found.node) <= min(120, NODES * kinds)


def test_geom_gcn_sums_its_virtual_nodes_pair_by_pair() -> None:
    edges, h = some_edges(lasts=True), some_rows()
    batch = torch.zeros(NODES, dtype=torch.long)
    model = GeomGCN(in_channels=1, out_channels=2, hidden_channels=CHANNELS, num_layers=1, level="node").double()
    layer = model.layers[0]
    assert isinstance(layer, BiLevel)
    (graph,) = each_graph(h, edges, batch)
    pairs, virtual, weight = neighbourhoods(graph.size, graph.edges, "isomap")
    sums = torch.zeros(NODES, 8, CHANNELS, dtype=torch.float64)
    for u, v, r, w in zip(*pairs.tolist(), virtual.tolist(), weight.tolist(), strict=True):
        sums[v, r] += w * h[u].detach()
    for _ in range(2):  # made, and kept
        torch.testing.assert_close(layer(h, *model.edges(h, edges, batch, None)), layer.linear(sums.flatten(1)))
    assert model.edges(h, edges, batch, None)[0] is model.edges(h, edges, batch, None)[0]
