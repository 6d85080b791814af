"""Explanations of nodes: they add up, and depend on nothing beyond the neighbourhood."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from baseline_graphs import sample
from running import wlhn

from wlhn.data import as_dataset
from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.inspection.explain import explain, explain_node
from wlhn.inspection.neighbourhood import divide, reached
from wlhn.models import WLHN
from wlhn.nn.soft_edges import SoftEdges
from wlhn.runs.train import train
from wlhn.runs.trained import Trained
from wlhn.training.settings import Settings

OPTIONS = [{}, {"readout": "all", "directions": "whitened"}, {"readout": "both", "head": "hyperbolic"}]


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


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_parts_add_up_and_the_own_part_is_that_of_the_node_alone(options: dict[str, Any]) -> None:
    own, inputs = model(**options).double(), sample().inputs()
    x, edges = inputs["x"].double(), inputs["edge_index"]
    each, there, base = divide(own, x, edges, None, node=3)
    with torch.no_grad():
        torch.testing.assert_close(there, own(x, edges)[3])
        alone = own(x, torch.empty(2, 0, dtype=torch.int64))[3]
    torch.testing.assert_close(each[3], alone - base)
    torch.testing.assert_close(base + each.sum(0), there, rtol=0, atol=1e-10)
    near = reached(sample().graphs, 3, hops=2)
    assert (each[np.setdiff1d(np.arange(len(x)), near)] == 0).all()
    assert (each[near].abs().sum(1) > 0).sum() > 2


def test_reached_is_what_breadth_first_search_finds() -> None:
    graph = nx.gnp_random_graph(40, 0.06, seed=3, directed=True)
    graphs = Graphs.from_edges(np.array(list(graph.edges)).T, 40)
    for node in range(0, 40, 7):
        expected = nx.single_source_shortest_path_length(graph.reverse(), node, cutoff=2)
        found = reached(graphs, node, hops=2).tolist()
        assert found[0] == node
        assert len(found) == len(expected)
        assert set(found) == set(expected)


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


def test_numbering_of_nodes_changes_nothing(listener: tuple[Dataset, Trained, Path]) -> None:
    data, trained, _ = listener
    order = np.random.default_rng(1).permutation(200)
    moved = data.graphs.permute(order)
    here = explain_node(trained, data.graphs, int(order[7]))
    there = explain_node(trained, moved, 7)
    parts = {int(p): part for p, part in zip(here.positions, here.node, strict=True)}
    for position, part in zip(there.positions, there.node, strict=True):
        np.testing.assert_allclose(part, parts[int(order[position])], atol=1e-6)


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
