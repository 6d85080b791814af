"""Explanations: they add up, find what was planted, and name the nodes that matter."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from planted import MOTIF, planted_motifs
from typer.testing import CliRunner

from wlhn.batching.collator import Collator, run_model
from wlhn.cli.app import app
from wlhn.data import load
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.inspection.explain import explain
from wlhn.inspection.explorer import explorer_document
from wlhn.runs.run_folder import load_run
from wlhn.runs.train import train
from wlhn.runs.trained import Trained
from wlhn.training.settings import Settings


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A model that tells trees with the motif from trees without."""
    settings = Settings.of(num_layers=2, hidden_channels=32, epochs=25, patience=25, learning_rate=0.01)
    return train(planted_motifs(200, seed=0), settings, tmp_path_factory.mktemp("planted") / "run").trained


def lead(trained: Trained, graphs: Graphs, wanted: int) -> np.ndarray:
    """The logit of a class minus that of the other, for each graph, node by node as PyG would compute it."""
    batch = Collator(trained.vocabulary.encode(graphs), on_colours=False).batch(np.arange(len(graphs)))
    with torch.no_grad():
        logits = run_model(trained.model.eval(), batch).double().numpy()
    return logits[:, wanted] - logits[:, 1 - wanted]


def without(graphs: Graphs, nodes: np.ndarray) -> Graphs:
    """A single graph less some nodes."""
    keep = np.setdiff1d(np.arange(graphs.num_nodes), nodes)
    number = np.full(graphs.num_nodes, -1)
    number[keep] = np.arange(len(keep))
    edges = number[graphs.edge_index]
    label = None if graphs.node_label is None else graphs.node_label[keep]
    return Graphs.from_edges(edges[:, (edges >= 0).all(axis=0)], num_nodes=len(keep), node_label=label)


def test_the_planted_motif_ranks_first_and_parts_add_up(finder: Trained) -> None:
    new = planted_motifs(120, seed=1)
    wanted = new.classes.index("motif")
    first, precision = [], []
    said = lead(finder, new.graphs, wanted)
    for g in np.flatnonzero(new.y == wanted):
        explanation = explain(finder, new.graphs, int(g))
        margin = explanation.margin(wanted)
        assert margin.base + margin.node.sum() == pytest.approx(margin.value, abs=1e-6)
        assert margin.base + margin.colour.sum() == pytest.approx(said[g], abs=1e-4)
        motif = np.arange(len(margin.node) - MOTIF, len(margin.node))
        first.append(np.argmax(margin.node) in motif)
        precision.append(np.isin(np.argsort(-margin.node)[:MOTIF], motif).mean())
    assert np.mean(first) >= 0.95
    assert np.mean(precision) >= 0.95


def test_removing_top_ranked_nodes_lowers_the_answer_more_than_removing_random_ones(finder: Trained) -> None:
    """Against the mean of ten draws for each graph: a quarter of all nodes are the motif's, and one draw may hit it."""
    new = planted_motifs(60, seed=2)
    wanted = new.classes.index("motif")
    rng = np.random.default_rng(0)
    by_rank, at_random = [], []
    for g in np.flatnonzero(new.y == wanted):
        one = new.graphs.select([g])
        ranked = np.argsort(-explain(finder, one, 0).margin(wanted).node)
        before = lead(finder, one, wanted)[0]

        def falls(nodes: np.ndarray, one: Graphs = one, before: float = before) -> float:
            return before - float(lead(finder, without(one, nodes), wanted)[0])

        by_rank.append([falls(ranked[:k]) for k in (1, 2, 3)])
        drawn = [[falls(rng.choice(one.num_nodes, k, replace=False)) for k in (1, 2, 3)] for _ in range(10)]
        at_random.append(np.mean(drawn, axis=0))
    assert (np.mean(np.array(by_rank) > np.array(at_random), axis=0) >= 0.95).all()
    assert (np.mean(by_rank, axis=0) > 2 * np.mean(at_random, axis=0)).all()


def test_on_molecules_parts_add_up_to_1e_4_and_nodes_share_their_colours_part(mutag_run: Path) -> None:
    trained, mutag = load_run(mutag_run), load("MUTAG")
    said = lead(trained, mutag.graphs, 1)
    for g in range(0, 188, 9):
        explanation = explain(trained, mutag.graphs, g)
        margin = explanation.margin(1)
        assert margin.base + margin.colour.sum() == pytest.approx(said[g], abs=1e-4)
        assert np.bincount(explanation.node_colour).tolist() == explanation.count.tolist()
        np.testing.assert_allclose(np.bincount(explanation.node_colour, margin.node), margin.colour, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"readout": "steps"},
        {"readout": "all", "directions": "whitened"},
        {"edge_features": True},
        {"head": "hyperbolic"},
    ],
    ids=str,
)
def test_every_kind_of_wlhn_can_be_explained(options: dict[str, Any], tmp_path: Path) -> None:
    some = load("MUTAG").select(np.arange(40))
    settings = Settings.of(hidden_channels=8, num_layers=2, epochs=1, **options)
    trained = train(some, settings, tmp_path / "run").trained
    for g in range(0, 40, 13):
        one = Collator(trained.vocabulary.encode(some.graphs.select([g])), True, 2).batch(np.array([0]))
        with torch.no_grad():
            logits = run_model(trained.model.eval(), one)[0].tolist()
        margin = explain(trained, some.graphs, g).margin(1)
        assert margin.base + margin.node.sum() == pytest.approx(margin.value, abs=1e-6)
        assert margin.value == pytest.approx(logits[1] - logits[0], abs=1e-4)


def test_the_command_tables_draws_and_prints_json(mutag_run: Path, tmp_path: Path) -> None:
    invoke = CliRunner().invoke
    picture = tmp_path / "graph.svg"
    result = invoke(app, ["explain", str(mutag_run), "MUTAG", "--graph", "7", "--out", str(picture), "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["base"] + sum(c["adds"] for c in document["substructures"]) == pytest.approx(document["value"])
    assert document["base"] + sum(n["adds"] for n in document["nodes"]) == pytest.approx(document["value"])
    assert "<svg" in picture.read_text()
    text = invoke(app, ["explain", str(mutag_run), "MUTAG", "--graph", "7", "--class", "-1", "--top", "3"])
    assert "Lead of -1 over 1" in text.stdout
    for wrong in (["--graph", "188"], ["--graph", "7", "--class", "x"]):
        assert isinstance(invoke(app, ["explain", str(mutag_run), "MUTAG", *wrong]).exception, InputError)


def test_bonds_that_a_model_sees_are_named(tmp_path: Path) -> None:
    """In the table and in the explorer: nitro groups have a double and a single bond."""
    mutag = load("MUTAG")
    settings = Settings.of(num_layers=1, hidden_channels=8, epochs=1, edge_features=True)
    trained = train(mutag, settings, tmp_path / "run").trained
    shown = CliRunner().invoke(app, ["explain", str(tmp_path / "run"), "MUTAG", "--graph", "0", "--json"])
    named = {row["substructure"]: row["nodes"] for row in json.loads(shown.output)["substructures"]}
    assert named["O (N by double)"] == ["15"]
    assert named["N (C by single, O by double, O by single)"] == ["14"]
    assert "N (C by single, O by double, O by single)" in explorer_document(mutag, trained)["colours"]["name"]
