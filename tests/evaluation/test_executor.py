"""Jobs on a real Ray cluster of two nodes: nodes, workers and drivers are killed, and the numbers stay the same."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from running import HANGS, start, wait_until, wlhn
from tiny import tiny, write_tu

from wlhn.errors import InputError
from wlhn.evaluation.evaluate import Evaluation
from wlhn.evaluation.executor import Workers, _run_here
from wlhn.evaluation.jobs import Shared, Started
from wlhn.training.settings import Settings

GRID = {
    "settings": {"hidden_channels": 8, "num_layers": 2, "batch_size": 16, "epochs": 20, "dropout": 0.5},
    "grid": {"learning_rate": [0.01, 0.001]},
}
SMALL = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
JOBS = 12  # 4 folds × (2 candidates + 1 final run)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one CPU each, and a head that does no jobs; a dead node is noticed within seconds."""
    cluster_utils = pytest.importorskip("ray.cluster_utils", reason="needs ray")
    health = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 300}
    head = SMALL | {"num_cpus": 0, "_system_config": health}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # workers get their share of a busy machine
        cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
        for _ in range(2):
            cluster.add_node(num_cpus=1, **SMALL)
        yield cluster
        cluster.shutdown()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, a grid, and what a local evaluation makes of them."""
    place = tmp_path_factory.mktemp("cluster")
    write_tu(place, tiny(60))
    (place / "grid.json").write_text(json.dumps(GRID))
    ran = wlhn(*arguments(place, "local"))
    assert ran.code == 0, ran.err
    return place


def arguments(place: Path, out: str) -> list[str]:
    command = ["evaluate", str(place / "TINY"), "--grid", str(place / "grid.json"), "--final-runs", "1"]
    return [*command, "--splits", "4", "--out", str(place / out), "--json"]


def started(place: Path, out: str, cluster: Any) -> AbstractContextManager[subprocess.Popen[str]]:
    return start(*arguments(place, out), "--executor", "ray", "--address", cluster.address)


def done(out: Path) -> int:
    return len(list((out / "jobs").glob("[!.]*.json")))


def are_done(out: Path, results: int) -> bool:
    return done(out) >= results


def at_work(*nodes: Any) -> list[psutil.Process]:
    """The processes that do a job on these nodes now."""
    found = []
    for raylet in (info.process.pid for node in nodes for info in node.all_processes["raylet"]):
        for process in psutil.Process(raylet).children(recursive=True):
            try:
                if "ray::_run_here" in " ".join(process.cmdline()):
                    found.append(process)
            except psutil.Error:  # gone meanwhile
                continue
    return found


def held_at_work(node: Any) -> bool:
    """Stop this node's processes in the middle of a job, which then cannot end before the node does."""
    held = False
    for process in at_work(node):
        with contextlib.suppress(psutil.Error):  # gone meanwhile
            process.suspend()
            if process in at_work(node):
                held = True
            else:  # the job ended just before
                process.resume()
    return held


def kept(out: Path) -> dict[str, Any]:
    """All results of an evaluation, without when and where they were made."""
    documents = {
        path.name: json.loads(path.read_bytes()) for path in [out / "evaluation.json", *(out / "jobs").glob("[!.]*")]
    }
    return {name: {k: v for k, v in d.items() if k not in ("seconds", "machine")} for name, d in documents.items()}


def test_a_node_is_killed_in_the_middle(cluster: Any, place: Path) -> None:
    out = place / "node killed"
    with started(place, out.name, cluster) as driver:
        wait_until(partial(are_done, out, 2), driver)
        node = list(cluster.worker_nodes)[-1]
        while not held_at_work(node):
            assert done(out) < JOBS
        cluster.remove_node(node, allow_graceful=False)
        cluster.add_node(num_cpus=1, **SMALL)  # which may help
        found, errors = driver.communicate(timeout=HANGS)
    assert driver.returncode == 0, errors
    assert "node it was running on is dead" in errors  # it took a job with it
    assert len(json.loads(found)["splits"]) == 4  # JSON alone, whatever Ray had to say
    assert kept(out) == kept(place / "local")


def test_kills_at_random_moments_lose_no_job_and_double_none(cluster: Any, place: Path) -> None:
    out, random = place / "killed at random", np.random.default_rng(0)
    for results, kill_driver in ((1, True), (6, False)):
        with started(place, out.name, cluster) as driver:
            for k in range(2):
                wait_until(partial(are_done, out, results + k), driver)
                time.sleep(random.uniform(0, 0.05))
                for process in random.permutation(at_work(*cluster.worker_nodes))[:1]:
                    with contextlib.suppress(psutil.Error):  # gone meanwhile
                        process.kill()
            if kill_driver:
                driver.kill()
            _, errors = driver.communicate(timeout=HANGS)
        assert driver.returncode == (-9 if kill_driver else 0), errors
        assert (done(out) < JOBS) == kill_driver
    assert len(kept(out)) == 1 + JOBS
    assert kept(out) == kept(place / "local")


def test_a_node_with_other_code_is_refused(tmp_path: Path) -> None:
    """Its refusal fails the jobs it was given, and the table with them, in one sentence."""

    class OtherNode(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            try:
                future.set_result(_run_here("0.0.0", fn, *args, **kwargs))
            except InputError as error:
                future.set_exception(error)
            return future

    class OtherWorkers(Workers):
        def started(self, shared: Shared) -> Any:
            return nullcontext(Started(OtherNode(), shared, 1))

    said = r"10 of 10 jobs failed, the first because .* has wlhn .*, but the jobs come from 0\.0\.0"
    with pytest.raises(InputError, match=said):
        Evaluation(tiny(60), [Settings.of(epochs=1)], tmp_path / "out", final_runs=1, workers=OtherWorkers()).run()


def test_an_address_where_nobody_answers_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs ray")
    ran = wlhn("evaluate", "MUTAG", "--out", tmp_path / "out", "--executor", "ray", "--address", "127.0.0.1:1")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "--address 127.0.0.1:1: must be HOST:PORT of a Ray cluster" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--executor", "ray"], "Ray is not installed; install it here and on each node (pip install 'wlhn[ray]')"),
        (["--executor", "slurm"], "--executor: must be local or ray"),
        (["--executor", "ray", "--jobs", "2"], "--jobs has no effect with --executor ray"),
        (["--address", "here:6379"], "--address here:6379 is that of a Ray cluster; add --executor ray"),
    ],
    ids=str,
)
def test_what_cannot_be_is_said_in_one_sentence(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    ran = wlhn("evaluate", "MUTAG", "--out", tmp_path / "out", *options)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
