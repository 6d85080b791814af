"""Two workers with half a batch each take the steps of one with the whole: gradients, statistics, metrics."""

import multiprocessing
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import psutil
import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st
from running import wlhn
from safetensors.torch import load_file, save_file
from tiny import tiny
from torch import Tensor

from wlhn.batching.quotient import Quotient
from wlhn.data import Dataset, as_dataset
from wlhn.data.splits import Split, stratified_folds
from wlhn.errors import InputError
from wlhn.hierarchy import refine
from wlhn.training.fit import Fitted, _own_randomness, fit
from wlhn.training.network_run import Epoch, NetworkRun
from wlhn.training.problem import Problem
from wlhn.training.settings import Settings
from wlhn.training.team import DistributedTeam, Team, balanced_parts

SMALL = {"hidden_channels": 8, "num_layers": 2, "batch_size": 17}
SETTINGS = Settings.of(**SMALL)  # of 18 graphs: a batch of 17, and one of 1
CASES: dict[str, dict[str, Any]] = {
    "wlhn": {},
    "edges": {"edge_features": True},
    "whitened": {"directions": "whitened", "learn_tau": True, "learn_epsilon": True, "readout": "all"},
    "gin": {"model": "gin"},
    "gcn": {"model": "gcn"},
    "unknown targets": {},
    "nodes": {},
}


def problem(case: str) -> Problem:
    data, y = tiny(), tiny().y
    split = stratified_folds(y, folds=5, holdout=0.25)[0]
    assert len(split.train) == 18
    if case == "edges":
        edges = np.arange(len(data.graphs.neighbour))[:, None] % 2
        data = replace(data, graphs=replace(data.graphs, edge_attr=edges.astype(np.float32)))
    if case == "unknown targets":
        random = np.random.default_rng(0)
        both = np.stack([y, 1 - y], axis=1).astype(np.float32)
        both[random.random(both.shape) < 0.4] = np.nan
        both[split.valid] = np.stack([y, 1 - y], axis=1)[split.valid]
        data = Dataset("tiny", data.graphs, both, "graph", "binary", targets=("a", "b"), inputs=data.inputs)
    if case == "nodes":
        return node_problem()
    return Problem(data, split, Settings.of(**SMALL | CASES[case]))


def node_problem() -> Problem:
    """One graph whose nodes are learned from in batches of 7, where graphs of more than 10 nodes are large."""
    graph = nx.barabasi_albert_graph(60, 2, seed=3)
    y = [int(degree > 3) for _, degree in graph.degree]
    split = Split(np.arange(0, 60, 2), np.arange(1, 60, 4), np.arange(3, 60, 4))
    return Problem(
        as_dataset(graph, y, level="node"), split, Settings.of(**SMALL, whole_graph_nodes=10, nodes_per_batch=7)
    )


def doubled(given: Problem) -> Problem:
    """The same in double precision: where a gradient is 0 but for rounding, Adam makes a step of the rounding."""
    given.collator.x = given.collator.x.astype(np.float64)
    if given.collator.quotient is not None:
        given.collator.quotient.x = given.collator.quotient.x.double()
        if given.collator.quotient.edge_x is not None:
            given.collator.quotient.edge_x = given.collator.quotient.edge_x.double()
    return given


def trained(case: str, team: Team) -> dict[str, Tensor]:
    """State, last gradients and history of a run of three epochs."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _own_randomness(0):
            given = doubled(problem(case))
            assert given.collator.by_nodes == (case == "nodes")
            run = NetworkRun(given, given.build(), 0, None, team)
            for _ in range(3):
                run.next_epoch()
    finally:
        torch.set_default_dtype(before)
    grads = {f"gradient of {name}": p.grad for name, p in run.model.named_parameters() if p.grad is not None}
    history = [[e.train_loss, e.valid_loss, e.valid_metric] for e in run.history]
    return {**run.model.state_dict(), **grads, "history": torch.tensor(history, dtype=torch.float64)}


def one_step(team: Team) -> dict[str, Tensor]:
    """Gradients and statistics of a single step as it is, in single precision."""
    with _own_randomness(0):
        given = problem("wlhn")
        given = Problem(given.dataset, given.split, given.settings.but({"batch_size": 64, "hidden_channels": 64}))
        run = NetworkRun(given, given.build(), 0, None, team)
        run.next_epoch()
    buffers = dict(run.model.named_buffers())
    return buffers | {name: p.grad for name, p in run.model.named_parameters() if p.grad is not None}


def long_problem() -> Problem:
    """One whose epochs take long enough to be killed in."""
    data = tiny(200)
    settings = Settings.of(**SMALL | {"batch_size": 4, "epochs": 5, "dropout": 0.5})
    return Problem(data, stratified_folds(data.y, folds=5, holdout=0.25)[0], settings)


def undivided_problem() -> Problem:
    """One whose batches are too small to have parts, with dropout ahead of BatchNorm."""
    settings = Settings.of(**SMALL | {"model": "gcn", "batch_size": 1, "epochs": 2, "dropout": 0.5})
    return Problem(tiny(), stratified_folds(tiny().y, folds=5, holdout=0.25)[0], settings)


def numbers(fitted: Fitted) -> dict[str, Tensor]:
    history = [[e.train_loss, e.valid_loss, e.valid_metric] for e in fitted.history]
    return {**fitted.model.state_dict(), "history": torch.tensor(history, dtype=torch.float64)}


def worker(rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    wait = timedelta(minutes=10)  # for one that died
    dist.init_process_group("gloo", f"file://{folder}/meet", timeout=wait, rank=rank, world_size=2)
    for case in CASES:
        save_file(trained(case, DistributedTeam()), folder / f"{case} {rank}")
    save_file(one_step(DistributedTeam()), folder / f"one step {rank}")
    save_file(numbers(fit(long_problem(), 3, team=DistributedTeam())), folder / f"long {rank}")
    save_file(numbers(fit(undivided_problem(), 3, team=DistributedTeam())), folder / f"undivided {rank}")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes make of all cases."""
    folder = tmp_path_factory.mktemp("team")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=worker, args=(rank, folder)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    return folder


