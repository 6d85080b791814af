"""Two voices: the average of a network and a machine that were fitted apart, and nothing else."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import softmax
from sklearn.svm import SVC

from wlhn.batching.refined import make_quotient
from wlhn.data import Dataset, load
from wlhn.data.splits import stratified_folds
from wlhn.errors import InputError
from wlhn.estimators import GraphEmbedder
from wlhn.evaluation.evaluate import Evaluation
from wlhn.evaluation.outcome import read_outcome
from wlhn.graphs import Graphs
from wlhn.inspection.explain import explain
from wlhn.kernels import OptimalAssignmentKernel
from wlhn.models.machines.clusters import Clusters
from wlhn.models.machines.subtree import WLOA
from wlhn.models.two_voices import WEIGHTS, TwoVoices
from wlhn.models.wlhn import WLHN
from wlhn.runs.run_folder import load_run
from wlhn.runs.train import train
from wlhn.training.fit import fit
from wlhn.training.problem import Problem
from wlhn.training.settings import Settings
from wlhn.training.team import Team

MUTAG = load("MUTAG")
SPLIT = stratified_folds(MUTAG.y)[0]
SIZE = {"hidden_channels": 8, "num_layers": 2, "epochs": 4}


def problem(**options: float | str) -> Problem:
    return Problem(MUTAG, SPLIT, Settings.of("two-voices", **SIZE, **options))


def likeliest_scale(outputs: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """(s, mean cross-entropy with it) by trying thousands of factors, with the same prior."""

    def cross_entropy(s: float) -> float:
        return float(-np.log(softmax(s * outputs, axis=1)[np.arange(len(y)), y]).mean())

    s = min(np.exp(np.linspace(-5, 5, 4001)), key=lambda s: len(y) * cross_entropy(s) + np.log(s) ** 2 / 2)
    return float(s), cross_entropy(s)


@pytest.mark.parametrize("tree_machine", ["wl-oa", "wl-linear"])
@pytest.mark.parametrize("weight", [0.0, 0.3, 0.9])
def test_the_answer_is_the_weighted_average_of_calibrated_parts(tree_machine: str, weight: float) -> None:
    given = problem(tree_machine=tree_machine, tree_weight=weight, tree_folds=0)
    fitted = fit(given, seed=0)
    alone = fit(Problem(MUTAG, SPLIT, Settings.of("wlhn", **SIZE)), seed=0)
    assert isinstance(fitted.model, TwoVoices)
    items, together = given.outputs(fitted.model, SPLIT.valid)
    network = given.outputs(alone.model, SPLIT.valid)[1]
    tree = given.outputs(fitted.model.machine, SPLIT.valid)[1]
    of_network, of_tree = (likeliest_scale(part.double().numpy(), MUTAG.y[items])[0] for part in (network, tree))
    expected = (1 - weight) * of_network * network + weight * of_tree * tree
    torch.testing.assert_close(together, expected, rtol=2e-2, atol=1e-3)
    accuracy = (together.argmax(1).numpy() == MUTAG.y[items]).mean()
    assert fitted.best.valid_metric == pytest.approx(accuracy)
    assert [epoch.valid_metric for epoch in fitted.history] == [epoch.valid_metric for epoch in alone.history]


def test_the_machine_is_the_likeliest_on_items_that_it_has_not_learned_from() -> None:
    """Depth, penalty and scale, against scikit-learn on matrices of its own, fold by fold."""
    model = fit(problem(tree_folds=3), seed=0).model
    assert isinstance(model, TwoVoices)
    y, found = MUTAG.y[SPLIT.train], {}
    folds = [split.test for split in stratified_folds(y, folds=3)]
    for rounds in range(3):
        matrix = OptimalAssignmentKernel(depth=rounds).fit_transform(MUTAG.select(SPLIT.train))
        for penalty in (0.1, 1.0, 10.0, 100.0):
            said = np.empty((len(y), 2))
            for held_out in folds:
                rest = np.setdiff1d(np.arange(len(y)), held_out)
                machine = SVC(kernel="precomputed", C=penalty).fit(matrix[np.ix_(rest, rest)], y[rest])
                said[held_out] = machine.decision_function(matrix[np.ix_(held_out, rest)])[:, None] * [-0.5, 0.5]
            found[rounds, penalty] = likeliest_scale(said, y)
    best = min(found, key=lambda each: found[each][1])
    assert (model.machine.options.rounds, model.svm_penalty) == best
    assert model.machine_scale == pytest.approx(found[best][0], rel=1e-2)


def test_without_folds_the_machine_is_the_likeliest_on_validation_items() -> None:
    given = problem(tree_folds=0)
    model = fit(given, seed=0).model
    assert isinstance(model, TwoVoices)
    losses = {}
    for rounds in range(3):
        for penalty in (0.1, 1.0, 10.0, 100.0):
            alone = Problem(MUTAG, SPLIT, Settings.of("wl-oa", rounds=rounds, svm_penalty=penalty))
            items, said = alone.outputs(fit(alone, seed=0).model, SPLIT.valid)
            losses[rounds, penalty] = likeliest_scale(said.double().numpy(), MUTAG.y[items])[1]
    assert losses[model.machine.options.rounds, model.svm_penalty] == pytest.approx(min(losses.values()), rel=1e-3)


def test_a_class_of_one_training_item_is_never_held_out() -> None:
    """Folds would leave nothing to learn it from, so the validation items decide."""
    y = np.zeros(188, np.int64)
    y[[SPLIT.train[3], SPLIT.valid[0]]] = 1
    chosen = [
        fit(Problem(replace(MUTAG, y=y), SPLIT, Settings.of("two-voices", **SIZE, tree_folds=folds)), seed=0).chosen
        for folds in (5, 0)
    ]
    assert chosen[0] == chosen[1]


def test_a_linear_machine_without_common_colours_says_what_helps() -> None:
    """Nodes all have a number of their own, so no two graphs have a colour in common."""
    own = replace(MUTAG.graphs, x=np.arange(float(MUTAG.graphs.num_nodes))[:, None])
    settings = Settings.of("two-voices", **SIZE, tree_machine="wl-linear", inputs="features")
    with pytest.raises(InputError, match=r"wl-linear: no colour is in 2 of the \d+ graphs .* clusters of numbers"):
        fit(Problem(replace(MUTAG, graphs=own), SPLIT, settings), seed=0)


def test_a_worker_of_a_team_leaves_the_machine_to_the_process_that_takes_over() -> None:
    class OneOfTwo(Team):
        size = 2

    model = fit(problem(), seed=0, team=OneOfTwo()).model
    assert isinstance(model, TwoVoices)
    assert model.machine is None


def test_weights_of_classes_reach_both_voices() -> None:
    for kind in ("balanced", "none"):  # one after the other: a machine of other weights is not shared
        given = problem(tree_folds=0, class_weights=kind)
        machine = fit(given, seed=0).model.machine
        assert isinstance(machine, WLOA)
        options = {"rounds": machine.options.rounds, "svm_penalty": machine.options.svm_penalty}
        alone = fit(Problem(MUTAG, SPLIT, Settings.of("wl-oa", **options, class_weights=kind)), seed=0).model
        batch = next(iter(given.batches(SPLIT.valid))).inputs
        assert torch.equal(machine.run_on_colours(batch), alone.run_on_colours(batch))
    plain = fit(Problem(MUTAG, SPLIT, Settings.of("wl-oa", **options, class_weights="balanced")), seed=0).model
    assert not torch.equal(machine.run_on_colours(batch), plain.run_on_colours(batch))


def test_a_coarse_machine_is_the_linear_one_with_a_coarser_tree() -> None:
    given = problem(tree_machine="wl-linear", tree_coarse=True, tree_folds=0)
    model = fit(given, seed=0).model
    assert isinstance(model, TwoVoices)
    own = {"rounds": model.machine.options.rounds, "svm_penalty": model.svm_penalty}
    said = given.outputs(model.machine, SPLIT.test)[1]
    for coarse in (True, False):
        alone = Problem(MUTAG, SPLIT, Settings.of("wl-linear", coarse=coarse, **own))
        assert torch.equal(alone.outputs(fit(alone, seed=0).model, SPLIT.test)[1], said) == coarse


def test_a_coarser_tree_is_for_linear_machines() -> None:
    with pytest.raises(InputError, match="tree_coarse: is for wl-linear alone, found tree_machine=wl-oa"):
        problem(tree_coarse=True).build()


def test_one_fold_is_refused() -> None:
    with pytest.raises(InputError, match="tree_folds: must be 0, or 2 or more"):
        problem(tree_folds=1).build()


def test_nodes_say_what_colours_say_and_a_folder_keeps_both(tmp_path: Path) -> None:
    trained = train(MUTAG, Settings.of("two-voices", **SIZE, edge_features=True), tmp_path / "run").trained
    again = load_run(tmp_path / "run")
    for before, after in zip(trained.predict(MUTAG.graphs), again.predict(MUTAG.graphs), strict=True):
        assert np.array_equal(before.outputs, after.outputs)
    given = Problem(MUTAG, SPLIT, Settings.of("two-voices", **SIZE, edge_features=True))
    colours = given.collator.batch(np.arange(9))
    plain = Problem(MUTAG, SPLIT, Settings.of("ecc", edge_features=True, num_layers=2)).collator.batch(np.arange(9))
    model = fit(given, seed=0).model.eval()
    with torch.no_grad():
        by_nodes = model(plain.x, plain.edge_index, plain.batch, plain.edge_attr)
        torch.testing.assert_close(model.run_on_colours(colours), by_nodes, rtol=1e-4, atol=1e-5)
        assert not torch.allclose(by_nodes, model.voices()["network"].run_on_colours(colours))


def test_a_run_that_was_killed_goes_on_to_the_same_answer(tmp_path: Path) -> None:
    given = problem()
    whole = fit(given, seed=1)

    class KilledError(Exception):
        pass

    def kill(epoch: object) -> None:
        if epoch.epoch == 2:
            raise KilledError

    with pytest.raises(KilledError):
        fit(given, seed=1, checkpoint=tmp_path / "checkpoint", on_epoch=kill)
    resumed = fit(given, seed=1, checkpoint=tmp_path / "checkpoint")
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, resumed.model.state_dict()[name]), name


def test_what_was_chosen_is_recorded_and_kept(tmp_path: Path) -> None:
    run = train(MUTAG, Settings.of("two-voices", **SIZE, choose_weight=True), tmp_path / "run")
    model, again = run.fitted.model, load_run(tmp_path / "run").model
    assert isinstance(model, TwoVoices)
    assert isinstance(again, TwoVoices)
    assert model.machine is not None
    assert again.machine is not None
    about = json.loads((tmp_path / "run" / "config.json").read_bytes())
    wanted = {
        "rounds": model.machine.options.rounds,
        "svm_penalty": model.svm_penalty,
        "tree_weight": model.tree_weight,
    }
    assert about["chosen"] == run.fitted.chosen == wanted
    assert list(wanted.values()) == [again.machine.options.rounds, again.svm_penalty, again.tree_weight]


def test_a_chosen_weight_is_no_worse_on_validation_items_than_any_fixed_one() -> None:
    chosen = fit(problem(choose_weight=True), seed=0)
    for weight in WEIGHTS:
        assert fit(problem(tree_weight=weight), seed=0).best.valid_metric <= chosen.best.valid_metric


def test_a_target_that_is_always_yes_or_never_known_takes_no_part() -> None:
    y = np.stack([MUTAG.y, np.ones(188), np.full(188, np.nan)], axis=1).astype(np.float32)
    dataset = replace(MUTAG, y=y, task="binary")
    given = Problem(dataset, SPLIT, Settings.of("two-voices", **SIZE))
    model = fit(given, seed=0).model
    assert isinstance(model, TwoVoices)
    assert model.machine is not None
    said = given.outputs(model.machine, SPLIT.valid)[1]
    assert (said[:, 1] == 1).all()
    assert (said[:, 2] == 0).all()
    assert said[:, 0].std() > 0


def test_targets_of_one_class_are_refused_before_the_training() -> None:
    dataset = replace(MUTAG, y=np.zeros(188, np.int64))
    heard: list[object] = []
    with pytest.raises(InputError, match="all training items have the same class"):
        fit(Problem(dataset, SPLIT, Settings.of("two-voices", **SIZE)), seed=0, on_epoch=heard.append)
    assert not heard


def measured() -> Dataset:
    """MUTAG whose nodes carry a measurement each, in three groups by degree; no two are the same."""
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, MUTAG.graphs.num_nodes)
    x = (np.minimum(MUTAG.graphs.degree, 3) + noise)[:, None].astype(np.float32)
    return replace(MUTAG, graphs=replace(MUTAG.graphs, x=x))


def test_the_machine_may_see_clusters_where_the_network_sees_numbers(tmp_path: Path) -> None:
    data, inputs = measured(), {"inputs": "both"}
    settings = Settings.of("two-voices", **SIZE, **inputs, tree_clusters=3)
    given = Problem(data, SPLIT, settings)
    model = fit(given, seed=0).model
    assert isinstance(model, TwoVoices)
    assert model.machine is not None
    chosen = {"rounds": model.machine.options.rounds, "svm_penalty": model.svm_penalty}
    binned = Settings.of("wl-oa", **inputs, binning="k-means", bins=3, **chosen)
    alone = Problem(data, SPLIT, binned)
    wanted = alone.outputs(fit(alone, seed=0).model, SPLIT.valid)[1]
    seen = model.seen_by_machine(given.collator.batch(SPLIT.valid))
    assert torch.equal(model.machine.run_on_colours(seen), wanted)
    without = fit(Problem(data, SPLIT, Settings.of("two-voices", **SIZE, **inputs)), seed=0).model
    for name in WLHN.state_dict(without):
        assert name.startswith("tree_voice.") or torch.equal(model.state_dict()[name], without.state_dict()[name])
    run = train(data, settings, tmp_path / "run").trained
    again = load_run(tmp_path / "run")
    for before, after in zip(run.predict(data.graphs), again.predict(data.graphs), strict=True):
        assert np.array_equal(before.outputs, after.outputs)
    plain = Problem(data, SPLIT, Settings.of("gcn", **inputs, num_layers=2)).collator.batch(SPLIT.valid)
    with torch.no_grad():
        by_nodes = model(plain.x, plain.edge_index, plain.batch)
        by_colours = model.run_on_colours(given.collator.batch(SPLIT.valid))
    torch.testing.assert_close(by_colours, by_nodes, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("numeric", torch.ones(9, dtype=torch.bool), "numeric: must be"),
        ("centres", torch.ones(3, 2, dtype=torch.float64), "centres: must be"),
        ("deviation", torch.zeros(1, dtype=torch.float64), "deviations above 0"),
        ("centres", None, "centres: is missing"),
    ],
)
def test_clusters_that_fit_nothing_are_refused(name: str, wrong: torch.Tensor | None, message: str) -> None:
    settings = Settings.of("two-voices", **SIZE | {"epochs": 1}, inputs="both", tree_clusters=3)
    model = fit(Problem(measured(), SPLIT, settings), seed=0).model
    state = dict(model.state_dict())
    key = f"tree_voice.clusters.{name}"
    assert key in state
    if wrong is None:
        del state[key]
    else:
        state[key] = wrong
    with pytest.raises(InputError, match=message):
        model.load_state_dict(state)


def test_without_numbers_there_is_nothing_to_cluster() -> None:
    clustered, plain = (fit(problem(tree_clusters=clusters), seed=0).model.state_dict() for clusters in (3, 0))
    assert clustered.keys() == plain.keys()
    assert all(torch.equal(clustered[name], part) for name, part in plain.items())


def test_clusters_keep_the_edges_of_their_own_batch() -> None:
    """Graphs with the same codes share a hierarchy, also where their edges carry other numbers."""
    edge_index, x = np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), np.float32([[0.1], [5.2], [0.2]])
    for scale in (1.0, 10.0):
        graphs = Graphs.from_edges(edge_index, edge_attr=np.float32([[1], [1], [2], [2]]) * scale)
        batch = make_quotient(graphs, x, depth=1, edges=True).batch([0])
        clusters = Clusters.fit(torch.from_numpy(x), 2)
        assert clusters is not None
        assert batch.edge_x is not None
        seen = clusters.encode_batch(batch)
        assert seen.edge_x is not None
        torch.testing.assert_close(seen.edge_x, batch.edge_x)
        assert batch.edge_x.max() == 2 * scale


def counted_fits(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The machines that are fitted from now on, none of them known before."""
    monkeypatch.setattr("wlhn.models.machines.shared_fits._last", None)
    fits: list[object] = []
    learn = WLOA.fit_on_colours
    monkeypatch.setattr(WLOA, "fit_on_colours", lambda self, *a, **k: fits.append(self) or learn(self, *a, **k))
    return fits


