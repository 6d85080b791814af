"""One run: it resumes bit for bit, keeps its hands off test labels and global randomness, and says where it broke."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tiny import tiny

from wlhn.data import Dataset
from wlhn.data.splits import stratified_folds
from wlhn.errors import InputError
from wlhn.training.answers import answers_on
from wlhn.training.fit import Fitted, fit
from wlhn.training.network_run import Epoch, NetworkRun
from wlhn.training.problem import Problem
from wlhn.training.settings import Settings

SMALL = {"hidden_channels": 8, "num_layers": 2, "epochs": 6, "batch_size": 8, "dropout": 0.5, "learning_rate": 0.01}
SETTINGS = Settings.of(**SMALL)


def problem(dataset: Dataset | None = None, settings: Settings = SETTINGS) -> Problem:
    data = dataset or tiny()
    return Problem(data, stratified_folds(data.y, folds=5, holdout=0.25)[0], settings)


def numbers(fitted: Fitted) -> tuple[object, ...]:
    """All that a run found out, to the last bit."""
    weights = {name: tensor.numpy().tobytes() for name, tensor in fitted.model.state_dict().items()}
    return [replace(epoch, seconds=0) for epoch in fitted.history], fitted.best.epoch, weights, fitted.numerics


def score(problem: Problem, fitted: Fitted, items: NDArray[Any]) -> float:
    answers = answers_on(problem, fitted.model, items)
    assert answers is not None
    return answers.score()


class KilledError(Exception):
    pass


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"optimizer": "riemannian-adam", "head": "hyperbolic"},
        {"model": "gin", "patience": 2},
        {"directions": "whitened", "learn_tau": True, "learn_epsilon": True, "readout": "all"},
        {"model": "two-voices", "num_networks": 3, "tree_folds": 0, "patience": 2},
    ],
    ids=str,
)
def test_interrupted_after_any_epoch_it_gives_the_same_numbers(
    changes: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wlhn.training.network_run.REST", 0.0)  # a checkpoint after each of these small epochs
    settings = Settings.of(**SMALL | changes)
    whole = fit(problem(settings=settings), seed=3)
    checkpoint = tmp_path / "checkpoint"
    for stop in range(1, len(whole.history)):

        def die(epoch: Epoch, stop: int = stop) -> None:
            if epoch.epoch == stop:
                raise KilledError

        with pytest.raises(KilledError):
            fit(problem(settings=settings), seed=3, checkpoint=checkpoint, on_epoch=die)
    assert numbers(fit(problem(settings=settings), seed=3, checkpoint=checkpoint)) == numbers(whole)
    assert numbers(fit(problem(settings=settings), seed=4)) != numbers(whole)


def test_what_other_instructions_began_is_not_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wlhn.training.network_run.REST", 0.0)  # a checkpoint after each of these small epochs
    fit(problem(), seed=3, checkpoint=tmp_path / "checkpoint")
    trained: list[int] = []
    monkeypatch.setattr(NetworkRun, "_train", lambda run, number: trained.append(number) or 0.0)
    fit(problem(), seed=3, checkpoint=tmp_path / "checkpoint")
    assert trained == []  # all epochs were there
    monkeypatch.setattr("wlhn.training.network_run.is_portable", lambda: True)
    fit(problem(), seed=3, checkpoint=tmp_path / "checkpoint")
    assert trained[0] == 1


def test_a_damaged_or_foreign_checkpoint_is_none(tmp_path: Path) -> None:
    whole, checkpoint = numbers(fit(problem(), seed=3)), tmp_path / "checkpoint"
    fit(problem(), seed=4, checkpoint=checkpoint)  # of another run
    assert numbers(fit(problem(), seed=3, checkpoint=checkpoint)) == whole
    content = bytearray(checkpoint.read_bytes())
    content[-5] ^= 1
    checkpoint.write_bytes(content)
    assert numbers(fit(problem(), seed=3, checkpoint=checkpoint)) == whole


@pytest.mark.parametrize("changes", [{}, {"directions": "whitened"}, {"model": "gin"}, {"model": "gcn"}], ids=str)
def test_where_one_batch_is_all_it_is_evaluated_with_that_batch_s_statistics(changes: dict[str, object]) -> None:
    still = Settings.of(**SMALL | {"epochs": 1, "batch_size": 1000, "learning_rate": 1e-12, "dropout": 0.0} | changes)
    task = problem(settings=still)
    model = fit(task, seed=0).model
    [batch] = task.batches(task.split.train)
    with torch.no_grad():
        evaluated, trained = batch.outputs(model.eval()), batch.outputs(model.train())
    torch.testing.assert_close(evaluated, trained, rtol=0.02, atol=0.02)  # running variances are n/(n − 1) larger


def test_shuffled_test_labels_change_nothing_but_the_test_score() -> None:
    data = tiny(60)
    split = problem(data).split
    y = data.y.copy()
    y[split.test] = 1 - y[split.test]
    before, after = Problem(data, split, SETTINGS), Problem(replace(data, y=y), split, SETTINGS)
    fitted, again = fit(before, seed=0), fit(after, seed=0)
    assert numbers(fitted) == numbers(again)
    assert score(before, fitted, split.test) == pytest.approx(1 - score(after, again, split.test))
    assert score(before, fitted, split.valid) == score(after, again, split.valid)


def test_the_vocabulary_comes_from_training_graphs_alone() -> None:
    data = tiny()
    split = problem(data).split
    label = np.array(data.graphs.node_label)
    label[np.isin(data.graphs.graph_of_node, split.test)] = 99
    other = replace(data, graphs=replace(data.graphs, node_label=label))
    # On nodes: WLHN sees the same, with colours in another order, and so with other roundings.
    settings = Settings.of(**SMALL | {"model": "gcn"})
    found, wanted = (numbers(fit(Problem(d, split, settings), seed=0)) for d in (other, data))
    assert found == wanted


def test_randomness_outside_is_left_alone() -> None:
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    fit(problem(), seed=0)
    assert torch.equal(torch.rand(3), wanted)


def test_the_number_of_threads_is_the_callers() -> None:
    before = torch.get_num_threads()
    fit(problem(), seed=0)
    assert torch.get_num_threads() == before


def test_nan_is_reported_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that became NaN in epoch 3: the best epoch before counts, and the report names parameter and epoch."""
    train = problem(settings=Settings.of(**SMALL | {"epochs": 5}))
    model = train.build()
    monkeypatch.setattr(train, "build", lambda: model)

    def poison(epoch: Epoch) -> None:
        if epoch.epoch == 2:
            with torch.no_grad():
                model.layers[1].lin1.weight[0, 0] = torch.nan

    fitted = fit(train, seed=0, on_epoch=poison)
    assert fitted.best.epoch <= 2
    assert fitted.numerics.first_nan == "epoch 3, batch 1: parameter layers.1.lin1.weight"
    assert fitted.numerics.largest_radius is not None
    assert 0 < fitted.numerics.smallest_value < fitted.numerics.largest_value
    assert fitted.numerics.dead_rows is not None
    assert 0 <= fitted.numerics.dead_rows < 1


def test_regression_learns_in_any_unit_and_scores_in_that_unit() -> None:
    data = tiny()
    size = np.diff(data.graphs.node_ptr).astype(np.float32)
    for unit in (1.0, 1e4):
        train = Problem(
            replace(data, y=unit * size, task="regression", classes=()),
            stratified_folds(data.y, folds=5)[0],
            Settings.of(**SMALL | {"epochs": 60, "dropout": 0.0}),
        )
        fitted = fit(train, seed=0)
        assert fitted.best.valid_loss < 0.5  # of the variance
        assert score(train, fitted, train.split.valid) < 0.5 * unit**2 * size.var()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.full(30, 7)}, "item 0: class index must be 0 to 1, found 7"),
        ({"y": np.zeros((30, 0), np.float32), "task": "none"}, "no targets to train on"),
    ],
)
def test_bad_targets_are_refused_before_any_step(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        problem(replace(tiny(), **change))
