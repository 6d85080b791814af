"""Batches of nodes with what they depend on: the same answers as whole graphs give, and as little of them as needed."""

from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch

from wlhn import Graphs, as_graphs
from wlhn.batching.collator import Collator
from wlhn.batching.refined import make_quotient
from wlhn.data import as_dataset, load
from wlhn.data.splits import Split, stratified_folds
from wlhn.data.vocabulary import Encoded
from wlhn.models import WLHN
from wlhn.runs.trained import Trained
from wlhn.training.fit import fit
from wlhn.training.problem import Problem
from wlhn.training.settings import Settings


def some_graphs(labelled: bool) -> Graphs:
    rng = np.random.default_rng(0)
    parts = [nx.barabasi_albert_graph(40, 2, seed=1), nx.star_graph(9), nx.path_graph(7), nx.empty_graph(2)]
    for graph in parts:
        nx.set_edge_attributes(graph, {edge: int(rng.integers(3)) for edge in graph.edges}, "label")
    return as_graphs(parts) if labelled else as_graphs([nx.Graph(graph.edges) for graph in parts[:3]])


@pytest.mark.parametrize("labelled", [False, True])
def test_some_nodes_get_what_all_nodes_get(labelled: bool) -> None:
    graphs = some_graphs(labelled)
    x = np.random.default_rng(1).integers(0, 2, (graphs.num_nodes, 1)).astype(np.float32)
    quotient = make_quotient(graphs, x, 3, edges=labelled, nodes=True)
    torch.manual_seed(0)
    edge_channels = (len(quotient.edge_x),) if quotient.edge_x is not None else 0
    model = WLHN(1, 2, hidden_channels=8, num_layers=3, level="node", edge_channels=edge_channels).double()
    model.run_on_colours(_double(quotient.batch(np.arange(len(graphs)))))  # running statistics
    model.eval()
    whole = model.run_on_colours(_double(quotient.batch(np.arange(len(graphs)))))
    for nodes in ([5], [3, 3, 0], np.random.default_rng(2).permutation(graphs.num_nodes)[:20]):
        batch = quotient.batch_of_nodes(nodes)
        torch.testing.assert_close(model.run_on_colours(_double(batch)), whole[nodes])
    leaf = quotient.batch_of_nodes([graphs.num_nodes - 1])
    assert leaf.num_rows[-1] == 1
    assert sum(leaf.num_rows) < sum(quotient.batch(np.arange(len(graphs))).num_rows)


def test_all_nodes_as_targets_train_as_whole_graphs_do() -> None:
    graphs = some_graphs(labelled=False)
    x = np.random.default_rng(1).integers(0, 2, (graphs.num_nodes, 1)).astype(np.float32)
    quotient = make_quotient(graphs, x, 3, nodes=True)
    gradients, buffers = [], []
    for batch in (quotient.batch(np.arange(len(graphs))), quotient.batch_of_nodes(np.arange(graphs.num_nodes))):
        torch.manual_seed(0)
        model = WLHN(1, 2, hidden_channels=8, num_layers=3, level="node").double()
        (model.run_on_colours(_double(batch)) ** 2).mean().backward()
        gradients.append([p.grad for p in model.parameters()])
        buffers.append(list(model.buffers()))
    torch.testing.assert_close(*gradients)
    torch.testing.assert_close(*buffers)


def test_statistics_are_those_of_the_nodes_asked_for() -> None:
    graphs = some_graphs(labelled=False)
    quotient = make_quotient(graphs, np.ones((graphs.num_nodes, 1), np.float32), 2, nodes=True)
    batch = quotient.batch_of_nodes([0, 1, 2, 2])
    for level in batch.levels:
        assert (4 if level.weight is None else level.weight.sum()) == 4


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("wlhn", {}),
        ("wlhn", {"readout": "all", "learn_epsilon": True}),
        ("wlhn", {"readout": "steps", "lengths": "log"}),
        ("wlhn", {"edge_features": True}),
        ("gin", {}),
    ],
)
def test_large_graphs_are_learned_in_batches_and_answered_by_depths(
    model: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = nx.barabasi_albert_graph(60, 2, seed=3)
    nx.set_edge_attributes(graph, {edge: sum(edge) % 3 for edge in graph.edges}, "label")
    y = [int(degree > 3) for _, degree in graph.degree]
    dataset = as_dataset(graph, y, level="node")
    split = Split(np.arange(0, 60, 2), np.arange(1, 60, 4), np.arange(3, 60, 4))
    small = {"hidden_channels": 8, "num_layers": 2, "epochs": 3, "whole_graph_nodes": 10, "nodes_per_batch": 7}
    settings = Settings.of(model, **small, **options)
    monkeypatch.setattr("wlhn.runs.trained.NODES_AT_A_TIME", 11)
    monkeypatch.setattr("wlhn.runs.layerwise.ROWS", 5)
    problem = Problem(dataset, split, settings)
    sizes = [len(batch.items) for batch in problem.batches(split.train, shuffle_seed=1)]
    assert sizes == ([7, 7, 7, 7, 2] if model == "wlhn" else [30])
    trained = Trained.of(problem, fit(problem, seed=0))
    answers = _all(trained, dataset.graphs)
    whole = replace(trained, settings=settings.but({"whole_graph_nodes": 1000}))
    for ours, theirs in zip(answers, _all(whole, dataset.graphs), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def _all(trained: Trained, graphs: Graphs) -> list[Any]:
    (predicted,) = trained.predict(graphs)
    if not isinstance(trained.model, WLHN):
        return [predicted.outputs]
    (embedded,) = trained.embed(graphs)
    return [predicted.outputs, embedded.ball, embedded.tangent, embedded.graph]


def _double(batch: Any) -> Any:
    return type(batch)(**(vars(batch) | {"x": batch.x.double()}))


@pytest.mark.parametrize("on_colours", [True, False])
def test_a_batch_moves_as_a_whole(on_colours: bool) -> None:
    graphs = some_graphs(labelled=True)
    graphs = replace(graphs, edge_attr=graphs.edge_label[:, None].astype(np.float32))
    collator = Collator(Encoded(graphs, np.ones((graphs.num_nodes, 1), np.float32), 0, 0), on_colours, depth=2)
    moved = list(tensors(collator.batch(np.arange(len(graphs))).to("meta")))
    assert len(moved) > 3
    assert all(tensor.device.type == "meta" for tensor in moved)


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in a structure."""
    if isinstance(value, torch.Tensor):
        yield value
    elif is_dataclass(value) or isinstance(value, tuple):
        for part in vars(value).values() if is_dataclass(value) else value:
            yield from tensors(part)


@pytest.mark.parametrize("model", ["wlhn", "gin", "gcn", "graphsage", "hgcn-poincare"])
def test_training_without_compiled_loops_as_on_a_gpu(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutag = load("MUTAG")
    settings = Settings.of(model=model, hidden_channels=8, num_layers=2, epochs=2, batch_size=64)
    problem = Problem(mutag, stratified_folds(mutag.y)[0], settings)
    compiled = fit(problem, seed=0)
    called = []
    monkeypatch.setattr("wlhn.loops.parallel.compiled_for", lambda tensor: called.append(tensor))
    plain = fit(problem, seed=0)
    assert called
    for ours, theirs in zip(compiled.history, plain.history, strict=True):
        assert ours.train_loss == pytest.approx(theirs.train_loss, rel=1e-3)
        assert ours.valid_loss == pytest.approx(theirs.valid_loss, rel=1e-2)
