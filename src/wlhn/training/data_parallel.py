"""One training run by several workers: Ray Train starts them, and starts them again when one is lost.

Each worker holds the data set and does `fit` with a part of every batch (`wlhn.training.team`), in torch's process
group (gloo, or nccl between GPUs). The first one writes the run's checkpoint, from which all go on after a loss, and
which at last says all there is to know: `fit` here finds nothing left to do and gives the result. So all workers must
see the run's folder, as Ray Train's own storage asks for too.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from wlhn.errors import InputError
from wlhn.nn.capabilities import FittedInOneGo
from wlhn.training.fit import Fitted, fit
from wlhn.training.network_run import Epoch
from wlhn.training.problem import Problem
from wlhn.training.ray_cluster import connected, import_ray
from wlhn.training.settings import Settings
from wlhn.training.team import DistributedTeam

LOSSES = 5  # of workers that a run survives


def fit_together(
    problem: Problem,
    seed: int,
    checkpoint: Path,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    *,
    workers: int,
    address: str | None = None,
    device: str = "cpu",
) -> Fitted:
    """`fit`, by so many workers on a Ray cluster (see `connected`), each with as many threads as torch has here.

    With the device "cuda" each has a GPU of its own.
    """
    if isinstance(problem.build(), FittedInOneGo):
        raise InputError(
            f"--workers {workers}: {problem.settings.model} is fitted in one go, by one process; leave it out"
        )
    last_told = 0

    def hear(epoch: Epoch) -> None:  # of each epoch once, also where some are done again after a loss
        nonlocal last_told
        if epoch.epoch > last_told:
            last_told = epoch.epoch
            on_epoch(epoch)

    with connected(address), _heard(hear) as tell:
        given = {
            "dataset": [import_ray().put(problem.dataset)],  # in a list the reference itself arrives: a copy a node
            "split": problem.split,
            "settings": problem.settings.to_json(),
            "seed": seed,
            "checkpoint": str(checkpoint.resolve()),
            "threads": torch.get_num_threads(),
            "device": device,
            "tell": tell,
        }
        _train_on_cluster(given, workers)
    return fit(problem, seed, checkpoint, hear)


def _train_on_cluster(given: dict[str, Any], workers: int) -> None:
    """Let so many workers do `_train_part`."""
    ray = import_ray()
    from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
    from ray.train.torch import TorchConfig, TorchTrainer

    on_gpu = given["device"] == "cuda"
    needs = {"CPU": given["threads"]} | ({"GPU": 1} if on_gpu else {})
    for kind, each in needs.items():
        found = int(ray.cluster_resources().get(kind, 0))
        if workers * each > found:
            each_has = f"{each} threads" if kind == "CPU" else "a GPU"
            raise InputError(
                f"workers: {workers} of {each_has} each are more than the cluster's {found} {kind}s; ask for fewer"
            )
    backend = "cpu:gloo,cuda:nccl" if on_gpu else "gloo"  # counts are summed on the CPU in any case
    storage = Path(given["checkpoint"]).parent / ".ray"
    failures = FailureConfig(max_failures=LOSSES)
    trainer = TorchTrainer(
        _train_part,
        train_loop_config=given,
        torch_config=TorchConfig(backend),
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=on_gpu, resources_per_worker=needs),
        run_config=RunConfig(name=storage.name, storage_path=str(storage.parent), failure_config=failures),
    )
    try:
        trainer.fit()
    except TrainingFailedError as error:
        last = str(error).strip().splitlines()[-1]
        raise InputError(
            f"workers: were lost {LOSSES + 1} times, so training was given up (the last time: {last})"
        ) from None
    finally:
        shutil.rmtree(storage, ignore_errors=True)  # Ray's notes; ours are in the checkpoint


def _train_part(given: dict[str, Any]) -> None:
    """What a worker does."""
    import ray

    torch.set_num_threads(given["threads"])
    problem = Problem(ray.get(given["dataset"][0]), given["split"], Settings.from_json(given["settings"]))
    team = DistributedTeam()
    tell = given["tell"] if team.rank == 0 else lambda epoch: None
    with suppress(InputError):  # training broke down, which the checkpoint says too: not to be tried again
        fit(problem, given["seed"], Path(given["checkpoint"]), tell, team=team, device=given["device"])


@contextmanager
def _heard(hear: Callable[[Epoch], None]) -> Iterator[Callable[[Epoch], None]]:
    """A function for workers to call, whose calls arrive here while the block runs."""
    from ray.util.queue import Queue

    queue = Queue(actor_options={"num_cpus": 0})

    def listen() -> None:
        while (epoch := queue.get()) is not None:
            hear(epoch)

    with ThreadPoolExecutor(1, thread_name_prefix="wlhn-epochs") as pool:
        listener = pool.submit(listen)
        try:
            yield queue.put
        finally:
            queue.put(None)
            listener.result()
            queue.shutdown()
