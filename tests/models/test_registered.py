"""What every registered model must do, whichever it is."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from baseline_graphs import BOTH, FEATURES, LEARNED, SEES_EDGES, build, sample
from torch import nn
from typer.testing import CliRunner

from wlhn import InputError
from wlhn.cli.app import app
from wlhn.nn.machine import AtOnce
from wlhn.models.pgnn import PGNN, draw_anchors, nearest_anchors
from wlhn.models.registry import MODELS
from wlhn.runs.run_folder import load_run

OPTIONS = [  # each option away from its default, so that no branch goes unseen
    ("gin", {"learn_epsilon": True}),
    ("gat", {"attention_heads": 2}),
    ("graphsage", {"aggregation": "max"}),
    ("mixhop", {"hops": 3}),
    ("hgcn-poincare", {"attention": True, "curvature": 0.5}),
    ("hgcn-poincare", {"local_aggregation": True}),
    ("hgcn-hyperboloid", {"attention": True, "local_aggregation": True}),
    ("geom-gcn", {"latent": "poincare"}),
    ("pgnn", {"anchor_sets": 8, "anchor_hops": 2}),
    ("dgcnn", {"sort_nodes": 10}),
    ("diffpool", {"clusters": 3}),
    ("structure-agnostic", {"sum_first": True}),
]


def fitted(model: nn.Module, level: str, edges: bool = False) -> nn.Module:
    """A model after a first look at the sample: running statistics, or fitted at once."""
    given = sample().inputs(edges)
    if isinstance(model, AtOnce):
        model.fit(*given.values(), y=sample().targets(level), task="classification")
    else:
        model.train()(**given)
    return model.eval()


@pytest.mark.parametrize(("name", "level"), LEARNED)
def test_overfits_to_near_zero_loss(name: str, level: str) -> None:
    small = sample(count=9 if level == "graph" else 3)
    model, y, given = build(name, level), small.targets(level), small.inputs()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(300):
        loss = nn.functional.cross_entropy(model(**given), y)
        if loss < 0.02:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.02


@pytest.mark.parametrize(("name", "options"), [("wl-svm", {"svm_penalty": 1e4}), ("morgan-forest", {"trees": 50})])
@pytest.mark.parametrize("task", ["classification", "binary", "regression"])
def test_models_fitted_at_once_learn_by_heart(name: str, options: dict, task: str) -> None:
    model, y, given = build(name, "graph", **options), sample().targets("graph"), sample().inputs()
    if task != "classification":
        y = torch.stack([y == 0, y == 1, y == 2], dim=1).float()
        y[0, 1] = torch.nan
    model.fit(*given.values(), y=y, task=task)
    answer = model(**given)
    if task == "classification":
        assert (answer.argmax(1) == y).all()
    else:
        known = ~y.isnan()
        assert ((answer > (0 if task == "binary" else 0.5)) == (y == 1))[known].float().mean() > 0.9


@pytest.mark.parametrize(("name", "level"), BOTH)
def test_numbering_of_nodes_does_not_matter(name: str, level: str) -> None:
    _assert_equivariant(name, level)


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_numbering_does_not_matter_with_options(name: str, options: dict) -> None:
    _assert_equivariant(name, MODELS[name].levels[-1], options=options)


@pytest.mark.parametrize("name", SEES_EDGES)
def test_numbering_does_not_matter_with_edges(name: str) -> None:
    _assert_equivariant(name, "graph", edges=True)


def _assert_equivariant(name: str, level: str, edges: bool = False, options: dict | None = None) -> None:
    one = sample(dtype=np.float64)
    order = np.random.default_rng(2).permutation(one.graphs.num_nodes)
    order = order[np.argsort(one.graphs.graph_of_node[order], kind="stable")]
    other = type(one)(one.graphs.permute(order))
    model = build(name, level, edges, **options or {})
    model = fitted(model, level, edges).double()
    answers = []
    for graphs, renumber in ((one, slice(None)), (other, order)):
        if isinstance(model, PGNN):  # its anchors are what they are: renumbered with the nodes
            sizes = np.diff(one.graphs.node_ptr)
            anchors = np.concatenate([draw_anchors(n, model.anchor_sets) for n in sizes])[renumber]
            s, nearest = nearest_anchors(graphs.graphs.edge_index.astype(np.int64), anchors, model.anchor_hops)
            model.similarities = lambda *_, s=s, nearest=nearest: (torch.from_numpy(s), torch.from_numpy(nearest))
        answers.append(model(**graphs.inputs(edges)).detach())
    expected = answers[0] if level == "graph" else answers[0][order]
    torch.testing.assert_close(answers[1], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "level", "edges", "options"),
    [
        *((name, level, False, {}) for name, level in LEARNED),
        *((name, MODELS[name].levels[-1], False, options) for name, options in OPTIONS),
        *((name, "graph", True, {}) for name in SEES_EDGES),
    ],
    ids=str,
)
def test_every_parameter_gets_a_gradient(name: str, level: str, edges: bool, options: dict) -> None:
    model = build(name, level, edges, **options)
    nn.functional.cross_entropy(model(**sample().inputs(edges)), sample().targets(level)).backward()
    without = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().max() > 0]
    assert not without


@pytest.mark.parametrize("name", sorted(set(MODELS) - set(SEES_EDGES) - {"morgan-forest"}))
def test_models_that_do_not_see_edges_say_so(name: str) -> None:
    with pytest.raises(InputError, match="does not see features of edges"):
        build(name, MODELS[name].levels[0], edges=True)


@pytest.mark.parametrize(("name", "level"), BOTH)
def test_trains_and_predicts_by_command(name: str, level: str, tmp_path: Path) -> None:
    data = {"graph": "MUTAG", "node": "karate"}[level]
    run = tmp_path / "run"
    size = ["--hidden-channels", "8", "--num-layers", "2", "--epochs", "2"]
    told = CliRunner().invoke(app, ["train", data, "--model", name, *size, "--out", str(run), "--json"])
    assert told.exit_code == 0, told.output
    scores = json.loads(told.output)["scores"]
    predicted = CliRunner().invoke(app, ["predict", str(run), data, "--out", str(tmp_path / "out.csv")])
    assert predicted.exit_code == 0, predicted.output
    assert load_run(run).settings.model == name
    assert 0 <= scores["test"] <= 1


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if len(entry.levels) == 1])
def test_models_for_one_level_refuse_the_other(name: str) -> None:
    level = {"graph": "node", "node": "graph"}[MODELS[name].levels[0]]
    with pytest.raises(InputError, match=f"predicts {MODELS[name].levels[0]}s"):
        build(name, level)


def test_all_options_are_tried() -> None:
    tried = {option for _, options in OPTIONS for option in options} | {"svm_penalty", "trees", "learn_curvature"}
    assert {o for name, entry in MODELS.items() if name != "wlhn" for o in entry.options} <= tried


@pytest.mark.parametrize(("name", "level"), LEARNED)
def test_a_batch_of_one_node_is_learned_from(name: str, level: str) -> None:
    model = build(name, level).train()
    outputs = model(torch.ones(1, FEATURES), torch.empty(2, 0, dtype=torch.long), torch.zeros(1, dtype=torch.long))
    outputs.sum().backward()
    assert outputs.shape == (1, 3)
    for parameter in model.parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all()
