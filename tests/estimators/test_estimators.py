"""Estimators: scikit-learn's own checks where they make sense for graphs, and scikit-learn's own tools around them."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from tiny import tiny

from wlhn.data import Dataset
from wlhn.errors import InputError
from wlhn.estimators import GraphClassifier, GraphEmbedder, GraphRegressor, NodeClassifier, NodeRegressor
from wlhn.graphs import to_networkx, to_pyg

SMALL = {"hidden_channels": 16, "num_layers": 2, "epochs": 45, "learning_rate": 0.01}
ESTIMATORS = (GraphClassifier, GraphRegressor, NodeClassifier, NodeRegressor, GraphEmbedder)

# The checks of `check_estimator` that pass no rows of numbers to `fit`; the others do, and our input is graphs.
CHECKS = (
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
    "check_estimators_unfitted",
)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_scikit_learn(check: str, kind: Any) -> None:
    if check == "check_estimators_unfitted":  # as theirs, with graphs
        for method in {"predict", "predict_proba", "transform"} & set(dir(kind)):
            with pytest.raises(NotFittedError):
                getattr(kind(), method)([nx.path_graph(3)])
        return
    getattr(estimator_checks, check)(kind.__name__, kind())


@pytest.fixture(scope="module")
def data() -> Dataset:
    return tiny(60)


def labels(data: Dataset) -> list[str]:
    return ["cycle" if k else "path" for k in data.y]


def test_networkx_pyg_and_our_data_sets_are_the_same_input(data: Dataset) -> None:
    y = labels(data)
    kinds = to_networkx(data.graphs), to_pyg(data.graphs), data, list(data)
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
        ([], [], "needs at least 2 items"),
        ([nx.path_graph(3)] * 4, [0, 1], "expected 4 targets"),
        (["graph"] * 4, [0, 1, 0, 1], "expected a graph"),
    ):
        with pytest.raises(InputError, match=message):
            GraphClassifier(**SMALL).fit(graphs, y)
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
