"""Explanations of nodes: they add up, average nodes add nothing, and a planted cause stands first."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from baseline_graphs import sample
from running import wlhn

from wlhn.batching.refined import make_quotient
from wlhn.data import as_dataset
from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.inspection.attribution import average, divide, reached
from wlhn.inspection.explain import explain, explain_node
from wlhn.models import WLHN
from wlhn.nn.soft_edges import SoftEdges
from wlhn.runs.train import train
from wlhn.runs.trained import Trained
from wlhn.training.settings import Settings

OPTIONS = [{}, {"readout": "all", "directions": "whitened"}, {"head": "hyperbolic"}]


def model(level: str = "node", edges: bool = False, **options: Any) -> WLHN:
    torch.manual_seed(0)
    sizes = {"hidden_channels": 8, "num_layers": 2, "edge_channels": (3, 2) if edges else 0}
    return WLHN(in_channels=5, out_channels=3, level=level, **sizes | options).eval()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("level", ["graph", "node"])
def test_soft_edges_of_weight_one_are_the_model(level: str, edges: bool, options: dict[str, Any]) -> None:
    inputs = sample().inputs(edges)
    own = model(level, edges, **options)
    with torch.no_grad():
        expected = own(**inputs)
        torch.testing.assert_close(SoftEdges(own)(**inputs), expected, rtol=1e-4, atol=1e-5)
        halved = torch.full((inputs["edge_index"].shape[1],), 0.5)
        assert not torch.allclose(SoftEdges(own)(**inputs, edge_weight=halved), expected)


def test_a_message_of_weight_zero_is_no_message() -> None:
    inputs = sample().inputs()
    own = SoftEdges(model())
    kept = torch.arange(inputs["edge_index"].shape[1]) % 3 > 0
    with torch.no_grad():
        without = own(inputs["x"], inputs["edge_index"][:, kept])
        silent = own(inputs["x"], inputs["edge_index"], edge_weight=kept.float())
    torch.testing.assert_close(silent, without)


def with_average(own: WLHN, graphs: Graphs, x: torch.Tensor, node: int) -> tuple[Any, ...]:
    """(parts, outputs, hops) of a node of a whole graph, and what it was compared with."""
    mean = average(own.float(), make_quotient(graphs, x.numpy(), len(own.layers), False))
    hop = np.full(graphs.num_nodes, len(own.layers) + 1)
    near, away = reached(graphs, node, len(own.layers))
    hop[near] = away
    edges = torch.from_numpy(graphs.edge_index.astype(np.int64))
    return *divide(own, x, edges, None, torch.from_numpy(hop), mean), hop, mean


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_parts_add_up_and_the_average_is_that_of_all_nodes(options: dict[str, Any]) -> None:
    own, graphs = model(**options), sample().graphs
    x, edges = sample().inputs()["x"], sample().inputs()["edge_index"]
    each, there, hop, mean = with_average(own, graphs, x, node=3)
    with torch.no_grad():
        said = own(x, edges).double()
    torch.testing.assert_close(there, said[3], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(mean.output, said.mean(0), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(mean.output + each.sum(0), there, rtol=0, atol=1e-10)
    assert (each[hop > 2].abs() < 1e-12).all()
    assert (each[hop <= 2].abs().sum(1) > 0).sum() > 2


@pytest.mark.parametrize(("lengths", "share"), [("fixed", 0.1), ("log", 0.2)])
def test_who_is_average_adds_nothing(lengths: str, share: float) -> None:
    """On a cycle of equal nodes everybody is; beside one other node, those who only pass on its word still are."""
    graphs = Graphs.from_edges(np.array(list(nx.DiGraph(nx.cycle_graph(12)).edges)).T)
    same = torch.ones(12, 5)
    each, there, _, mean = with_average(model(lengths=lengths), graphs, same, node=0)
    assert each.abs().max() < 1e-4
    torch.testing.assert_close(there, mean.output, rtol=1e-4, atol=1e-4)
    other = same.clone()
    other[2] = torch.tensor([5.0, -3.0, 2.0, 0.0, 1.0])
    far = 1 + torch.arange(1000) % 11  # nearly everybody is as before
    rare = Graphs.from_edges(np.array(list(nx.DiGraph(nx.cycle_graph(1012)).edges)).T)
    each, *_ = with_average(model(lengths=lengths), rare, torch.cat([other, same[far]]), node=0)
    size = each.abs().sum(1)
    assert int(size[1:].argmax()) + 1 == 2
    assert size[1] < share * size[2]  # node 1 passes on what node 2 says
    assert size[1010] < share * size[2]


def test_reached_is_what_breadth_first_search_finds() -> None:
    graph = nx.gnp_random_graph(40, 0.06, seed=3, directed=True)
    graphs = Graphs.from_edges(np.array(list(graph.edges)).T, 40)
    for node in range(0, 40, 7):
        expected = nx.single_source_shortest_path_length(graph.reverse(), node, cutoff=2)
        found, hop = reached(graphs, node, hops=2)
        assert found[0] == node
        assert dict(zip(found.tolist(), hop.tolist(), strict=True)) == expected


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dataset, Trained, Path]:
    """A node's class is whether the one marked kind of node is among its neighbours."""
    rng = np.random.default_rng(0)
    graph = nx.random_regular_graph(3, 200, seed=1)
    marked = rng.random(200) < 0.15
    nx.set_node_attributes(graph, {v: "mark" if marked[v] else "plain" for v in graph}, "kind")
    y = ["near" if any(marked[u] for u in graph[v]) else "far" for v in graph]
    data = as_dataset(graph, y, level="node", name="marks")
    settings = Settings.of(num_layers=2, hidden_channels=16, epochs=60, patience=60, learning_rate=0.01)
    folder = tmp_path_factory.mktemp("marks") / "run"
    done = train(data, settings, folder)
    assert done.test is not None
    assert done.test.metrics["accuracy"] > 0.9
    return data, done.trained, folder


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dataset, Trained, list[list[int]]]:
    """A node is "near" if a marked one is at most two hops away; other nodes are of kinds that do not matter."""
    rng = np.random.default_rng(1)
    graph = nx.random_regular_graph(3, 300, seed=1)
    marked = rng.random(300) < 0.05
    kind = {v: "mark" if marked[v] else str(rng.choice(["a", "b"])) for v in graph}
    nx.set_node_attributes(graph, kind, "kind")
    causes = [
        [u for u, d in nx.single_source_shortest_path_length(graph, v, cutoff=2).items() if marked[u] and d]
        for v in range(300)
    ]
    order = list(graph)
    data = as_dataset(graph, ["near" if causes[v] else "far" for v in order], level="node", name="marks")
    settings = Settings.of(num_layers=2, hidden_channels=16, epochs=80, patience=80, learning_rate=0.01)
    trained = train(data, settings, tmp_path_factory.mktemp("planted") / "run").trained
    place = {v: k for k, v in enumerate(order)}
    return data, trained, [[place[u] for u in causes[v]] for v in order]


