"""What every registered model must do, whichever it is."""

import inspect
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from baseline_graphs import BOTH, FEATURES, LEARNED, MACHINES, NAMES, SEES_EDGES, build, sample
from tiny import tiny
from torch import nn
from typer.testing import CliRunner

from wlhn import Graphs, InputError
from wlhn.batching.collator import run_model
from wlhn.cli.app import app
from wlhn.data import load
from wlhn.data.vocabulary import Vocabulary
from wlhn.models.pgnn import PGNN, draw_anchors, nearest_anchors
from wlhn.models.registry import build_model, model_class
from wlhn.nn.capabilities import FittedInOneGo
from wlhn.options.option import named_fields
from wlhn.runs.run_folder import load_run
from wlhn.training.problem import collator_of
from wlhn.training.settings import Settings

OPTIONS = [  # each option away from its default, so that no branch goes unseen
    (
        "two-voices",
        {"tree_machine": "wl-linear", "tree_clusters": 2, "tree_folds": 2, "tree_weight": 0.2, "tree_coarse": True},
    ),
    ("two-voices", {"choose_weight": True, "num_networks": 2}),
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

MACHINE_OPTIONS = [
    ("wl-svm", {"svm_penalty": 1e4}),
    ("wl-oa", {"svm_penalty": 1e4}),
    ("wl-wasserstein", {"svm_penalty": 1e4, "gamma": 2.0}),
    ("wl-linear", {"svm_penalty": 1e4, "code": "log", "min_graphs": 1}),
    ("wl-linear", {"svm_penalty": 1e4, "coarse": True}),
    ("morgan-forest", {"trees": 50}),
    ("neighbourhood-trees", {"trees": 20}),
]


def fitted(model: nn.Module, level: str, edges: bool = False) -> nn.Module:
    """A model after a first look at the sample: running statistics, or fitted in one go."""
    given = sample().inputs(edges)
    if isinstance(model, FittedInOneGo):
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


@pytest.mark.parametrize(("name", "options"), [case for case in MACHINE_OPTIONS if case[0] != "neighbourhood-trees"])
@pytest.mark.parametrize("task", ["classification", "binary", "regression"])
def test_machines_learn_by_heart(name: str, options: dict, task: str) -> None:
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
    _assert_equivariant(name, model_class(name).target_levels[-1], options=options)


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
            anchors = np.concatenate([draw_anchors(n, model.options.anchor_sets) for n in sizes])[renumber]
            s, nearest = nearest_anchors(graphs.graphs.edge_index.astype(np.int64), anchors, model.options.anchor_hops)
            model.similarities = lambda *_, s=s, nearest=nearest: (torch.from_numpy(s), torch.from_numpy(nearest))
        answers.append(model(**graphs.inputs(edges)).detach())
    expected = answers[0] if level == "graph" else answers[0][order]
    torch.testing.assert_close(answers[1], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "level", "edges", "options"),
    [
        *((name, level, False, {}) for name, level in LEARNED),
        *((name, model_class(name).target_levels[-1], False, options) for name, options in OPTIONS),
        *((name, "graph", True, {}) for name in SEES_EDGES),
    ],
    ids=str,
)
def test_every_parameter_gets_a_gradient(name: str, level: str, edges: bool, options: dict) -> None:
    model = build(name, level, edges, **options)
    nn.functional.cross_entropy(model(**sample().inputs(edges)), sample().targets(level)).backward()
    without = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().max() > 0]
    assert not without


@pytest.mark.parametrize("name", [name for name in NAMES if not model_class(name).sees_edges])
def test_models_that_do_not_see_edges_say_so(name: str) -> None:
    with pytest.raises(InputError, match="does not use features of edges"):
        build(name, model_class(name).target_levels[0], edges=True)


@pytest.mark.parametrize(("name", "level"), BOTH)
def test_a_command_trains_it_and_another_predicts_the_same(name: str, level: str, tmp_path: Path) -> None:
    data = {"graph": "MUTAG", "node": "karate"}[level]
    run = tmp_path / "run"
    size = (
        ["--set", "rounds=2"] if name in MACHINES else ["--hidden-channels", "8", "--num-layers", "2", "--epochs", "2"]
    )
    told = CliRunner().invoke(app, ["train", data, "--model", name, *size, "--out", str(run), "--json"])
    assert told.exit_code == 0, told.output
    about = json.loads(told.stdout)  # what is said of compiling goes elsewhere
    predicted = CliRunner().invoke(app, ["predict", str(run), data, "--out", str(tmp_path / "out.csv")])
    assert predicted.exit_code == 0, predicted.output
    assert load_run(run).settings == Settings.from_json(about["settings"])
    answers, truth = pd.read_csv(tmp_path / "out.csv")["prediction"].astype(str), load(data)
    classes = np.array([str(value) for value in truth.classes])[truth.y]
    test = json.loads((run / "split.json").read_bytes())["test"]
    assert (answers.to_numpy()[test] == classes[test]).mean() == pytest.approx(about["scores"]["test"])


@pytest.mark.parametrize("name", [name for name in NAMES if len(model_class(name).target_levels) == 1])
def test_models_for_one_level_refuse_the_other(name: str) -> None:
    level = {"graph": "node", "node": "graph"}[model_class(name).target_levels[0]]
    with pytest.raises(InputError, match=f"predicts targets of {model_class(name).target_levels[0]}s"):
        build(name, level)