def test_jobs_of_a_split_share_their_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = counted_fits(monkeypatch)
    one = problem()
    first, second = fit(one, seed=0).model, fit(one.but(Settings.of("two-voices", **SIZE, dropout=0.5)), seed=1).model
    once = 3 * 4 * 5 + 1  # depths 0 to 2, four penalties, five folds; and the one that was chosen
    assert len(fits) == once
    assert isinstance(first, TwoVoices)
    assert isinstance(second, TwoVoices)
    assert torch.equal(first.machine.memory["weight"], second.machine.memory["weight"])
    other = Problem(MUTAG, stratified_folds(MUTAG.y)[1], Settings.of("two-voices", **SIZE))
    third = fit(other, seed=0).model
    assert isinstance(third, TwoVoices)
    alone = fit(problem(), seed=0).model  # fitted anew
    assert len(fits) == 3 * once
    assert isinstance(alone, TwoVoices)
    assert torch.equal(alone.machine.memory["weight"], first.machine.memory["weight"])


def fits_of_two(monkeypatch: pytest.MonkeyPatch, first: Dataset, second: Dataset) -> list[int]:
    """How many machines are fitted for a network on one data set, and then for one on another."""
    fits = counted_fits(monkeypatch)
    counted = []
    for dataset in (first, second):
        fit(Problem(dataset, SPLIT, Settings.of("two-voices", **SIZE, tree_folds=0)), seed=len(counted))
        counted.append(len(fits) - sum(counted))
    return counted