def test_parts_add_up_to_what_the_trained_model_says(listener: tuple[Dataset, Trained, Path]) -> None:
    data, trained, _ = listener
    wanted, graphs = data.classes.index("near"), data.graphs
    said = np.concatenate([part.outputs for part in trained.predict(graphs)])
    for node in range(0, 200, 60):
        explanation = explain_node(trained, graphs, node)
        margin = explanation.margin(wanted)
        assert margin.base + margin.node.sum() == pytest.approx(margin.value, abs=1e-9)
        assert margin.base + margin.colour.sum() == pytest.approx(margin.value, abs=1e-9)
        lead = float(np.log(said[node, wanted]) - np.log(said[node, 1 - wanted]))
        assert margin.value == pytest.approx(lead, abs=1e-2 * max(1, abs(lead)))
        assert explanation.own is not None
        assert explanation.positions[explanation.own] == node


def test_the_first_row_holds_the_planted_cause(planted: tuple[Dataset, Trained, list[list[int]]]) -> None:
    """A node is "near" because of one marked node, mostly two hops away: its substructure is to stand first."""
    data, trained, causes = planted
    wanted = data.classes.index("near")
    hits, chance = [], []
    for node, cause in enumerate(causes):
        if len(cause) != 1 or len(hits) == 12:
            continue
        explanation = explain_node(trained, data.graphs, node)
        margin = explanation.margin(wanted)
        if margin.value > 0:  # as it should be
            first = int(np.abs(margin.colour).argmax())
            there = explanation.node_colour[explanation.positions.tolist().index(cause[0])]
            hits.append(there == first and margin.colour[first] > 0)
            chance.append(1 / len(margin.colour))
    assert len(hits) == 12
    assert np.mean(chance) < 0.25
    assert np.mean(hits) >= 0.6


def test_numbering_of_nodes_changes_nothing(listener: tuple[Dataset, Trained, Path]) -> None:
    data, trained, _ = listener
    order = np.random.default_rng(1).permutation(200)
    moved = data.graphs.permute(order)
    here = explain_node(trained, data.graphs, int(order[7]))
    there = explain_node(trained, moved, 7)
    parts = {int(p): part for p, part in zip(here.positions, here.node, strict=True)}
    for position, part in zip(there.positions, there.node, strict=True):
        np.testing.assert_allclose(part, parts[int(order[position])], atol=1e-4)


def test_the_command_tables_draws_and_refuses(listener: tuple[Dataset, Trained, Path], tmp_path: Path) -> None:
    data, trained, _ = listener
    nx.write_graphml(nx.path_graph(3), tmp_path / "unused.graphml")
    run = tmp_path / "club"
    assert wlhn("train", "karate", "--epochs", "2", "--hidden-channels", "8", "--out", run).code == 0
    picture = tmp_path / "node.svg"
    ran = wlhn("explain", run, "karate", "--node", "33", "--out", picture, "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["node"] == "33"
    total = document["base"] + sum(each["adds"] for each in document["nodes"])
    assert total == pytest.approx(document["value"], abs=1e-9)
    by_colour = document["base"] + sum(each["adds"] for each in document["substructures"])
    assert by_colour == pytest.approx(document["value"], abs=1e-9)
    assert [each["nodes"] for each in document["substructures"] if "the node itself" in each["substructure"]] == [
        ["33"]
    ]
    assert "<svg" in picture.read_text()
    assert "the node itself" in wlhn("explain", run, "karate", "--node", "33", "--top", "40").out
    for flags, words in (
        (["--graph", "0"], "this model answers for nodes; name one of them (--node)"),
        ([], "name either a graph (--graph) or"),
        (["--node", "99"], "no node '99'"),
    ):
        ran = wlhn("explain", run, "karate", *flags)
        assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
        assert words in ran.err
    with pytest.raises(InputError, match="answers for nodes"):
        explain(trained, data.graphs, 0)
