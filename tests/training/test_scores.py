"""Metrics against scikit-learn's own and against counting; what is chosen; weights of classes."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn import metrics as sk
from sklearn.utils.class_weight import compute_class_weight
from tiny import tiny

from wlhn.data.dataset import Dataset
from wlhn.data.splits import Split, stratified_folds
from wlhn.documents import from_json
from wlhn.errors import InputError
from wlhn.runs.train import default_split, train
from wlhn.runs.trained import Trained, score, targets_for
from wlhn.training.balance import imbalance, loss_weights
from wlhn.training.fit import fit
from wlhn.training.loss import loss
from wlhn.training.metrics import METRICS_OF
from wlhn.training.problem import Problem
from wlhn.training.scores import Scores, scores_of
from wlhn.training.settings import Settings

SMALL = {"hidden_channels": 8, "num_layers": 1, "epochs": 3, "learning_rate": 0.01}


def drawn(classes: int, items: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(targets, logits, their softmax)."""
    rng = np.random.default_rng(classes)
    y, logits = rng.integers(0, classes, items), rng.normal(size=(items, classes)) * 3
    logits[np.arange(items), y] += 2
    return y, logits, torch.softmax(torch.from_numpy(logits), 1).numpy()


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_metrics_of_classes_are_those_of_scikit_learn(classes: int) -> None:
    y, logits, p = drawn(classes)
    said = logits.argmax(axis=1)
    scores = scores_of("classification", y, logits, tuple("abcde"[:classes]))
    expected = {
        "accuracy": sk.accuracy_score(y, said),
        "balanced-accuracy": sk.balanced_accuracy_score(y, said),
        "macro-f1": sk.f1_score(y, said, average="macro"),
        "rocauc": sk.roc_auc_score(y, p[:, 1] if classes == 2 else p, multi_class="ovr"),
        "ap": sk.average_precision_score(y, p[:, 1] if classes == 2 else p),
    }
    assert dict(scores.metrics) == pytest.approx(expected, abs=1e-12)
    assert list(scores.metrics) == list(METRICS_OF["classification"])
    counted = np.zeros((classes, classes), int)
    for i, j in zip(y, said, strict=True):
        counted[i, j] += 1
    assert scores.confusion == tuple(map(tuple, counted.tolist()))
    for k, each in enumerate(scores.classes):
        assert each.precision == counted[k, k] / counted[:, k].sum()
        assert (each.recall, each.items) == (counted[k, k] / counted[k].sum(), counted[k].sum())


def test_metrics_of_numbers_leave_gaps_out() -> None:
    rng = np.random.default_rng(0)
    y, said = rng.normal(size=(2, 50, 3))
    y[rng.random(y.shape) < 0.3] = np.nan
    y[0] = np.nan
    scores = scores_of("regression", y, said)
    known = [~np.isnan(column) for column in y.T]
    r2 = np.mean([sk.r2_score(y[k, c], said[k, c]) for c, k in enumerate(known)])
    every = ~np.isnan(y)
    expected = {
        "mse": sk.mean_squared_error(y[every], said[every]),
        "mae": sk.mean_absolute_error(y[every], said[every]),
        "r2": r2,
    }
    assert dict(scores.metrics) == pytest.approx(expected)
    assert scores.items == (~np.isnan(y).all(axis=1)).sum() < 50


def test_what_cannot_be_said_is_none_and_items_without_a_target_do_not_count() -> None:
    y, logits, _ = drawn(3)
    scores = scores_of("classification", np.where(y == 1, -1, y), logits, ("a", "b", "c"))
    assert scores.items == (y != 1).sum()
    alone = scores_of("classification", np.zeros(4, int), logits[:4], ("a", "b", "c"))
    assert alone.metrics["rocauc"] is None
    assert alone.metrics["accuracy"] == (logits[:4].argmax(1) == 0).mean()
    assert scores_of("regression", np.ones((1, 1)), np.ones((1, 1))).metrics == {"mse": 0, "mae": 0, "r2": None}
    with pytest.raises(InputError, match="none of these items has a target"):
        scores_of("classification", np.array([-1]), logits[:1], ("a", "b", "c"))


def test_scores_come_back_from_their_json() -> None:
    y, logits, _ = drawn(3)
    scores = scores_of("classification", y, logits, ("a", "b", "c"))
    assert from_json(Scores, scores.to_json(), "here") == scores