def test_machines_are_shared_although_some_targets_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    y = MUTAG.y.astype(np.float32)[:, None]
    y[SPLIT.train[:3]] = y[SPLIT.valid[0]] = np.nan
    gaps = replace(MUTAG, y=y, task="binary")
    assert fits_of_two(monkeypatch, gaps, gaps) == [3 * 4 + 1, 0]


def test_machines_for_another_number_of_classes_are_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    y = MUTAG.y.copy()
    y[SPLIT.test[0]] = 2  # a class that nobody learns from
    more = replace(MUTAG, y=y, classes=["a", "b", "c"])
    assert fits_of_two(monkeypatch, MUTAG, more) == [3 * 4 + 1] * 2


def test_each_voice_can_be_heard_alone() -> None:
    given = problem(tree_weight=0.3)
    model = fit(given, seed=0).model
    assert isinstance(model, TwoVoices)
    voices = {name: given.outputs(voice, SPLIT.test)[1] for name, voice in model.voices().items()}
    network = fit(Problem(MUTAG, SPLIT, Settings.of("wlhn", **SIZE)), seed=0).model
    assert torch.equal(voices["network"], given.outputs(network, SPLIT.test)[1])
    assert torch.equal(voices["machine"], given.outputs(model.machine, SPLIT.test)[1])
    together = 0.7 * model.network_scale * voices["network"] + 0.3 * model.machine_scale * voices["machine"]
    torch.testing.assert_close(given.outputs(model, SPLIT.test)[1], together)