def test_workers_that_do_the_same_do_not_drift_apart(together: Path) -> None:
    first, second = (load_file(together / f"undivided {rank}") for rank in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def check_same(together: Path, case: str, wanted: dict[str, Tensor], tolerance: float) -> None:
    first, second = (load_file(together / f"{case} {rank}") for rank in range(2))
    assert set(first) == set(wanted)
    for name, tensor in wanted.items():
        assert torch.equal(first[name], second[name]), name  # workers agree to the last bit
        torch.testing.assert_close(
            first[name], tensor, rtol=tolerance, atol=tolerance, msg=lambda text, name=name: f"{name}: {text}"
        )


@pytest.mark.parametrize("case", CASES)
def test_two_workers_end_where_one_does(case: str, together: Path) -> None:
    check_same(together, case, trained(case, Team()), 1e-7)


def test_in_single_precision_a_step_is_the_same_up_to_rounding(together: Path) -> None:
    check_same(together, "one step", one_step(Team()), 1e-5)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=50), st.integers(1, 8))
def test_parts_cover_a_batch_and_are_about_equal_in_work(work: list[int], size: int) -> None:
    parts = balanced_parts(np.array(work), size)
    assert sorted(np.concatenate(parts)) == list(range(len(work)))
    load = [sum(work[k] for k in part) for part in parts]
    assert max(load) - min(load) <= max(work)
    if len(work) >= size:
        assert min(map(len, parts)) >= 1


def test_work_is_what_a_batch_of_the_graph_alone_holds() -> None:
    graphs = tiny().graphs
    hierarchy = refine(graphs, 3)
    quotient = Quotient(hierarchy, torch.ones(hierarchy.num_colours[0], 1))
    for graph, work in enumerate(quotient.work()):
        batch = quotient.batch([graph])
        assert work == sum(batch.num_rows) + sum(len(level.neighbours.index) for level in batch.levels)


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    """A small cluster in use already, whose workers get their share of a busy machine."""
    ray = pytest.importorskip("ray", reason="needs ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")
        ray.init("local", num_cpus=2, object_store_memory=100 * 2**20, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


def command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # gone meanwhile
        return ""


@pytest.mark.usefixtures("ray")
def test_a_worker_killed_in_the_second_epoch_of_five_changes_nothing(together: Path, tmp_path: Path) -> None:
    """Ray Train starts the workers anew, and the numbers are those of an undisturbed run, bit for bit."""
    from wlhn.training.data_parallel import fit_together

    workers: dict[int, set[int]] = {}  # at which epoch who was at work

    def kill(epoch: Epoch) -> None:
        found = [p for p in psutil.Process().children(recursive=True) if "RayTrainWorker" in command_of(p)]
        if not workers:
            found[1].kill()
        workers[epoch.epoch] = {process.pid for process in found}

    fitted = fit_together(long_problem(), 3, tmp_path / "checkpoint", kill, workers=2)
    assert list(workers) == [1, 2, 3, 4, 5]
    assert len(workers[1]) == 2
    assert len(set().union(*workers.values()) - workers[1]) == 2  # two others went on
    found, wanted = numbers(fitted), load_file(together / "long 0")
    assert set(found) == set(wanted)
    for name, tensor in wanted.items():
        assert torch.equal(found[name], tensor), name
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


@pytest.mark.usefixtures("ray")
def test_more_workers_than_the_cluster_has_room_for_are_refused(tmp_path: Path) -> None:
    from wlhn.training.data_parallel import fit_together

    with pytest.raises(InputError, match="workers: 3 of 1 threads each are more than the cluster's 2 CPUs"):
        fit_together(problem("wlhn"), 0, tmp_path / "checkpoint", workers=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "2"], "pip install 'wlhn[ray]'"),
        (["--workers", "2", "--model", "wl-svm"], "--workers 2: wl-svm is fitted in one go"),
        (["--device", "tpu"], "device: must be cpu or cuda, found 'tpu'"),
        (["--address", "here:6379"], "--address here:6379 is that of a Ray cluster"),
    ],
    ids=str,
)
def test_what_cannot_be_is_said_in_one_sentence(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    ran = wlhn("train", "--out", tmp_path / "out", *options)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert message in ran.err
