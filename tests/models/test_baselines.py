"""Baselines' values against independent references: PyG by weight transfer, geoopt, networkx, RDKit, plain NumPy."""

import copy
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from baseline_graphs import EDGE_SIZES, FEATURES, build, rows, sample
from torch import nn
from torch_geometric.nn import GINConv, NNConv, SAGEConv, SortAggregation, dense_diff_pool, models
from torch_geometric.utils import to_dense_adj, to_dense_batch

from wlhn.batching.collator import Collator, NodeBatch, run_model
from wlhn.batching.colour_batch import ColourBatch
from wlhn.batching.matrices import mean_matrix
from wlhn.bench.epoch import PlainGIN
from wlhn.data import load
from wlhn.data.vocabulary import Vocabulary
from wlhn.hyperbolic import poincare_distance
from wlhn.models.diffpool import diff_pool
from wlhn.models.ecc import EDGE_FILTERS, EdgeConditioned
from wlhn.models.geom_gcn import neighbourhoods
from wlhn.models.gin import GINOptions
from wlhn.models.pgnn import PositionLayer, draw_anchors, nearest_anchors
from wlhn.models.registry import build_model
from wlhn.nn.dropout import Dropout
from wlhn.nn.latent_space import latent_distance, place_nodes
from wlhn.nn.machine import Inputs
from wlhn.nn.pooling import sort_pool
from wlhn.options.training import InputOptions
from wlhn.training.problem import collator_of
from wlhn.training.settings import Settings

GRAPHS = sample().graphs
EDGES = torch.from_numpy(GRAPHS.edge_index.astype(np.int64))
BATCH = torch.from_numpy(GRAPHS.graph_of_node)


@pytest.mark.parametrize(
    ("name", "reference", "options"),
    [
        ("gcn", models.GCN, {}),
        ("gat", models.GAT, {"heads": 4}),
        ("graphsage", models.GraphSAGE, {}),
    ],
)
def test_as_pyg_with_the_same_weights(name: str, reference: type, options: dict) -> None:
    ours = build(name, "node").train()
    theirs = reference(16, 16, num_layers=2, out_channels=16, norm="batch_norm", jk="last", bias=False, **options)
    weights = {key.replace("layers.", "convs."): value for key, value in ours.state_dict().items()}
    kept = theirs.state_dict()
    assert {k for k in kept if not k.startswith("lin.")} == {k for k in weights if k.startswith(("convs.", "norms."))}
    theirs.load_state_dict({k: weights.get(k, v) for k, v in kept.items()})
    theirs.lin = nn.Identity()
    torch.testing.assert_close(ours.represent(rows(), EDGES, BATCH, None), theirs(rows(), EDGES))


@pytest.mark.parametrize("aggregation", ["sum", "max"])
def test_graphsage_aggregates_as_pyg(aggregation: str) -> None:
    model = build("graphsage", "node", aggregation=aggregation)
    theirs = SAGEConv(16, 16, aggr=aggregation, bias=False)
    theirs.load_state_dict(model.layers[0].state_dict())
    ours = model.layers[0](rows(), *model.edges(rows(), EDGES, BATCH, None))
    torch.testing.assert_close(ours, theirs(rows(), EDGES))
    assert not torch.allclose(ours, build("graphsage", "node").layers[0](rows(), mean_matrix(EDGES, rows())))