def test_an_evaluation_says_what_each_voice_scores(tmp_path: Path) -> None:
    candidate = Settings.of("two-voices", **SIZE)
    outcome = Evaluation(MUTAG, [candidate], tmp_path / "e", num_splits=2, final_runs=1).run()
    assert set(outcome.voices) == {"network", "machine"}
    assert read_outcome(tmp_path / "e") == outcome


def test_training_says_what_each_voice_scores(tmp_path: Path) -> None:
    run = train(MUTAG, Settings.of("two-voices", **SIZE), tmp_path / "run", split=SPLIT)
    given, model = Problem(MUTAG, SPLIT, run.trained.settings), run.fitted.model
    assert isinstance(model, TwoVoices)
    items, machine = given.outputs(model.machine, SPLIT.test)
    assert run.about["voices"]["machine"] == pytest.approx((machine.argmax(1).numpy() == MUTAG.y[items]).mean())
    assert set(run.about["voices"]) == {"network", "machine"}


@pytest.mark.parametrize("tree_machine", ["wl-oa", "wl-linear"])
def test_machines_of_other_features_are_not_shared(tree_machine: str) -> None:
    """The hierarchy of scaled features is the same one; what its colours stand for is not."""
    options = SIZE | {"tree_machine": tree_machine, "standardise": False, "inputs": "features"}
    rounded = np.minimum(MUTAG.graphs.degree, 3)[:, None].astype(np.float32)
    scaled = [replace(MUTAG, graphs=replace(MUTAG.graphs, x=scale * rounded)) for scale in (1000, 1)]
    for data in scaled:
        given = Problem(data, SPLIT, Settings.of("two-voices", **options))
        model = fit(given, seed=0).model
        assert isinstance(model, TwoVoices)
        before = given.outputs(model, SPLIT.test)[1]
        again = given.build()
        again.load_state_dict(model.state_dict())
        torch.testing.assert_close(given.outputs(again, SPLIT.test)[1], before, rtol=1e-4, atol=1e-5)


def test_a_regression_is_explained_right_after_training(tmp_path: Path) -> None:
    numbers = replace(
        MUTAG, y=np.diff(MUTAG.graphs.node_ptr).astype(np.float32)[:, None], task="regression", classes=[]
    )
    trained = train(numbers, Settings.of("two-voices", **SIZE), tmp_path / "run").trained
    explanation = explain(trained, numbers.graphs, 3)
    said = next(trained.predict(numbers.graphs)).outputs[3]
    np.testing.assert_allclose(explanation.base + explanation.node.sum(axis=0), said, rtol=1e-4)


def test_its_vectors_have_names() -> None:
    embedder = GraphEmbedder(model="two-voices", hidden_channels=4, num_layers=1, epochs=1).fit(MUTAG.graphs, MUTAG.y)
    assert len(embedder.get_feature_names_out()) == embedder.transform(MUTAG.graphs).shape[1]
