"""Machines on the tree: what scikit-learn says of our matrices, and nothing of the training data in what they keep."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from baseline_graphs import build, sample
from sklearn.svm import SVC, SVR, LinearSVC

from wlhn import OptimalAssignmentKernel, TreeWasserstein, WLFeatures, WLKernel
from wlhn.batching.collator import Collator
from wlhn.data import load
from wlhn.data.vocabulary import Vocabulary
from wlhn.errors import InputError
from wlhn.models.registry import build_model
from wlhn.options.training import InputOptions
from wlhn.runs.run_folder import load_run
from wlhn.runs.train import train
from wlhn.training.settings import Settings

MACHINES = ["wl-svm", "wl-oa", "wl-wasserstein", "wl-linear"]
MUTAG = load("MUTAG")
TRAIN, NEW = np.arange(0, 188, 2), np.arange(1, 188, 2)
KERNELS = {"wl-svm": WLKernel, "wl-oa": OptimalAssignmentKernel, "wl-wasserstein": TreeWasserstein}


def batches(edges: bool = False) -> tuple:
    """(vocabulary, colours to learn from, new colours), three rounds deep."""
    vocabulary = Vocabulary.fit(MUTAG, InputOptions(edge_features=edges))
    collator = Collator(vocabulary.encode(MUTAG.graphs), on_colours=True, depth=3)
    return vocabulary, collator.batch(TRAIN), collator.batch(NEW)


def fitted(name: str, y: np.ndarray, task: str = "classification", edges: bool = False, **options: float):
    vocabulary, learned_from, new = batches(edges)
    settings = Settings.of(name, rounds=2, svm_penalty=10.0, **options)
    outputs = y.max() + 1 if task == "classification" else y.reshape(len(y), -1).shape[1]
    model = build_model(
        name, settings.options, vocabulary.in_channels, int(outputs), edge_channels=vocabulary.edge_channels
    )
    model.fit_on_colours(learned_from, y=torch.from_numpy(y[TRAIN]), task=task)
    return model, new


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", KERNELS)
def test_answers_are_those_of_svc_on_the_matrix(name: str, classes: int, edges: bool) -> None:
    y = MUTAG.y if classes == 2 else np.diff(MUTAG.graphs.node_ptr) % 4
    model, new = fitted(name, y, edges=edges)
    kernel = KERNELS[name](depth=2, start="label", edge_labels=edges)
    if name == "wl-wasserstein":
        kernel.set_params(gamma=1.0)
    known = kernel.fit_transform(MUTAG.graphs.select(TRAIN))
    machine = SVC(kernel="precomputed", C=10.0).fit(known, y[TRAIN])
    expected = machine.decision_function(kernel.transform(MUTAG.graphs.select(NEW)))
    said = model.run_on_colours(new).numpy()
    np.testing.assert_allclose(said[:, 1] - said[:, 0] if classes == 2 else said, expected, atol=1e-5)


@pytest.mark.parametrize("name", KERNELS)
def test_numbers_and_several_targets(name: str) -> None:
    size = np.diff(MUTAG.graphs.node_ptr)
    y = np.stack([size / 10, size % 3], axis=1).astype(np.float32)
    y[TRAIN[3], 1] = np.nan
    model, new = fitted(name, y, "regression")
    kernel = KERNELS[name](depth=2, start="label")
    if name == "wl-wasserstein":
        kernel.set_params(gamma=1.0)
    for column in range(2):
        there = TRAIN[~np.isnan(y[TRAIN, column])]
        machine = SVR(kernel="precomputed", C=10.0).fit(
            kernel.fit_transform(MUTAG.graphs.select(there)), y[there, column]
        )
        expected = machine.predict(kernel.transform(MUTAG.graphs.select(NEW)))
        np.testing.assert_allclose(model.run_on_colours(new)[:, column].numpy(), expected, atol=1e-4)


@pytest.mark.parametrize("code", ["log", "counts", "thermometer"])
def test_the_linear_machine_is_linearsvc_on_features(code: str) -> None:
    model, new = fitted("wl-linear", MUTAG.y, code=code, min_graphs=3)
    features = WLFeatures(depth=2, start="label", code=code, min_graphs=3, normalise=True)
    rows = features.fit_transform(MUTAG.graphs.select(TRAIN))
    machine = LinearSVC(C=10.0, random_state=0, max_iter=10_000).fit(rows, MUTAG.y[TRAIN])
    expected = machine.decision_function(features.transform(MUTAG.graphs.select(NEW)))
    said = model.run_on_colours(new).numpy()
    # its solver goes through columns in an order of its own, so two runs agree as far as they have converged
    np.testing.assert_allclose(said[:, 1] - said[:, 0], expected, atol=2e-2)


@pytest.mark.parametrize("name", MACHINES)
def test_a_batch_of_colours_says_what_nodes_say(name: str) -> None:
    model, _ = fitted(name, MUTAG.y)
    collators = [Collator(Vocabulary.fit(MUTAG).encode(MUTAG.graphs), on, depth=3) for on in (True, False)]
    colours, nodes = (collator.batch(NEW) for collator in collators)
    by_nodes = model(nodes.x, nodes.edge_index, nodes.batch)
    assert torch.equal(model.run_on_colours(colours), by_nodes)


@pytest.mark.parametrize("name", MACHINES)
def test_a_run_folder_keeps_no_training_graphs_and_answers_alike(name: str, tmp_path: Path) -> None:
    trained = train(MUTAG, Settings.of(name, rounds=2), tmp_path / "run").trained
    again = load_run(tmp_path / "run")
    for before, after in zip(trained.predict(MUTAG.graphs), again.predict(MUTAG.graphs), strict=True):
        assert np.array_equal(before.outputs, after.outputs)
    state = again.model.state_dict()
    assert {"x", "edge_index", "batch", "y"} & set(state) == set()
    first = state["tree.initial_values"]
    assert len(first) == len(np.unique(first.numpy(), axis=0)) <= 7  # what a first colour is, once
    if name != "wl-linear":
        assert state["support.ptr"].shape[0] - 1 == state["weight"].shape[1] < 121  # not all graphs to learn from


def test_nothing_in_common_is_said() -> None:
    given = sample().inputs()
    with pytest.raises(InputError, match=r"no colour is in 2 of the \d graphs"):
        build("wl-linear", "graph", min_graphs=2).fit(
            *given.values(), y=sample().targets("graph"), task="classification"
        )
    with pytest.raises(InputError, match="is not trained yet"):
        build("wl-oa", "graph")(**given)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", KERNELS)
def test_the_matrix_of_all_graphs_says_what_the_tree_of_support_vectors_says(name: str, classes: int) -> None:
    y = MUTAG.y if classes == 2 else np.diff(MUTAG.graphs.node_ptr) % 4
    model, new = fitted(name, y)
    from_matrix = model.run_on_colours(new)
    assert model.learned_from is not None  # so far nobody needed a tree
    state = model.state_dict()
    assert model.learned_from is None
    assert torch.equal(model.run_on_colours(new), from_matrix)
    apart = fitted(name, y)[0]
    _, learned_from, _ = batches()
    apart.fit_on_colours(replace(learned_from, taken_from=None), y=torch.from_numpy(y[TRAIN]), task="classification")
    assert all(torch.equal(part, state[key]) for key, part in apart.state_dict().items())


def test_some_rows_are_refused_instead_of_passed_over() -> None:
    model, _ = fitted("wl-linear", MUTAG.y)
    _, learned_from, _ = batches(False)
    y, rows = torch.from_numpy(MUTAG.y[TRAIN][:2]), torch.arange(2)
    with pytest.raises(InputError, match="rows: a machine on the tree learns from all graphs"):
        model.fit_on_colours(learned_from, y=y, task="classification", rows=rows)


@pytest.mark.parametrize("name", ["wl-oa", "wl-svm"])
def test_right_after_learning_other_features_mean_what_they_mean_later(name: str) -> None:
    """Graphs that differ from those it learned from in their features alone have the same tree, of other colours."""
    own = MUTAG.select(TRAIN)
    numbers = replace(own.graphs, x=own.graphs.node_label[:, None].astype(float), node_label=None)
    own = replace(own, graphs=numbers, inputs=("x",))
    vocabulary = Vocabulary.fit(own, InputOptions(standardise=False))
    other = replace(own.graphs, x=10 * own.graphs.x + 3)
    here, there = (
        Collator(vocabulary.encode(each), on_colours=True, depth=2).batch(np.arange(len(TRAIN)))
        for each in (own.graphs, other)
    )
    assert here.taken_from[0] is there.taken_from[0]
    model = build_model(name, Settings.of(name, rounds=2).options, vocabulary.in_channels, 2)
    model.fit_on_colours(here, y=torch.from_numpy(own.y), task="classification")
    now = model.run_on_colours(there)
    model.state_dict()  # from here on it has nothing but the tree of its support vectors
    torch.testing.assert_close(now, model.run_on_colours(there))


@pytest.mark.parametrize("name", ["wl-oa", "wl-linear", "morgan-forest"])
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_a_target_with_nothing_to_tell_apart_has_a_constant_answer(name: str, task: str) -> None:
    """Always yes, or never known, it leaves the other targets as they are, before and after loading."""
    given, unknown = sample().inputs(), float("nan")
    graphs = int(given["batch"].max()) + 1
    first = torch.arange(graphs) % 2.0
    always = torch.ones(graphs) if task == "binary" else torch.full((graphs,), unknown)
    model, plain, again = (build(name, "graph") for _ in range(3))
    model.fit(*given.values(), y=torch.stack([first, always, 1 - first], dim=1), task=task)
    plain.fit(*given.values(), y=torch.stack([first, first, 1 - first], dim=1), task=task)
    said = model(**given)
    torch.testing.assert_close(said[:, [0, 2]], plain(**given)[:, [0, 2]])
    assert (said[:, 1] == said[0, 1]).all()
    assert said[0, 1] > 0 if task == "binary" else said[0, 1] == 0
    again.load_state_dict(model.state_dict())
    torch.testing.assert_close(again(**given), said)
