"""Estimators: scikit-learn's own checks where they make sense for graphs, and scikit-learn's own tools around them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scikit_learn import CHECKS, check_parameters, check_unfitted
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from tiny import tiny
from torch_geometric.loader import DataLoader

from wlhn.data import Dataset, Split, as_dataset, random_splits, stratified_folds
from wlhn.errors import InputError
from wlhn.estimators import GraphClassifier, GraphEmbedder, GraphRegressor, NodeClassifier, NodeRegressor
from wlhn.graphs import to_networkx, to_pyg

SMALL = {"hidden_channels": 16, "num_layers": 2, "epochs": 45, "learning_rate": 0.01}
ESTIMATORS = (GraphClassifier, GraphRegressor, NodeClassifier, NodeRegressor, GraphEmbedder)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_scikit_learn(check: str, kind: Any) -> None:
    check_parameters(kind, check)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_what_is_not_fitted_says_so(kind: Any) -> None:
    check_unfitted(kind, "predict", "predict_proba", "transform")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return tiny(60)


def labels(data: Dataset) -> list[str]:
    return ["cycle" if k else "path" for k in data.y]


def test_networkx_pyg_and_our_data_sets_are_the_same_input(data: Dataset) -> None:
    y = labels(data)
    array, pyg = np.empty(len(data.graphs), object), to_pyg(data.graphs)
    array[:] = to_networkx(data.graphs)
    kinds = array.tolist(), array, pyg, DataLoader(pyg, batch_size=7), data, list(data)
    probabilities = [GraphClassifier(**SMALL).fit(graphs, y).predict_proba(graphs) for graphs in kinds]
    for other in probabilities[1:]:
        np.testing.assert_array_equal(other, probabilities[0])
    np.testing.assert_allclose(probabilities[0].sum(axis=1), 1, rtol=1e-5)
    assert GraphClassifier(**SMALL).fit(data).classes_.tolist() == list(data.classes)


def test_a_classifier_learns_and_works_in_scikit_learns_tools(data: Dataset) -> None:
    graphs, y = to_networkx(data.graphs), labels(data)
    for graph in graphs:  # structure alone tells paths from cycles
        nx.set_node_attributes(graph, 0, "label")
    classifier = GraphClassifier(**SMALL).fit(graphs, y)
    assert classifier.score(graphs, y) > 0.9
    assert set(classifier.predict(graphs)) == set(classifier.classes_) == {"cycle", "path"}
    assert cross_val_score(clone(classifier), graphs, y, cv=2).mean() > 0.8
    search = GridSearchCV(GraphClassifier(**SMALL), {"num_layers": np.array([1, 2])}, cv=2).fit(graphs, y)
    assert search.best_params_["num_layers"] in (1, 2)
    assert cross_val_score(GraphClassifier(**SMALL), data, data.y, cv=2).shape == (2,)
    pipeline = make_pipeline(GraphEmbedder(**SMALL), LogisticRegression())
    assert pipeline.fit(graphs, y).score(graphs, y) > 0.8


def test_regressors_and_nodes(data: Dataset) -> None:
    graphs = to_networkx(data.graphs)
    size = np.array([len(graph) for graph in graphs], dtype=float)
    regressor = GraphRegressor(**SMALL).fit(graphs, size)
    assert regressor.score(graphs, size) > 0.5
    assert regressor.predict(graphs[:3]).shape == (3,)
    assert GraphRegressor(**SMALL).fit(graphs, np.stack([size, -size], axis=1)).predict(graphs).shape == (60, 2)
    degree = [np.array([d for _, d in graph.degree]) for graph in graphs]
    classifier = NodeClassifier(**SMALL).fit(graphs, degree)
    assert classifier.score(graphs, degree) > 0.9
    assert classifier.predict(graphs).shape == (sum(map(len, graphs)),)
    numbers = NodeRegressor(**SMALL).fit(graphs, [d.astype(float) for d in degree])
    assert numbers.score(graphs, [d.astype(float) for d in degree]) > 0.5


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_saved_and_loaded_it_says_the_same(kind: Any, data: Dataset, tmp_path: Path) -> None:
    graphs = to_networkx(data.graphs)
    items = [np.arange(len(graph)) % 2 for graph in graphs] if kind in (NodeClassifier, NodeRegressor) else data.y
    y = None if kind is GraphEmbedder else items
    estimator = kind(**SMALL | {"epochs": 2}).fit(graphs, y)
    estimator.save(tmp_path / "kept")
    again = kind.load(tmp_path / "kept")
    assert again.get_params() == estimator.get_params()
    method = "transform" if kind is GraphEmbedder else "predict"
    np.testing.assert_array_equal(getattr(again, method)(graphs), getattr(estimator, method)(graphs))
    wrong = GraphRegressor if kind is not GraphRegressor else GraphClassifier
    with pytest.raises(InputError, match=f"holds {kind.__name__}, not a {wrong.__name__}"):
        wrong.load(tmp_path / "kept")


def test_bad_input_is_one_sentence(data: Dataset) -> None:
    for graphs, y, message in (
        ([], [], "graphs: there are none; give at least one"),
        ([nx.path_graph(3)] * 4, [0, 1], "expected 4 targets"),
        (["graph"] * 4, [0, 1, 0, 1], "expected a graph"),
    ):
        with pytest.raises(InputError, match=message):
            GraphClassifier(**SMALL).fit(graphs, y)
    club, y = nx.path_graph(34), ["a", "b"] * 17
    for nodes, message in (
        ([0, 99], "nodes: there is no node 99; they go from 0 to 33"),
        (np.ones(20, bool), "positions or a mask of 34 values, found bool of shape"),
        ([0.5], "positions or a mask of 34 values, found float64"),
        ([], "needs at least 2 items"),
    ):
        with pytest.raises(InputError, match=message):
            NodeClassifier(**SMALL).fit(club, y, nodes=nodes)
    fitted = GraphClassifier(**SMALL | {"epochs": 1}).fit(data)
    for ask in (fitted.predict, fitted.predict_proba, GraphEmbedder(**SMALL).fit(data).transform, GraphEmbedder().fit):
        with pytest.raises(InputError, match="graphs: there are none; give at least one"):
            ask([])
    with pytest.raises(InputError, match="validation_share"):
        GraphClassifier(validation_share=2).fit(data)
    with pytest.raises(InputError, match="has targets for graphs, but this estimator is for nodes"):
        NodeClassifier().fit(data)
    with pytest.raises(InputError, match="gin places nothing in hyperbolic space"):
        GraphEmbedder(model="gin").fit(data).transform(data)


def test_text_labels_mean_the_same_when_predicting(tmp_path: Path) -> None:
    """The class is a label; new graphs lack the label that sorts first, so codes of their own would be wrong."""
    graphs = []
    for k in range(20):
        graph = nx.path_graph(4)
        nx.set_node_attributes(graph, ["a", "b", "c"][k % 3], "label")
        graphs.append(graph)
    y = ["abc"[k % 3] for k in range(20)]
    classifier = GraphClassifier(hidden_channels=8, num_layers=1, epochs=60, learning_rate=0.02).fit(graphs, y)
    some = [graph for graph, label in zip(graphs, y, strict=True) if label != "a"]
    classifier.save(tmp_path / "run")
    for fitted in (classifier, GraphClassifier.load(tmp_path / "run")):
        assert fitted.predict(some).tolist() == [label for label in y if label != "a"]


def test_attributes_that_training_always_had_are_asked_for() -> None:
    def ring(size: int, **values: Any) -> nx.Graph:
        graph = nx.cycle_graph(size)
        nx.set_node_attributes(graph, dict.fromkeys(graph, values))
        nx.set_edge_attributes(graph, 1.0, "length")
        return graph

    kinds = [{"atom": a, "shape": s, "mass": 1.5} for a in "CN" for s in ("flat", "bent")]
    rings = [ring(4 + k % 3, **kinds[k % 4], **({"charge": k / 10, "ion": "+"} if k % 5 else {})) for k in range(20)]
    model = GraphClassifier(**SMALL | {"epochs": 1}).fit(rings, [0, 1] * 10)
    whole = {"atom": "C", "shape": "flat", "mass": 1.5}
    model.predict_proba([ring(5, **whole)])  # charge and ion were missing in training too
    model.predict_proba([ring(5, **whole), nx.cycle_graph(5)])  # some nodes have them
    for name in whole:
        less = {other: value for other, value in whole.items() if other != name}
        message = f"no node has the attribute '{name}', which the training data have; .* are .*{name.title()}"
        with pytest.raises(InputError, match=message):
            model.predict_proba([ring(5, **less, **{name.title(): whole[name]})])
    with pytest.raises(InputError, match=r"no node has the attribute 'atom'.* are none"):
        model.predict_proba([nx.cycle_graph(5)])

    bare = ring(5, **whole)
    for *_, data in bare.edges(data=True):
        data.clear()
    model.predict_proba([bare])  # lengths were not looked at
    looks = GraphClassifier(**SMALL | {"epochs": 1}, edge_features=True).fit(rings, [0, 1] * 10)
    with pytest.raises(InputError, match="no edge has the attribute 'length'"):
        looks.predict_proba([bare])


def test_items_without_a_target_are_answered_for_but_not_learned_from(data: Dataset) -> None:
    graphs, y = to_networkx(data.graphs), labels(data)
    gaps: list[str | None] = [None if k % 3 == 0 else label for k, label in enumerate(y)]
    classifier = GraphClassifier(**SMALL | {"epochs": 3}).fit(graphs, gaps)
    assert classifier.predict(graphs).shape == (60,)
    assert classifier.classes_.tolist() == ["cycle", "path"]
    rest = [k for k, label in enumerate(gaps) if label is not None]
    expected = classifier.score([graphs[k] for k in rest], [y[k] for k in rest])
    assert classifier.score(graphs, gaps) == pytest.approx(expected)
    whole = GraphClassifier(**SMALL | {"epochs": 1}).fit(graphs, np.where(np.arange(60) % 4, data.y, np.nan))
    assert whole.classes_.tolist() == [0, 1]
    size = [float(len(graph)) if k % 3 else None for k, graph in enumerate(graphs)]
    assert np.isfinite(GraphRegressor(**SMALL | {"epochs": 1}).fit(graphs, size).predict(graphs)).all()
    club = nx.karate_club_graph()
    clubs = [club.nodes[v]["club"] if v % 2 else None for v in club]
    bare = nx.Graph(club.edges)
    nodes = NodeClassifier(**SMALL | {"epochs": 2}).fit(bare, clubs)
    by_position = NodeClassifier(**SMALL | {"epochs": 2}).fit(
        bare, [club.nodes[v]["club"] for v in club], nodes=range(1, 34, 2)
    )
    np.testing.assert_array_equal(nodes.predict_proba(bare), by_position.predict_proba(bare))


def test_classes_are_no_numbers_and_numbers_no_classes(data: Dataset) -> None:
    with pytest.raises(InputError, match=r"a regressor needs numbers, and the targets of .* are classes"):
        GraphRegressor(epochs=1).fit(data)
    with pytest.raises(InputError, match=r"a classifier needs classes, and the targets of .* are regression"):
        GraphClassifier(epochs=1).fit(replace(data, task="regression", classes=()))


def test_scores_are_against_the_classes_that_were_learned(data: Dataset) -> None:
    named = as_dataset(data.graphs, [None, *(-1 if k else 1 for k in data.y[1:])])
    classifier = GraphClassifier(**SMALL | {"epochs": 5}).fit(named)
    right = classifier.predict(named)[1:] == [named.classes[k] for k in named.y[1:]]
    assert classifier.score(named) == pytest.approx(right.mean())
    with pytest.raises(InputError, match=r"y: 0 is none of the classes -1 and 1 that were learned; .* leave y out"):
        classifier.score(named.select(range(1, 60)), named.y[1:])
    with pytest.raises(InputError, match="y: give one target for each graph"):
        classifier.score(data.graphs)
    sizes = as_dataset(data.graphs, np.diff(data.graphs.node_ptr) + 0.5)
    regressor = GraphRegressor(**SMALL | {"epochs": 5}).fit(sizes)
    assert regressor.score(sizes) == pytest.approx(regressor.score(sizes, sizes.y))


def test_one_class_no_class_and_strange_targets_are_one_sentence(data: Dataset) -> None:
    for y, message in (
        (["same"] * 60, "all items have the class 'same'; there must be two or more"),
        ([None] * 60, "needs at least 2 items with a target"),
        (np.full((60, 3), 7), "3 columns must hold 0 and 1"),
        ([["a"], ["a", "b"]] * 30, "lists of different length; scikit-learn's MultiLabelBinarizer"),
        (np.linspace(0, 1, 60), "0.0169492 is a number, not a class"),
    ):
        with pytest.raises(InputError, match=message):
            GraphClassifier(**SMALL).fit(data, y)
    with pytest.raises(InputError, match="y: must be numbers, found 'a'"):
        GraphRegressor(**SMALL).fit(data, ["a"] * 60)
    with pytest.raises(InputError, match="y: give one target for each graph"):
        GraphClassifier(**SMALL).fit(to_networkx(data.graphs))


def test_several_labels_an_item_are_as_many_0_1_tasks(data: Dataset, tmp_path: Path) -> None:
    y = np.stack([data.y, 1 - data.y, np.where(np.arange(60) % 5, data.y, np.nan)], axis=1)
    classifier = GraphClassifier(**SMALL).fit(data, y)
    p = classifier.predict_proba(data)
    assert p.shape == (60, 3)
    np.testing.assert_array_equal(classifier.predict(data), p > 0.5)
    assert classifier.score(data, np.stack([data.y, 1 - data.y, data.y], axis=1)) > 0.8
    right = np.isnan(y) | (y == classifier.predict(data))
    assert classifier.score(data, y) == pytest.approx(right.all(axis=1).mean())
    wrong = np.where(np.isnan(y), np.nan, 1 - classifier.predict(data))
    assert classifier.score(data, wrong) == 0
    half = np.where(np.arange(60)[:, None] % 2, wrong, np.nan)
    half[0] = classifier.predict(data)[0]  # items without any label do not count
    assert classifier.score(data, half) == pytest.approx(1 / 31)
    classifier.save(tmp_path / "kept")
    again = GraphClassifier.load(tmp_path / "kept")
    np.testing.assert_array_equal(again.predict_proba(data), p)
    assert again.classes_.tolist() == classifier.classes_.tolist() == [0, 1, 2]


def test_pyg_graphs_bring_their_targets_and_masks(data: Dataset) -> None:
    import torch
    from torch_geometric.data import Data

    graphs = to_pyg(data.graphs)
    given = GraphClassifier(**SMALL | {"epochs": 2}).fit(graphs, data.y)
    for graph, y in zip(graphs, data.y, strict=True):
        graph.y = torch.tensor([y])
    inside = GraphClassifier(**SMALL | {"epochs": 2}).fit(graphs)
    np.testing.assert_array_equal(inside.predict_proba(graphs), given.predict_proba(graphs))

    ring = torch.arange(30)
    edges = torch.cat([torch.stack([ring, ring.roll(1)]), torch.stack([ring.roll(1), ring])], dim=1)
    node = Data(x=torch.rand(30, 4), edge_index=edges, y=ring % 3, num_nodes=30)
    node.train_mask, node.val_mask, node.test_mask = ring < 12, (ring >= 12) & (ring < 20), ring >= 20
    fitted = NodeClassifier(**SMALL | {"epochs": 2}).fit(node)
    node.y = torch.where(node.test_mask, (node.y + 1) % 3, node.y)  # what is not learned from changes nothing
    again = NodeClassifier(**SMALL | {"epochs": 2}).fit(node)
    np.testing.assert_array_equal(again.predict_proba(node), fitted.predict_proba(node))
    node.train_mask = torch.stack([node.train_mask, ring < 6], dim=1)
    with pytest.raises(InputError, match="comes with 2 splits; keep one, as"):
        NodeClassifier(**SMALL).fit(node)


def test_the_split_of_a_data_set_is_kept_as_masks_are(data: Dataset) -> None:
    quick = SMALL | {"epochs": 2}
    held, rest = np.arange(0, 60, 3), np.setdiff1d(np.arange(60), np.arange(0, 60, 3))
    split = Split(train=rest[:30], valid=rest[30:], test=held)
    wrong = data.y.copy()
    wrong[held] = 1 - wrong[held]  # what is not learned from changes nothing
    fitted, again = (GraphClassifier(**quick).fit(replace(data, y=y, splits=(split,))) for y in (data.y, wrong))
    np.testing.assert_array_equal(again.predict_proba(data), fitted.predict_proba(data))

    folds = replace(data, splits=tuple(stratified_folds(data.y)))  # everything is learned from in some of them
    fitted, again = (GraphClassifier(**quick).fit(given) for given in (folds, data))
    np.testing.assert_array_equal(again.predict_proba(data), fitted.predict_proba(data))

    several = replace(data, splits=tuple(random_splits(60, repeats=3)))
    with pytest.raises(InputError, match="tiny: comes with 3 splits; keep one"):
        GraphClassifier(**quick).fit(several)
    GraphClassifier(**quick).fit(several, data.y)  # as with masks, y of one's own comes without a split


def test_vectors_have_names_and_come_as_tables(data: Dataset, tmp_path: Path) -> None:
    embedder = GraphEmbedder(**SMALL | {"epochs": 1}).fit(data)
    names = embedder.get_feature_names_out()
    plain = embedder.transform(data)
    assert len(names) == plain.shape[1] == 16
    table = embedder.set_output(transform="pandas").transform(data)
    assert table.columns.tolist() == names.tolist()
    np.testing.assert_array_equal(table.to_numpy(), plain)
    deep = GraphEmbedder(**SMALL | {"epochs": 1}, readout="all").fit(data)
    assert len(deep.get_feature_names_out()) == deep.transform(data).shape[1] == 48


def test_help_describes_every_parameter() -> None:
    for kind in ESTIMATORS:
        for name in kind().get_params():
            assert f"    {name}: " in kind.__doc__, (kind, name)


def test_several_labels_with_too_few_items_to_validate_say_what_to_do() -> None:
    graphs = [nx.cycle_graph(5 + i % 4) if i % 2 else nx.star_graph(4 + i % 4) for i in range(30)]
    y = np.array([[i % 2, (i // 2) % 2] for i in range(30)])
    few = GraphClassifier(epochs=1, hidden_channels=8, num_layers=1, validation_share=0.01)
    with pytest.raises(InputError, match=r"both a 0 and a 1 among 1 item .* larger share .*validation_share"):
        few.fit(graphs, y)
    assert few.set_params(validation_share=0.4).fit(graphs, y).predict(graphs).shape == y.shape


def test_seeds_are_drawn_as_scikit_learn_draws_them(data: Dataset, tmp_path: Path) -> None:
    def fitted(random_state: Any) -> GraphClassifier:
        return GraphClassifier(**SMALL | {"epochs": 1}, random_state=random_state).fit(data)

    def answers(random_state: Any) -> Any:
        return fitted(random_state).predict_proba(data)

    np.testing.assert_array_equal(answers(np.random.RandomState(3)), answers(np.random.RandomState(3)))
    np.testing.assert_array_equal(answers(np.int64(3)), answers(3))
    running = np.random.RandomState(3)
    assert (answers(running) != answers(running)).any()
    assert (answers(None) != answers(None)).any()
    kept = fitted(running)
    kept.save(tmp_path / "kept")
    assert GraphClassifier.load(tmp_path / "kept").random_state is None
    assert (
        GraphEmbedder(**SMALL, random_state=None).fit_transform(data)
        != GraphEmbedder(**SMALL, random_state=None).fit_transform(data)
    ).any()
