"""A machine's answer divided among colours: parts add up to the decision value, whichever machine."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from wlhn.batching.collator import Collator, run_model
from wlhn.cli.app import app
from wlhn.data import load
from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy import refine
from wlhn.inspection.explain import explain
from wlhn.runs.train import train
from wlhn.runs.trained import Trained
from wlhn.training.settings import Settings

MUTAG = load("MUTAG")
SOME = MUTAG.graphs.select(range(80))
SIZES = np.diff(SOME.node_ptr)
MACHINES: list[tuple[str, dict[str, Any]]] = [
    ("wl-svm", {}),
    ("wl-oa", {"edge_features": True}),
    ("wl-oa", {"rounds": 0}),
    ("wl-linear", {}),
    ("wl-linear", {"code": "thermometer", "edge_features": True}),
    ("wl-linear", {"code": "log", "coarse": True}),
    ("wl-linear", {"coarse": True, "edge_features": True}),
]


def machine(name: str, options: dict[str, Any], dataset: Dataset, folder: Path) -> Trained:
    return train(dataset, Settings.of(name, **{"rounds": 2} | options), folder / "run").trained


def outputs(trained: Trained, graphs: Graphs) -> np.ndarray:
    encoded = trained.vocabulary.encode(graphs)
    batch = Collator(encoded, on_colours=False).batch(np.arange(len(graphs)))
    with torch.no_grad():
        said = run_model(trained.model.eval(), batch).double() * trained.scale + trained.shift
    return said.numpy()


@pytest.mark.parametrize(("name", "options"), MACHINES, ids=str)
def test_parts_add_up_to_the_decision_value(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    dataset = MUTAG.select(np.arange(80))
    trained = machine(name, options, dataset, tmp_path)
    said = outputs(trained, dataset.graphs)
    for g in range(0, 80, 7):
        explanation = explain(trained, dataset.graphs, g)
        margin = explanation.margin(1)
        assert margin.base + margin.colour.sum() == pytest.approx(said[g, 1] - said[g, 0], abs=1e-5)
        np.testing.assert_allclose(np.bincount(explanation.node_colour, margin.node), margin.colour, atol=1e-12)
        assert np.abs(margin.colour).max() > 0


@pytest.mark.parametrize("name", ["wl-oa", "wl-linear"])
def test_of_three_classes_it_is_the_pair_that_is_divided(name: str, tmp_path: Path) -> None:
    dataset = Dataset("thirds", SOME, SIZES % 3, "graph", "classification", classes=("a", "b", "c"))
    trained = machine(name, {}, dataset, tmp_path)
    said = outputs(trained, SOME)
    for g in range(0, 80, 11):
        explanation = explain(trained, SOME, g)
        np.testing.assert_allclose(explanation.output, said[g], atol=1e-5)
        first, *others = np.argsort(-said[g])
        for wanted in (first, *others):
            margin = explanation.margin(int(wanted))
            if name == "wl-linear":
                assert margin.value == pytest.approx(said[g, wanted] - said[g, margin.rival], abs=1e-5)
            assert margin.base + margin.node.sum() == pytest.approx(margin.value, abs=1e-9)
        if np.round(said[g, first]) == 2:  # it has won against both others
            assert explanation.margin(int(first)).value > 0


@pytest.mark.parametrize("name", ["wl-svm", "wl-linear"])
def test_numbers_are_divided_in_their_own_units(name: str, tmp_path: Path) -> None:
    dataset = Dataset("sizes", SOME, SIZES[:, None].astype(float), "graph", "regression", targets=("size",))
    trained = machine(name, {}, dataset, tmp_path)
    said = outputs(trained, SOME)
    for g in (0, 40):
        margin = explain(trained, SOME, g).margin(0, alone=True)
        assert margin.base + margin.colour.sum() == pytest.approx(said[g, 0], abs=1e-3)


def test_what_copies_add_is_given_to_their_nodes(tmp_path: Path) -> None:
    """Numbers that no two nodes share leave nothing but structure, so nodes alike in structure add the same."""
    x = np.random.default_rng(0).normal(size=(SOME.num_nodes, 1))
    numbered = replace(MUTAG.select(np.arange(80)), graphs=replace(SOME, x=x), inputs=("x",))
    trained = machine("wl-linear", {"coarse": True}, numbered, tmp_path)
    structure = refine(SOME, 2)
    for g in range(0, 80, 9):
        margin = explain(trained, numbered.graphs, g).margin(1)
        alike = structure.colours[-1][slice(*SOME.node_ptr[g : g + 2])]
        mean = np.bincount(alike, margin.node) / np.maximum(np.bincount(alike), 1)
        np.testing.assert_allclose(margin.node, mean[alike], atol=1e-12)
        assert np.ptp(margin.node) > 1e-3


def test_the_commands_explain_a_machine_and_compare_by_kernel(tmp_path: Path) -> None:
    machine("wl-oa", {}, MUTAG, tmp_path)
    run, invoke = str(tmp_path / "run"), CliRunner().invoke
    told = invoke(app, ["explain", run, "MUTAG", "--graph", "7", "--json"])
    assert told.exit_code == 0, told.output
    document = json.loads(told.stdout)
    assert document["base"] + sum(c["adds"] for c in document["substructures"]) == pytest.approx(document["value"])
    assert "decision value" in document["explained"]
    kernel = load("MUTAG").graphs
    for place in ([run, "MUTAG"], ["MUTAG"]):
        told = invoke(app, ["similar", *place, "--graph", "3", "--by", "kernel", "--top", "4", "--json"])
        assert told.exit_code == 0, told.output
        nearest = json.loads(told.stdout)["nearest"]
        assert len(nearest) == 4
        similar = [row["similarity"] for row in nearest]
        assert similar == sorted(similar, reverse=True)
    from wlhn import OptimalAssignmentKernel

    expected = OptimalAssignmentKernel(depth=3, start="label").fit_transform(kernel)[3]
    assert similar == pytest.approx(np.sort(np.delete(expected, 3))[::-1][:4].tolist())
    for wrong in (["MUTAG", "--graph", "3"], ["MUTAG", "--node", "3/0", "--by", "kernel"], ["MUTAG", "--by", "x"]):
        assert isinstance(invoke(app, ["similar", *wrong]).exception, InputError)


def test_what_is_no_sum_over_colours_is_refused(tmp_path: Path) -> None:
    trained = train(MUTAG, Settings.of("wl-wasserstein", rounds=1), tmp_path / "run").trained
    with pytest.raises(InputError, match="sum over nodes or colours"):
        explain(trained, MUTAG.graphs, 0)
    assert torch.isfinite(torch.from_numpy(next(trained.predict(MUTAG.graphs)).outputs)).all()


TWO_VOICES = {"hidden_channels": 8, "num_layers": 2, "epochs": 3, "tree_weight": 0.3}


@pytest.mark.parametrize("options", [{}, {"tree_machine": "wl-linear"}, {"edge_features": True}], ids=str)
def test_two_voices_divide_among_the_same_nodes(options: dict[str, Any], tmp_path: Path) -> None:
    dataset = MUTAG.select(np.arange(80))
    trained = train(dataset, Settings.of("two-voices", **TWO_VOICES, **options), tmp_path / "run").trained
    said = outputs(trained, dataset.graphs)
    for g in range(0, 80, 9):
        explanation = explain(trained, dataset.graphs, g)
        np.testing.assert_allclose(explanation.output, said[g], atol=1e-5)
        np.testing.assert_allclose(explanation.base + explanation.node.sum(axis=0), said[g], atol=1e-5)
        margin = explanation.margin(1)
        assert margin.base + margin.colour.sum() == pytest.approx(said[g, 1] - said[g, 0], abs=1e-5)


def test_a_voice_that_has_no_share_has_no_part(tmp_path: Path) -> None:
    """With w = 0 the explanation is the network's own, calibrated."""
    dataset, size = (
        MUTAG.select(np.arange(80)),
        {name: TWO_VOICES[name] for name in ("hidden_channels", "num_layers", "epochs")},
    )
    both = train(dataset, Settings.of("two-voices", **size, tree_weight=0.0), tmp_path / "both").trained
    alone = train(dataset, Settings.of("wlhn", **size), tmp_path / "alone").trained
    of_both, of_alone = (explain(trained, dataset.graphs, 5) for trained in (both, alone))
    np.testing.assert_allclose(of_both.node, both.model.network_scale * of_alone.node, atol=1e-6)


@pytest.mark.parametrize(("tree_machine", "coarse"), [("wl-oa", False), ("wl-linear", False), ("wl-linear", True)])
def test_two_voices_whose_machine_sees_clusters_and_three_classes(
    tree_machine: str, coarse: bool, tmp_path: Path
) -> None:
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, MUTAG.graphs.num_nodes)
    x = (np.minimum(MUTAG.graphs.degree, 3) + noise)[:, None].astype(np.float32)
    y = np.digitize(np.diff(MUTAG.graphs.node_ptr), (16, 20))
    measured = replace(MUTAG, graphs=replace(MUTAG.graphs, x=x), y=y, classes=["small", "middling", "large"])
    given = TWO_VOICES | {"inputs": "both", "tree_clusters": 3, "tree_machine": tree_machine, "tree_coarse": coarse}
    trained = train(measured, Settings.of("two-voices", **given), tmp_path / "run").trained
    explanation, said = explain(trained, measured.graphs, 2), outputs(trained, measured.graphs)[2]
    np.testing.assert_allclose(explanation.base + explanation.node.sum(axis=0), said, atol=1e-4)
