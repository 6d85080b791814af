"""Layers that take their sums as sparse products, against PyG's and against sums edge by edge."""

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GINEConv

from wlhn.batching.matrices import edge_kinds, lasting
from wlhn.errors import InputError
from wlhn.models.geom_gcn import BiLevel, GeomGCN, neighbourhoods
from wlhn.models.gin import GIN
from wlhn.models.registry import model_class
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
            (ours(one, encode(attributes[found.first, 0]), found), one),
            (theirs(other, edges, encode(attributes[:, 0])), other),
        ):
            results.append((said, *torch.autograd.grad(said.square().sum(), (h, encode.weight))))
        for a, b in zip(*results, strict=True):
            torch.testing.assert_close(a, b)
    assert len(found.first) == kinds
    assert len(found.node) == len({*zip(edges[0].tolist(), attributes[:, 0].tolist(), strict=True)})


def test_numbers_of_edges_get_gradients_as_with_pyg() -> None:
    edges, numbers = some_edges(lasts=False), torch.rand(120, 2, dtype=torch.float64, requires_grad=True)
    encode, perceptron = torch.nn.Linear(2, CHANNELS).double(), torch.nn.Linear(CHANNELS, 2).double()
    kinds = edge_kinds(edges, numbers, NODES)
    sparse, plain = (kind(perceptron) for kind in (SparseGINEConv, GINEConv))  # each begins with new weights
    ours = sparse(some_rows(), encode(numbers[kinds.first]), kinds)
    theirs = plain(some_rows(), edges, encode(numbers))
    found, expected = (torch.autograd.grad(said.square().sum(), numbers)[0] for said in (ours, theirs))
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("name", ["gin", "geom-gcn"])
def test_lasting_edges_with_other_features_or_another_batch(name: str) -> None:
    """What is kept of edges that last is not taken for what came with them."""
    torch.manual_seed(0)
    level = model_class(name).target_levels[-1]
    channels = {"edge_channels": (3,)} if name == "gin" else {}
    model = model_class(name)(CHANNELS, 2, hidden_channels=8, num_layers=2, level=level, **channels).eval()
    x, edges = some_rows().detach().float(), some_edges(lasts=True)
    halves = torch.arange(NODES) // (NODES // 2)
    inside = halves[edges[0]] == halves[edges[1]]
    edges = lasting(edges[:, inside].clone())
    kinds = torch.arange(edges.shape[1])[:, None] % 3
    other = 2 - kinds
    cases = [(None, kinds), (None, other), (None, kinds)] if name == "gin" else [(halves, None), (None, None)]
    for batch, attributes in cases:
        assert torch.equal(model(x, edges, batch, attributes), model(x, edges.clone(), batch, attributes))
    if name == "gin":
        kinds.copy_(other)  # in place
        assert torch.equal(model(x, edges, None, kinds), model(x, edges.clone(), None, other))


def test_features_of_edges_that_are_missing_or_too_few_are_refused() -> None:
    model = GIN(CHANNELS, 2, hidden_channels=8, num_layers=1, edge_channels=(3,))
    x, edges = some_rows().detach().float(), some_edges(lasts=False)
    with pytest.raises(InputError, match="edge_attr: is missing; this GIN was made with features of edges"):
        model(x, edges)
    with pytest.raises(InputError, match="edge_attr: has 1 row for 120 edges"):
        model(x, edges, edge_attr=torch.zeros(1, 1, dtype=torch.long))


def test_many_nodes_times_many_kinds_of_edges() -> None:
    """More than 32 bits count."""
    source = torch.arange(40_000, dtype=torch.int32) + 30_000
    kinds = edge_kinds(torch.stack([source, source]), torch.arange(40_000)[:, None], 70_000)
    assert torch.equal(kinds.node, source.long())


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
