"""Malformed files for every reader: each must be read or refused by an `InputError`, in bounded time and memory.

    python tests/fuzz/fuzz_readers.py --inputs 10000 --seed 0

A target is a small valid input and the function that reads it; variants of it are made by `harm.py`. Counted are inputs
that were read, that were refused in a sentence, and everything else (any other exception or warning, a NaN that a model
would see, more than a minute of work), of which each leaves a folder that reproduces it. The exit code says whether
there was any of the latter. Not collected by pytest.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harm import harmed
from inputs import INPUTS

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
from tiny import tiny

from wlhn.data import Dataset, load, read_json_splits
from wlhn.data.statistics import statistics
from wlhn.data.vocabulary import Vocabulary
from wlhn.errors import InputError
from wlhn.evaluation.evaluate import Evaluation
from wlhn.evaluation.grids import read_grid
from wlhn.evaluation.outcome import read_outcome
from wlhn.models.registry import MODELS, model_class
from wlhn.options.training import InputOptions
from wlhn.training.settings import Settings

SECONDS = 60  # of the processor: a busy machine is no finding
LIMIT = "256M"


@dataclass(frozen=True)
class Target:
    """What is fuzzed: files that are valid, and what reads them from a folder."""

    name: str
    files: dict[str, bytes]
    read: Callable[[Path], object]


def whole_dataset(path: Path) -> None:
    """Read a data set and look at it as training and `wlhn datasets show` do."""
    dataset = load(path)
    again = load(path, like=dataset.columns)
    for seen in (dataset, again):
        check(seen)


def check(dataset: Dataset) -> None:
    _ = statistics(dataset), dataset.summary
    for split in dataset.splits:
        items = np.concatenate([split.train, split.valid, split.test])
        assert dataset.task == "none" or dataset.labelled[items].all(), "a split holds an item without a target"
    if len(dataset.graphs) and dataset.graphs.num_nodes:
        encoded = Vocabulary.fit(dataset, InputOptions(standardise=True)).encode(dataset.graphs)
        assert np.isfinite(encoded.x).all(), "a model would see a number that is none"


GRID = """{"about": "a grid", "settings": {"epochs": 3}, "grid": {"hidden_channels": [8, 16], "num_layers": [1, 2]},
"levels": {"node": {"settings": {"dropout": 0.5}}}, "models": {"wlhn": {"grid": {"tau": [1.0, 2.0]}}}}"""


def outcome_document() -> bytes:
    """A small evaluation as it is kept."""
    with tempfile.TemporaryDirectory() as place:
        Evaluation(tiny(), [Settings.of(hidden_channels=8, num_layers=1, epochs=1)], Path(place), num_splits=2).run()
        return (Path(place) / "evaluation.json").read_bytes()


TARGETS = [
    Target(name, files, lambda folder, place=place: whole_dataset(folder / place)) for name, place, files in INPUTS
]
TARGETS.append(
    Target(
        "splits.json",
        {"s.json": b'[{"test": [0], "model_selection": [{"train": [1, 2], "validation": [3]}]}]'},
        lambda folder: read_json_splits(folder / "s.json", items=4),
    )
)
TARGETS.append(
    Target("grid.json", {"g.json": GRID.encode()}, lambda folder: read_grid(str(folder / "g.json"), "wlhn", "graph"))
)
TARGETS.append(Target("evaluation.json", {"evaluation.json": outcome_document()}, read_outcome))


def outcome(target: Target, folder: Path) -> str:
    """How one input ended: "read", "refused", or what else happened."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            target.read(folder)
    except InputError as error:
        return "refused" if "\n" not in str(error) and len(str(error)) < 2000 else "a message of many lines"
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "read"


def too_slow(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def fuzz(targets: list[Target], inputs: int, seed: int, kept: Path) -> int:
    """Run so many inputs over the targets; the number of those that were neither read nor refused."""
    totals: Counter[str] = Counter()
    start, started = megabytes(), time.time()
    with tempfile.TemporaryDirectory() as place:
        for target in targets:
            before, counts, began = megabytes(), Counter[str](), time.time()
            whole = written(Path(place) / "in", target.files)
            first = outcome(target, whole)
            assert first == "read", f"{target.name}: the valid input was not read: {first}"
            for k in range(math.ceil(inputs / len(targets))):
                generator = np.random.default_rng([seed, k, *target.name.encode()])
                files, how = harmed(target.files, generator)
                folder = written(Path(place) / "in", files)
                result = outcome(target, folder)
                counts[result if result in ("read", "refused") else "else"] += 1
                if result not in ("read", "refused"):
                    repro = kept / f"{target.name}-{seed}-{k}"
                    shutil.copytree(folder, repro, dirs_exist_ok=True)
                    (repro / "WHY.txt").write_text(f"{how}\n{result}")
            totals += counts
            print(
                f"{target.name:<22} {counts['read']:>6} read {counts['refused']:>6} refused {counts['else']:>4} else  "
                f"{time.time() - began:5.0f} s  peak +{megabytes() - before} MB",
                flush=True,
            )
    count, took = sum(totals.values()), time.time() - started
    sound = (totals["read"] + totals["refused"]) / count
    print(
        f"readers, seed {seed}: {count:,} inputs, {totals['read']:,} read, {totals['refused']:,} refused in a line, "
        f"{totals['else']:,} else; {sound:.2%} sound; {took:.0f} s; peak {megabytes():,} MB ({start:,} at the start)"
    )
    if totals["else"]:
        print(f"what ended otherwise is kept under {kept}")
    return totals["else"]


def written(folder: Path, files: dict[str, bytes]) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="a part of the names of targets")
    parser.add_argument("--keep", type=Path, help="where reproductions go; without it, a new temporary folder")
    arguments = parser.parse_args()
    signal.signal(signal.SIGPROF, too_slow)
    for model in MODELS.names():  # whose imports, not our readers, may warn
        model_class(model)
    kept = arguments.keep or Path(tempfile.mkdtemp(prefix="wlhn-fuzz-"))
    os.environ["WLHN_READ_LIMIT"] = LIMIT
    os.environ["WLHN_CACHE"] = os.devnull  # nothing is cached
    chosen = [target for target in TARGETS if arguments.only is None or arguments.only in target.name]
    sys.exit(1 if fuzz(chosen, arguments.inputs, arguments.seed, kept) else 0)


if __name__ == "__main__":
    main()
