"""Two voices with several networks: each is trained as if it were alone, and their mean is the network's voice."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import softmax

from wlhn.batching.refined import make_quotient
from wlhn.data import load
from wlhn.data.splits import stratified_folds
from wlhn.evaluation.evaluate import Evaluation
from wlhn.inspection.explain import explain
from wlhn.models.two_voices import TwoVoices
from wlhn.runs.run_folder import load_run
from wlhn.runs.train import train
from wlhn.runs.trained import Trained
from wlhn.training.checkpoint import network_checkpoint, remove_checkpoints
from wlhn.training.fit import Fitted, fit
from wlhn.training.network_run import Epoch
from wlhn.training.problem import Problem
from wlhn.training.settings import Settings

MUTAG = load("MUTAG")
SPLIT = stratified_folds(MUTAG.y)[0]
SIZE = {"hidden_channels": 8, "num_layers": 2, "epochs": 6, "patience": 2, "tree_folds": 0, "dropout": 0.5}


def settings(networks: int, **changes: int) -> Settings:
    return Settings.of("two-voices", **SIZE | changes, num_networks=networks)


@pytest.fixture(scope="module")
def three() -> Fitted:
    return fit(Problem(MUTAG, SPLIT, settings(3)), seed=5)


def test_the_first_network_is_that_of_a_single_one(three: Fitted) -> None:
    one = fit(Problem(MUTAG, SPLIT, settings(1)), seed=5)
    assert isinstance(one.model, TwoVoices)
    assert isinstance(three.model, TwoVoices)
    first = three.model.networks[0].state_dict()
    for name, tensor in one.model.networks[0].state_dict().items():
        torch.testing.assert_close(tensor, first[name], rtol=0, atol=0)
    losses = [epoch.train_loss for epoch in one.history]
    assert [epoch.train_loss for epoch in three.history[: len(losses)]] == losses


def test_each_network_stops_for_itself_and_epochs_are_counted_through(three: Fitted) -> None:
    assert [epoch.epoch for epoch in three.history] == list(range(1, len(three.history) + 1))
    assert isinstance(three.model, TwoVoices)
    left, given = list(three.history), Problem(MUTAG, SPLIT, settings(3))
    for network in three.model.networks:  # a run ends after two epochs without improvement, or six
        run = left[: next(k for k in range(1, 7) if k == 6 or k - best(left[:k]) == 2)]
        del left[: len(run)]
        items, outputs = given.outputs(network, SPLIT.valid)
        accuracy = (outputs.argmax(1).numpy() == MUTAG.y[items]).mean()
        assert accuracy == pytest.approx(max(epoch.valid_metric for epoch in run))  # it is as it was when it was best
    assert left == []


def best(epochs: list[Epoch]) -> int:
    ranks = [(epoch.valid_metric, -epoch.valid_loss) for epoch in epochs]
    return 1 + ranks.index(max(ranks))


def test_networks_differ_and_their_mean_is_the_voice(three: Fitted) -> None:
    model, given = three.model, Problem(MUTAG, SPLIT, settings(3))
    assert isinstance(model, TwoVoices)
    each = [given.outputs(network, SPLIT.test)[1] for network in model.networks]
    assert all((a - b).abs().max() > 1e-3 for a, b in pairwise(each))
    voice = given.outputs(model.voices()["network"], SPLIT.test)[1]
    torch.testing.assert_close(voice, sum(each) / 3)
    share, machine_share = model.shares()
    machine = given.outputs(model.voices()["machine"], SPLIT.test)[1]
    torch.testing.assert_close(given.outputs(model, SPLIT.test)[1], share * voice + machine_share * machine)


def test_a_folder_keeps_all_networks_and_nothing_else_stays(tmp_path: Path) -> None:
    run = train(MUTAG, settings(2), split=SPLIT, folder=tmp_path / "run")
    again = load_run(tmp_path / "run")
    said = (trained.predict(MUTAG.graphs) for trained in (run.trained, again))
    for before, after in zip(*(list(parts) for parts in said), strict=True):
        np.testing.assert_array_equal(before.outputs, after.outputs)
    assert not list((tmp_path / "run").glob(".checkpoint*"))
    # nodes say what colours say
    model, encoded = again.model, again.vocabulary.encode(MUTAG.graphs.select([0, 1]))
    quotient = make_quotient(encoded.graphs, encoded.x, 2, False)
    x, edges = torch.from_numpy(encoded.x), torch.from_numpy(encoded.graphs.edge_index.astype(np.int64))
    by_nodes = model(x, edges, torch.from_numpy(encoded.graphs.graph_of_node.astype(np.int64)))
    torch.testing.assert_close(by_nodes, model.run_on_colours(quotient.batch([0, 1])))


def test_the_answer_of_several_networks_divides_among_nodes(three: Fitted) -> None:
    trained = Trained.of(Problem(MUTAG, SPLIT, settings(3)), three)
    explanation = explain(trained, MUTAG.graphs, 0)
    (answer,) = trained.predict(MUTAG.graphs.select([0]))
    np.testing.assert_allclose(explanation.base + explanation.node.sum(axis=0), explanation.output, atol=1e-9)
    np.testing.assert_allclose(softmax(explanation.output), answer.outputs[0], atol=1e-5)


def test_a_hopeless_first_network_ends_all() -> None:
    given = Problem(MUTAG, SPLIT, settings(3))
    stopped = fit(given, seed=5, stop=lambda history: len(history) == 2)
    assert isinstance(stopped.model, TwoVoices)
    assert len(stopped.history) == 2
    assert len(stopped.model.networks) == 1


def test_checkpoints_go_the_run_s_own_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "checkpoint"
    files = [network_checkpoint(own, k) for k in range(3)]
    for file in files:
        file.touch()
    gone: list[Path] = []
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok: gone.append(path))
    remove_checkpoints(own)
    assert gone == files[::-1]
    assert files[0] == own


def test_a_voice_is_evaluated_without_dropout(three: Fitted) -> None:
    assert isinstance(three.model, TwoVoices)
    three.model.train()
    given = Problem(MUTAG, SPLIT, settings(3))
    said = [given.outputs(three.model.voices()["network"], SPLIT.test)[1] for _ in range(2)]
    torch.testing.assert_close(*said, rtol=0, atol=0)


def test_a_job_s_curve_is_that_of_its_first_network(tmp_path: Path) -> None:
    """What others have to reach is about one network: more of them are no reason to be taken for ahead, or behind."""
    curves = []
    for networks in (1, 3):
        folder = tmp_path / str(networks)
        candidate = settings(networks, epochs=90, patience=1)  # it stops before the last rung, its thirtieth epoch
        Evaluation(MUTAG, [candidate], folder, num_splits=1, final_runs=1).run()
        (job,) = (folder / "jobs").rglob("*.json")
        curves.append(json.loads(job.read_text())["curve"])
    assert curves[0] == curves[1]