def test_gin_and_its_gradients_as_pyg() -> None:
    ours = build("gin", "graph")
    theirs = PlainGIN(FEATURES, 3, hidden_channels=16, num_layers=2)
    theirs.load_state_dict(ours.state_dict())
    for model in (ours, theirs):
        model.train()(rows(FEATURES), EDGES, BATCH).square().sum().backward()
    assert GINConv.forward is not type(ours.layers[0]).forward
    for own, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(own.grad, other.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("learn_epsilon", [False, True])
@pytest.mark.parametrize("edges", [False, True])
def test_gin_on_colours_is_gin_on_nodes(edges: bool, learn_epsilon: bool) -> None:
    """Outputs, gradients and running statistics of a step in training, and what it answers afterwards."""
    data = load("MUTAG")
    encoded = (vocabulary := Vocabulary.fit(data, InputOptions(edge_features=edges))).encode(data.graphs)
    encoded = replace(encoded, x=encoded.x.astype(np.float64))
    widths = vocabulary.in_channels, 2, "graph", vocabulary.edge_channels
    model = build_model("gin", GINOptions(8, 3, learn_epsilon=learn_epsilon), *widths).double()
    for parameter in model.parameters():  # no ε of 0, no BatchNorm that changes nothing
        nn.init.normal_(parameter, std=0.3)
    results = []
    for on_colours in (True, False):
        twin, batch = copy.deepcopy(model), Collator(encoded, on_colours, depth=3).batch(np.arange(len(data)))
        said = run_model(twin.train(), batch)
        said.square().sum().backward()
        answers = run_model(twin.eval(), batch)
        results.append([said, answers, *twin.buffers(), *(p.grad for p in twin.parameters())])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_gin_learns_graphs_on_colours_and_nodes_on_nodes() -> None:
    settings, encoded = Settings.of("gin", num_layers=2), Vocabulary.fit(load("MUTAG")).encode(load("MUTAG").graphs)
    for level, kind in (("graph", ColourBatch), ("node", NodeBatch)):
        assert isinstance(collator_of(settings, encoded, level).batch(np.arange(9)), kind)


def test_mixhop_mixes_powers_of_the_normalised_adjacency() -> None:
    model, x = build("mixhop", "node"), rows()
    adjacency = to_dense_adj(EDGES)[0] + torch.eye(len(x))
    scale = adjacency.sum(1).rsqrt()
    power = scale[:, None] * adjacency * scale
    parts = [torch.linalg.matrix_power(power, p) @ x @ model.layers[0].lins[p].weight.T for p in range(3)]
    torch.testing.assert_close(model.layers[0](x, *model.edges(x, EDGES, BATCH, None)), torch.cat(parts, dim=1))


def test_ecc_is_pygs_nnconv_without_the_matrices() -> None:
    d, edge_attr = 16, torch.from_numpy(GRAPHS.edge_attr)
    ours = EdgeConditioned(d, EDGE_SIZES)
    output = nn.Linear(EDGE_FILTERS, d * d)
    theirs = NNConv(d, d, nn.Sequential(ours.filters, nn.ReLU(), output), aggr="mean", bias=False)
    blocks = ours.theta.weight.reshape(d, EDGE_FILTERS + 1, d).permute(1, 2, 0).reshape(EDGE_FILTERS + 1, -1)
    output.weight.data, output.bias.data = blocks[:-1].T.contiguous(), blocks[-1]
    theirs.lin.weight.data = ours.root.weight.data
    torch.testing.assert_close(ours(rows(), EDGES, edge_attr), theirs(rows(), EDGES, edge_attr))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_keeps_the_mean_and_drops_its_share(p: float) -> None:
    layer, x, n = Dropout(p), torch.ones(400, 500, requires_grad=True), 200_000
    torch.manual_seed(3)
    out = layer(x)
    torch.manual_seed(3)
    assert torch.equal(out, layer(x))
    assert not torch.equal(out, layer(x))
    dropped = (out == 0).sum().item() / n
    assert abs(dropped - p) < 5 * (p * (1 - p) / n) ** 0.5
    torch.testing.assert_close(out[out > 0], torch.full_like(out[out > 0], 1 / (1 - p)))
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())
    assert torch.equal(layer.eval()(x), x)


def test_sort_pool_in_numpy_and_pyg() -> None:
    h = rows(5)
    expected = np.zeros((len(GRAPHS), 10, 5), np.float32)
    for g in range(len(GRAPHS)):
        mine = sorted(h[g == BATCH].numpy(), key=lambda row: -row[-1])[:10]
        expected[g, : len(mine)] = mine
    pooled = sort_pool(h, BATCH, 10)
    assert np.array_equal(pooled.numpy(), expected)
    torch.testing.assert_close(pooled, SortAggregation(10)(h, BATCH).reshape(pooled.shape))


def test_diff_pool_in_numpy_and_pyg() -> None:
    z, scores = rows(6), rows(4, seed=4)
    features, adjacency, loss = diff_pool(z, torch.softmax(scores, 1), EDGES, BATCH)
    A = to_dense_adj(EDGES, BATCH)
    dense_z, mask = to_dense_batch(z, BATCH)
    expected = dense_diff_pool(dense_z, A, to_dense_batch(scores, BATCH)[0], mask)
    torch.testing.assert_close((features, adjacency), expected[:2])
    s = torch.softmax(scores, 1).numpy().astype(np.float64)
    wrong, entries = 0.0, 0
    for g in range(len(GRAPHS)):
        own = s[g == BATCH]
        n = len(own)
        wrong += np.square(A[g, :n, :n].numpy() - own @ own.T).sum()
        entries += n * n
    assert loss.item() == pytest.approx(wrong / entries - (s * np.log(s)).sum(1).mean(), rel=1e-5)


