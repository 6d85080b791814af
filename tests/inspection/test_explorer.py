"""What the explorer shows is what the hierarchy and the model say."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

import wlhn
from wlhn.cli.app import app
from wlhn.data import load
from wlhn.embeddings import quality
from wlhn.embeddings.planar import planar
from wlhn.errors import InputError
from wlhn.inspection.explorer import explorer_document, keep_frequent
from wlhn.runs.run_folder import load_run


def test_colours_of_a_trained_model_are_those_of_its_hierarchy(mutag_run: Path) -> None:
    trained, mutag = load_run(mutag_run), load("MUTAG")
    document = explorer_document(mutag, trained)
    colours, items = document["colours"], document["items"]
    hierarchy = wlhn.refine(mutag.graphs, 3, "label")
    depth, count = np.array(colours["depth"]), np.array(colours["count"])
    assert [int((depth == t).sum()) for t in range(4)] == [7, 33, 174, 572]
    for t in range(4):
        assert sorted(count[depth == t]) == sorted(hierarchy.count(t))
    assert (np.hypot(colours["x"], colours["y"]) < 1).all()
    assert np.array(colours["class"]).sum(axis=1).tolist() == colours["count"]
    answers = np.concatenate([part.outputs for part in trained.predict(mutag.graphs)]).argmax(axis=1)
    assert items["answer"] == answers.tolist()
    assert items["true"] == mutag.y.tolist()
    wrong = np.repeat(answers != mutag.y, np.diff(mutag.graphs.node_ptr)).mean()
    assert colours["wrong"][0] == pytest.approx(wrong, abs=1e-4)
    for k in (0, 5, 300, 700):
        graph_of = mutag.graphs.graph_of_node[colours["example"][k]]
        assert colours["graphs"][k][0] == graph_of


def test_large_trees_keep_the_most_frequent_colours_with_their_parents() -> None:
    hierarchy = wlhn.refine(load("MUTAG").graphs, 4, "label")
    full = len(hierarchy.tree)
    for limit in (1, 10, 500, 10_000):
        kept = keep_frequent(hierarchy, limit)
        assert len(kept.node) == min(limit, full)
        assert kept.hidden[0] + len(kept.node) == full
        assert (kept.tree.depth == hierarchy.tree.depth[kept.node]).all()
        assert (kept.node[kept.tree.parent[1:]] == hierarchy.tree.parent[kept.node[1:]]).all()


@pytest.mark.parametrize("data", ["karate", "atlas"])
def test_data_without_a_model_have_a_page_too(data: str) -> None:
    dataset = load(data)
    document = explorer_document(dataset)
    assert document["colours"]["answer"] is None
    counts = np.array(document["colours"]["class"])
    assert (
        counts[0].tolist()
        == np.bincount(
            dataset.y if dataset.level == "node" else np.repeat(dataset.y, np.diff(dataset.graphs.node_ptr))
        ).tolist()
    )


def test_the_command_refuses_what_it_cannot_show(tmp_path: Path) -> None:
    for wrong in (["nowhere"], ["karate", "--data", "MUTAG"], ["karate", "--out", str(tmp_path / "page.txt")]):
        out = [] if "--out" in wrong else ["--out", str(tmp_path / "page.html")]
        assert isinstance(CliRunner().invoke(app, ["explore", *wrong, *out]).exception, InputError)
    assert not list(tmp_path.iterdir())


def test_numbers_are_columns_and_a_page_may_be_as_small_as_one_likes() -> None:
    density = load("BA-density-5")
    document = explorer_document(density, iterations=2, limit=3)
    colours = document["colours"]
    assert len(colours["x"]) == 3
    assert colours["class"] is None
    assert colours["columns"]["target density"][0] == pytest.approx(float(density.y.mean()), abs=1e-3)


def test_the_planar_tree_has_edges_of_one_length_and_gives_large_families_room() -> None:
    tree = wlhn.Tree.from_networkx(nx.full_rary_tree(4, 200))
    disc = planar(tree)
    child = np.arange(1, 200)
    np.testing.assert_allclose(disc.distance(child, tree.parent[1:]).numpy(), disc.tau, rtol=1e-9)
    assert quality(disc).correlation > 0.85
    assert len(np.unique(disc.points.numpy().round(9), axis=0)) == 200