def test_every_option_of_a_baseline_is_tried_away_from_its_default() -> None:
    tried = {(name, option) for name, options in [*OPTIONS, *MACHINE_OPTIONS] for option in options}
    for name in NAMES:
        if name == "wlhn":  # has a file of its own
            continue
        model = model_class(name)
        inherited = {*named_fields(model.__mro__[1].Options), *named_fields(model.Options.__mro__[1])}
        own = set(named_fields(model.Options)) - inherited - {"hidden_channels", "rounds"}
        assert {(name, option) for option in own} <= tried
    for name, options in [*OPTIONS, *MACHINE_OPTIONS]:
        defaults = model_class(name).Options()
        assert all(getattr(defaults, option) != value for option, value in options.items())


@pytest.mark.parametrize(("name", "level"), LEARNED)
def test_a_batch_of_one_node_is_learned_from(name: str, level: str) -> None:
    model = build(name, level).train()
    outputs = model(torch.ones(1, FEATURES), torch.empty(2, 0, dtype=torch.long), torch.zeros(1, dtype=torch.long))
    outputs.sum().backward()
    assert outputs.shape == (1, 3)
    for parameter in model.parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all()


@pytest.mark.parametrize(("name", "level"), LEARNED)
@pytest.mark.parametrize("head", ["euclidean", "hyperbolic", "linear"])
def test_shapes_and_gradients_with_every_head(name: str, level: str, head: str) -> None:
    model, y = build(name, level, head=head).train(), sample().targets(level)
    outputs = model(**sample().inputs())
    assert outputs.shape == (len(y), 3)
    nn.functional.cross_entropy(outputs, y).backward()
    missing = [key for key, value in model.named_parameters() if value.grad is None or not value.grad.isfinite().all()]
    assert not missing


@pytest.mark.parametrize(("name", "level"), BOTH)
def test_edges_to_nowhere_are_refused(name: str, level: str) -> None:
    model, given = fitted(build(name, level), level), sample().inputs()
    given["edge_index"][1, 3] = 10_000
    with pytest.raises(InputError, match="edge"):
        model(**given)


@pytest.mark.parametrize("name", [name for name, level in BOTH if level == "graph"])
def test_graphs_of_a_batch_do_not_see_each_other(name: str) -> None:
    model, both = fitted(build(name, "graph"), "graph"), sample(count=2)
    alone = type(both)(both.graphs.select([0])).inputs()
    torch.testing.assert_close(model(**both.inputs())[:1], model(**alone), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SEES_EDGES)
def test_edge_features_matter(name: str) -> None:
    model, given = build(name, "graph", edges=True).eval(), sample().inputs(edges=True)
    outputs = [model(**given | {"edge_attr": torch.full_like(given["edge_attr"], k)}) for k in (0, 1)]
    assert not torch.allclose(*outputs)


def test_an_option_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="WLHN has no option 'hiden_channels'; did you mean hidden_channels"):
        model_class("wlhn")(1, 2, hiden_channels=3)
    with pytest.raises(InputError, match="GIN has no option 'foo'; it has level, edge_channels, "):
        model_class("gin")(1, 2, foo=3)


@pytest.mark.parametrize("name", NAMES)
def test_edge_features_are_refused_where_the_model_has_no_place_for_them(name: str) -> None:
    level = model_class(name).target_levels[0]
    model, given = fitted(build(name, level), level), sample().inputs()
    with pytest.raises(InputError, match=r"edge_attr: this .* was made without features of edges"):
        model(**given | {"edge_attr": torch.ones(given["edge_index"].shape[1], 1)})


@pytest.mark.parametrize(("name", "level"), BOTH)
def test_a_mini_batch_gives_what_forward_gives(name: str, level: str) -> None:
    data = tiny(6)
    vocabulary, index = Vocabulary.fit(data), np.array([4, 1, 2])

    def inputs(graphs: Graphs) -> tuple[torch.Tensor, ...]:
        arrays = vocabulary.encode(graphs).x, graphs.edge_index.astype(np.int64), graphs.graph_of_node
        return tuple(map(torch.from_numpy, arrays))

    size = {"rounds": 2} if name in MACHINES else {"hidden_channels": 8, "num_layers": 2}
    settings = Settings.of(name, **size)
    model = build_model(name, settings.options, 3, 2, level).eval()
    if isinstance(model, FittedInOneGo):
        items = len(data.graphs) if level == "graph" else data.graphs.num_nodes
        model.fit(*inputs(data.graphs), None, y=torch.arange(items) % 2, task="classification")
    wanted = model(*inputs(data.graphs.select(index)))
    collator = collator_of(settings, vocabulary.encode(data.graphs), level)
    torch.testing.assert_close(run_model(model, collator.batch(index)), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_help_names_every_option(name: str) -> None:
    model = model_class(name)
    parameters = inspect.signature(model).parameters
    for option, each in named_fields(model.Options).items():
        assert parameters[option].default == each.default
        assert f"    {option}: {each.metadata['about']}" in (model.__doc__ or "")


def test_unknown_models_and_options_are_refused() -> None:
    with pytest.raises(InputError, match=r"model 'gnn' is not known; known are wlhn"):
        Settings.of("gnn")
    with pytest.raises(InputError, match="gin has no option 'readout'"):
        Settings.of("gin", readout="all")
    with pytest.raises(InputError, match="wlhn has no option 'taus'; did you mean tau"):
        Settings.of("wlhn", taus=1.0)
    for bad in ({"num_layers": -1}, {"tau": float("nan")}, {"head": "flat"}, {"epochs": 2.5}, {"tau": "long"}):
        with pytest.raises(InputError, match=f"{next(iter(bad))}: must be"):
            Settings.of("wlhn", **bad)