@pytest.mark.parametrize("hops", [0, 2])
def test_pgnn_layer_by_networkx_distances(hops: int) -> None:
    graph = nx.Graph(EDGES.T.tolist())
    distance = dict(nx.all_pairs_shortest_path_length(graph, cutoff=hops or None))
    anchors = draw_anchors(GRAPHS.num_nodes, sets=7)
    s, nearest = nearest_anchors(EDGES.numpy(), anchors, hops)
    layer, h = PositionLayer(4), rows(4)
    structure, messages = layer(h, torch.from_numpy(s), torch.from_numpy(nearest))
    W_anchor, W_own, b = (p.detach().numpy() for p in (layer.anchor.weight, layer.own.weight, layer.own.bias))
    x, expected = h.numpy(), np.zeros((GRAPHS.num_nodes, 7, 4))
    for v in range(GRAPHS.num_nodes):
        for i in range(7):
            members = sorted(np.flatnonzero(anchors[:, i] >= 0), key=lambda u, i=i: anchors[u, i])
            found = [(distance[v][u], k, u) for k, u in enumerate(members) if u in distance[v]]
            heard = W_anchor @ x[min(found)[2]] / (1 + min(found)[0]) if found else 0
            expected[v, i] = np.maximum(heard + W_own @ x[v] + b, 0)
    np.testing.assert_allclose(messages.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(structure.detach().numpy(), expected.mean(1), rtol=1e-4, atol=1e-5)


def test_latent_spaces_recover_places_that_exist() -> None:
    places = np.random.default_rng(0).uniform(-0.6, 0.6, (40, 2))
    plane = torch.cdist(torch.from_numpy(places), torch.from_numpy(places)).numpy()
    np.testing.assert_allclose(latent_distance(place_nodes(plane, "isomap"), "isomap"), plane, atol=1e-5)
    points = torch.from_numpy(places)
    disc = poincare_distance(points[:, None], points).numpy()
    np.testing.assert_allclose(latent_distance(place_nodes(disc, "poincare"), "poincare"), disc, atol=1e-5)


def test_geom_gcn_has_two_neighbourhoods_of_equal_size() -> None:
    one = GRAPHS.select([0])
    pairs, virtual, weight = neighbourhoods(one.num_nodes, one.edge_index.astype(np.int64).tobytes(), "isomap")
    in_graph, n = virtual < 4, one.num_nodes
    assert {tuple(p) for p in pairs[:, in_graph].T} == {*map(tuple, one.edge_index.T), *((v, v) for v in range(n))}
    assert n < (~in_graph).sum() <= n + one.num_edges
    opposite = {0: 3, 1: 2, 2: 1, 3: 0}
    seen = {(u, v): r % 4 for u, v, r in zip(*pairs[:, in_graph].tolist(), virtual[in_graph].tolist(), strict=True)}
    assert all(seen[v, u] == opposite[r] for (u, v), r in seen.items() if u != v)
    degree = one.degree + 1
    np.testing.assert_allclose(weight[in_graph], (degree[pairs[0]] * degree[pairs[1]])[in_graph] ** -0.5)


def test_morgan_fingerprints_are_those_of_the_molecules(tmp_path: Path) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    pytest.importorskip("ogb")
    from rdkit import DataStructs
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    from wlhn.data.readers.molecules import read_smiles
    from wlhn.data.vocabulary import Vocabulary
    from wlhn.models.machines.morgan_forest import MorganForest
    from wlhn.options.training import InputOptions

    smiles = ["CCO", "c1ccccc1C(=O)O", "CC(=O)Oc1ccccc1C(=O)O", "C1CC1N", "O=[N+]([O-])c1ccccc1", "CCO.[Na+]", "C"]
    table = tmp_path / "molecules.csv"
    table.write_text("smiles,y\n" + "\n".join(f"{s},{k % 2}" for k, s in enumerate(smiles)))
    dataset = read_smiles(table)
    vocabulary = Vocabulary.fit(dataset, InputOptions(edge_features=True))
    encoded = vocabulary.encode(dataset.graphs)
    model = MorganForest(vocabulary.in_channels, 2, rounds=2, edge_channels=vocabulary.edge_channels)
    graphs = encoded.graphs
    inputs = Inputs(encoded.x, graphs.edge_index, graphs.graph_of_node, graphs.edge_attr)
    generator = GetMorganGenerator(radius=2)
    ours = []
    for nodes, edges in inputs.graphs():
        molecule, atoms, bonds = model.molecule(inputs, nodes, edges)
        told = {"customAtomInvariants": atoms, "customBondInvariants": bonds}
        ours.append(generator.GetSparseCountFingerprint(molecule, **told))
    theirs = [generator.GetSparseCountFingerprint(chem.MolFromSmiles(s)) for s in smiles]
    for a, b in zip(ours, theirs, strict=True):
        assert sorted(a.GetNonzeroElements().values()) == sorted(b.GetNonzeroElements().values())
        pairs = zip(ours, theirs, strict=True)
        assert all(DataStructs.DiceSimilarity(a, c) == DataStructs.DiceSimilarity(b, d) for c, d in pairs)
