"""What the explorer shows is what the hierarchy and the model say."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chi2_contingency
from typer.testing import CliRunner

import wlhn
from wlhn.cli.app import app
from wlhn.data import Dataset, load
from wlhn.embeddings.planar import EQUAL, LONGEST, SHORTEST, planar
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.inspection.explorer import explorer_document, keep_frequent
from wlhn.runs.run_folder import load_run
from wlhn.runs.train import train
from wlhn.training.settings import Settings


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


def test_without_labels_colours_are_called_by_their_degrees(tmp_path: Path) -> None:
    karate, few = load("karate"), Settings.of("wlhn", epochs=1, hidden_channels=4, num_layers=1)
    trained = train(karate, few, tmp_path / "run").trained
    document = explorer_document(karate, trained)
    names, degrees = document["colours"]["name"], document["colours"]["columns"]["degree"]
    assert all(name.split(" (")[0] == f"degree {d:g}" for name, d in zip(names[1:], degrees[1:], strict=True))


def test_the_command_refuses_what_it_cannot_show(tmp_path: Path) -> None:
    for wrong in (["nowhere"], ["karate", "--data", "MUTAG"], ["karate", "--out", str(tmp_path / "page.txt")]):
        out = [] if "--out" in wrong else ["--out", str(tmp_path / "page.html")]
        assert isinstance(CliRunner().invoke(app, ["explore", *wrong, *out]).exception, InputError)
    assert not list(tmp_path.iterdir())


def test_numbers_are_columns_and_a_page_may_be_as_small_as_one_likes() -> None:
    density = load("BA-density-5")
    document = explorer_document(density, rounds=2, limit=3)
    colours = document["colours"]
    assert len(colours["x"]) == 3
    assert colours["class"] is None
    assert colours["columns"]["target density"][0] == pytest.approx(float(density.y.mean()), abs=1e-3)


def test_the_page_begins_with_the_substructure_whose_classes_differ_most() -> None:
    document = explorer_document(load("MUTAG"))
    colours, k = document["colours"], document["start"]
    assert colours["depth"][k] >= 1
    each, total = np.array(colours["class"]), np.array(colours["class"][0])
    pairs = [(row, total - row) for row in each if 0 < row.sum() < total.sum()]  # independently: scipy's χ² of 2 × 2
    tests = [chi2_contingency(np.stack(pair), correction=False).statistic for pair in pairs]
    strong = np.sort(tests)[-20:]
    assert chi2_contingency(np.stack([each[k], total - each[k]]), correction=False).statistic >= strong[0]


def test_continuous_features_are_grouped_so_that_a_tree_grows() -> None:
    rng = np.random.default_rng(0)
    ring = np.stack([np.arange(200), np.roll(np.arange(200), 1)])
    edges = np.concatenate([ring, ring[::-1]], axis=1)

    def document(x: np.ndarray, **more: object) -> dict[str, object]:
        graphs = Graphs.from_edges(edges, 200, x=x, **more)
        dataset = Dataset("ring", graphs, np.arange(200) % 2, "node", "classification", ("a", "b"), inputs=("x",))
        return explorer_document(dataset, rounds=1)

    for columns, start in ((1, 4), (2, 16), (9, 16)):
        page = document(rng.normal(size=(200, columns)))
        depth, count = np.array(page["colours"]["depth"]), np.array(page["colours"]["count"])
        assert (depth == 0).sum() == start
        assert count[depth == 0].max() < 200 / start * 2.5
        assert "bins" in str(page["grown_from"])
        assert page["notes"][0] == page["grown_from"]
        assert all(page["colours"]["name"])
    by_label = document(rng.normal(size=(200, 3)), node_label=np.arange(200) % 3)
    assert (np.array(by_label["colours"]["depth"]) == 0).sum() == 3
    assert "labels alone" in str(by_label["grown_from"])
    assert document(rng.integers(0, 3, (200, 1)).astype(float))["grown_from"] is None


def test_branches_of_the_planar_tree_have_slices_of_their_own_by_what_lies_below() -> None:
    for tree in (
        wlhn.Tree.from_networkx(nx.full_rary_tree(4, 200)),
        wlhn.refine(load("MUTAG").graphs, 3, "label").tree,
    ):
        disc = planar(tree)
        begin, end = disc.angle - disc.width / 2, disc.angle + disc.width / 2
        for node in np.flatnonzero(tree.num_children):
            child = np.flatnonzero(tree.parent == node)
            child = child[np.argsort(begin[child])]
            np.testing.assert_allclose(begin[child], [begin[node], *end[child[:-1]]], atol=1e-9)
            np.testing.assert_allclose(end[child[-1]], end[node], atol=1e-9)
            assert (disc.width[child] >= EQUAL * disc.width[node] / len(child)).all()
        edge = disc.distance(np.arange(1, len(tree)), tree.parent[1:]).numpy()
        step = disc.r[1:] - disc.r[tree.parent[1:]]
        assert (step >= SHORTEST - 1e-9).all()
        assert (step <= LONGEST + 1e-9).all()
        assert (edge >= step - 1e-9).all()
        assert len(np.unique(disc.points.numpy().round(9), axis=0)) == len(tree)
        a, b = np.random.default_rng(0).integers(0, len(tree), (2, 500))
        there = wlhn.poincare_distance(disc.points[a], disc.points[b])
        np.testing.assert_allclose(disc.distance(a, b).numpy(), there.numpy().ravel(), atol=1e-5)


def test_the_crowded_branch_of_mutag_has_half_of_the_circle_and_the_small_ones_can_be_seen() -> None:
    tree = wlhn.refine(load("MUTAG").graphs, 3, "label").tree
    share = planar(tree).width[tree.levels[1]] / (2 * np.pi)
    assert 0.4 < share.max() < 0.7
    assert share.min() > 0.03


def test_deep_trees_stay_inside_the_circle() -> None:
    disc = planar(wlhn.Tree.from_networkx(nx.path_graph(300), 0))
    assert float(disc.points.norm(dim=1).max()) < 1 - 1e-9
    assert (np.diff(disc.r) > 0).all()