def small_problem(dataset: Dataset, **options: object) -> Problem:
    return Problem(dataset, stratified_folds(dataset.y)[0], Settings.of(**SMALL | options))


def test_the_chosen_metric_is_what_validation_measures_and_the_default_is_what_it_was() -> None:
    data = tiny(60)
    fitted = {name: fit(small_problem(data, metric=name), seed=0) for name in ("default", "accuracy", "macro-f1")}
    assert fitted["default"].best.valid_metric == fitted["accuracy"].best.valid_metric
    problem = small_problem(data, metric="macro-f1")
    items, outputs = problem.outputs(fitted["macro-f1"].model, problem.split.valid)
    expected = sk.f1_score(data.y[items], outputs.numpy().argmax(1), average="macro", zero_division=0)
    assert fitted["macro-f1"].best.valid_metric == pytest.approx(expected)
    for name in ("mse", "r2"):
        with pytest.raises(InputError, match=f"metric {name}: is not for classification targets, which have accuracy"):
            small_problem(data, metric=name)
    with pytest.raises(InputError, match="metric: must be default, accuracy"):
        Settings.of(metric="auc")


def test_balanced_weights_give_every_class_the_same_say() -> None:
    y = np.array([0] * 12 + [1] * 3 + [2] * 5)
    weights = loss_weights("classification", y, 3, "balanced")
    expected = compute_class_weight("balanced", classes=np.arange(3), y=y)
    np.testing.assert_allclose(weights.numpy(), expected, rtol=1e-6)
    logits, targets = torch.randn(20, 3, dtype=torch.float64), torch.from_numpy(y)
    value = loss("classification", logits, targets, weights.double())
    by_class = [loss("classification", logits[targets == c], targets[targets == c]) for c in range(3)]
    assert value == pytest.approx(float(torch.stack(by_class).mean()))

    tasks = np.array([[1.0, np.nan], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    weights = loss_weights("binary", tasks, 2, "balanced")
    outputs, targets = torch.randn(4, 2, dtype=torch.float64), torch.from_numpy(tasks)
    value = loss("binary", outputs, targets, weights.double())
    known, terms = ~np.isnan(tasks), []
    for k in range(2):  # half of a task's say for its zeros, half for its ones
        at = known[:, k]
        parts = [loss("binary", outputs[at, k][t == b], t[t == b]) for t in [targets[at, k]] for b in (0, 1)]
        terms.append(at.sum() * float(sum(parts)) / 2)
    assert value == pytest.approx(sum(terms) / known.sum())
    with pytest.raises(InputError, match="class_weights balanced: is for classes and 0/1 targets"):
        loss_weights("regression", tasks, 2, "balanced")


def test_weights_are_off_unless_asked_for_and_change_what_is_learned() -> None:
    data = tiny(60)
    rare = Dataset("rare", data.graphs, np.where(np.arange(60) < 8, 0, 1), "graph", "classification", ("a", "b"))
    split = Split(np.arange(0, 60, 2), np.arange(1, 60, 2), [])
    plain, weighted = (
        fit(Problem(rare, split, Settings.of(**SMALL, class_weights=how)), 0) for how in ("none", "balanced")
    )
    assert plain.history[0].train_loss == fit(Problem(rare, split, Settings.of(**SMALL)), 0).history[0].train_loss
    assert plain.history[0].train_loss != weighted.history[0].train_loss


def test_one_class_and_strong_imbalance_are_said_in_one_sentence() -> None:
    data = tiny(60)
    for zeros, words in (
        (0, "the class b, so there is nothing to learn"),
        (3, "3 training graphs have the class a"),
    ):
        y = np.where(np.arange(60) < zeros, 0, 1)
        uneven = Dataset("uneven", data.graphs, y, "graph", "classification", ("a", "b"))
        warning = imbalance(uneven, np.arange(60))
        assert warning is not None
        assert words in warning
    assert imbalance(data, np.arange(60)) is None


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dataset, Trained, Scores]:
    data = tiny(60)
    done = train(data, Settings.of(**SMALL), tmp_path_factory.mktemp("run") / "run")
    assert done.test is not None
    return data, done.trained, done.test


def test_a_run_and_a_labelled_file_of_its_test_items_have_the_same_scores(
    run: tuple[Dataset, Trained, Scores], tmp_path: Path
) -> None:
    data, trained, test = run
    done = train(data, Settings.of(**SMALL), tmp_path / "again")
    assert done.about["test_scores"] == test.to_json()
    again = score(trained, data.select(default_split(data, 0).test))
    assert dict(again.metrics) == pytest.approx(dict(test.metrics), abs=1e-6)
    assert again.confusion == test.confusion


def test_targets_mean_what_they_meant_to_the_model(run: tuple[Dataset, Trained, Scores]) -> None:
    data, trained, _ = run
    swapped = Dataset("swapped", data.graphs, 1 - data.y, "graph", "classification", data.classes[::-1])
    np.testing.assert_array_equal(targets_for(trained, swapped), data.y)
    new = Dataset("new", data.graphs, data.y, "graph", "classification", ("x", "y"))
    with pytest.raises(InputError, match=r"new: the class . was not there in training"):
        targets_for(trained, new)
    with pytest.raises(InputError, match="has no targets to score answers by"):
        score(trained, Dataset("none", data.graphs, np.empty((60, 0)), "graph", "none"))
    with pytest.raises(InputError, match="and the model was trained on"):
        score(trained, Dataset("numbers", data.graphs, data.y.astype(np.float32), "graph", "regression"))


def test_answers_that_round_to_certainty_are_still_told_apart(tmp_path: Path) -> None:
    """A sigmoid in single precision is 1 from 17 on, so scores are made of logits."""
    data = tiny(40)
    y = data.y[:, None].astype(np.float32)
    data = replace(data, y=y, task="binary", classes=(), targets=("active",))
    trained = train(data, Settings.of(**SMALL), tmp_path / "run").trained
    before = score(trained, data).metrics["rocauc"]
    trained = replace(trained, shift=trained.shift + 40.0)
    (part,) = trained.predict(data.graphs)
    assert (part.outputs == 1).all()
    assert score(trained, data).metrics["rocauc"] == pytest.approx(before, abs=0.02)
    assert before != 0.5


def with_unknown_targets() -> Problem:
    """Batches of which some have more known targets than others."""
    data = tiny(60)
    y = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(np.float32)
    y[np.random.default_rng(1).random(y.shape) < 0.6] = np.nan
    y[:, 0] = data.y
    data = replace(data, y=y, task="binary", classes=(), targets=("a", "b", "c"))
    return Problem(data, stratified_folds(tiny(60).y)[0], Settings.of(**SMALL, batch_size=2))


def test_the_validation_loss_is_the_mean_over_known_targets() -> None:
    given = with_unknown_targets()
    fitted = fit(given, seed=0)
    items, outputs = given.outputs(fitted.model, given.split.valid)
    expected = loss("binary", outputs, given.y[torch.from_numpy(items)])
    assert fitted.best.valid_loss == pytest.approx(float(expected), rel=1e-5)


def test_the_training_loss_is_the_mean_over_known_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    given, terms = with_unknown_targets(), []

    def number_of_terms(task: str, outputs: torch.Tensor, y: torch.Tensor, weight: object = None) -> torch.Tensor:
        terms.append(int((~y.isnan()).sum()))
        return 0.0 * outputs.sum() + terms[-1]

    monkeypatch.setattr("wlhn.training.network_run.loss", number_of_terms)
    fitted = fit(given, seed=0, stop=lambda history: len(history) == 1)
    trained = np.array(terms[: math.ceil(len(given.split.train) / 2)])
    assert len(set(trained.tolist())) > 1
    assert fitted.history[0].train_loss == pytest.approx((trained**2).sum() / trained.sum())


def test_items_without_a_target_are_not_trained_on_and_not_scored(tmp_path: Path) -> None:
    data = tiny(60)
    y = np.where(np.arange(60) % 3 == 0, -1, data.y)
    gaps = Dataset("gaps", data.graphs, y, "graph", "classification", data.classes)
    done = train(gaps, Settings.of(**SMALL), tmp_path / "run")
    assert sum(done.about["split"].values()) == 40
    assert done.about["unlabelled"] == 20
    problem = Problem(gaps, Split(np.arange(30), np.arange(30, 60), []), Settings.of(**SMALL))
    assert (y[problem.split.train] >= 0).all()
    assert (y[problem.split.valid] >= 0).all()
    with pytest.raises(InputError, match="no valid items with a target"):
        Problem(gaps, Split(np.arange(30), [33], []), Settings.of(**SMALL))
