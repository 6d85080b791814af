"""Random faults on train, evaluate and reproduce for so many seconds; all end with the results of a quiet run.

    python tests/soak/soak.py --seconds 3600 --seed 0

In a round one of the commands meets one to three faults (`faults.py`), then it is started once more and left alone. Now
everything must be as after a quiet run: scores, weights and predictions bit for bit, the names of all files, no process
that still runs, nothing half written in the cache or among temporary files. Whatever a command says on the way, it is a
sentence and no traceback. The first difference ends the soak with exit code 1, and its folder is kept.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from faults import Faults, ended, mounted, unmount

import wlhn
from wlhn.data import load
from wlhn.runs.run_folder import load_run

COMMAND = [sys.executable, "-c", "import sys; from wlhn.cli import main; sys.argv[0] = 'wlhn'; main()"]
GRID = {"settings": {"hidden_channels": 8, "num_layers": 1, "epochs": 8}, "grid": {"learning_rate": [0.01, 0.001]}}
COMMANDS: dict[str, list[str]] = {
    "train": ["train", "MUTAG", "--epochs", "30", "--patience", "30", "--set", "hidden_channels=16"],
    "evaluate": ["evaluate", "MUTAG", "--grid", "grid.json", "--splits", "1", "--final-runs", "1", "--jobs", "2"],
    "reproduce": [
        *("reproduce", "table-graphs", "--dataset", "MUTAG", "--model", "wlhn"),
        *("--grid", "grid.json", "--splits", "1", "--final-runs", "1"),
    ],
}
FAULTS = ("kill", "interrupt", "full_disk", "no_permission", "second_start")
TIMES = ("seconds", "pid")  # what may differ between two runs


class DifferenceError(Exception):
    """Something is not as after a quiet run."""


def start(place: Path, command: str, out: Path, before: Callable[[], None] | None = None) -> "subprocess.Popen[str]":
    """Begin a command in a session of its own, by which its processes are known."""

    def prepared() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell starts what it puts into the background deaf to it
        if before is not None:
            before()

    own = {
        "OMP_NUM_THREADS": "1",
        "WLHN_CACHE": str(place / "cache"),
        "TMPDIR": str(place / "tmp"),
        "PYTHONPATH": str(Path(wlhn.__file__).parents[1]),  # the code that looks at the results has made them
    }
    return subprocess.Popen(
        [*COMMAND, *COMMANDS[command], "--out", str(out)],
        cwd=place,
        env=os.environ | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepared,
        start_new_session=True,
    )


def check_said(process: "subprocess.Popen[str]", said: str) -> str:
    """How a process ended, in a word; a command that does not end well says why in a sentence, as its last line.

    A traceback without a line of ours is Python's own: an interrupt before the program has begun, or a worker whose
    parent was killed while it sent the worker what to do.
    """
    code, last = process.returncode, (said.strip().splitlines() or [""])[-1]
    early = last == "KeyboardInterrupt"
    if "Traceback" in said and ("/wlhn/" in said or not (early or code == -signal.SIGKILL)):
        raise DifferenceError(said[-3000:])
    if code in (0, -signal.SIGKILL):
        return "done" if code == 0 else "killed"
    if code == 2 and last.startswith("error: "):
        return "refused in a sentence"
    if early or (code == 130 and "the same command goes on" in last):
        return "interrupted"
    raise DifferenceError(f"exit code {code}: {said[-3000:]!r}")


def alone(processes: list["subprocess.Popen[str]"]) -> None:
    """Wait until no process of these sessions is left."""
    sessions, patience = {process.pid for process in processes}, time.monotonic() + 20
    while left := [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if session(pid) in sessions]:
        if time.monotonic() > patience:
            raise DifferenceError(f"processes that outlived their command: {left}")
        time.sleep(0.05)


def session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def results(out: Path) -> dict[str, Any]:
    """Everything that must be the same: by the names of files, what they hold, without times; and predictions."""
    found: dict[str, Any] = {}
    for path in sorted(path for path in out.rglob("*") if not path.is_dir()):
        if path.suffix == ".json" and path.name != "checksums.json":
            found[str(path.relative_to(out))] = without_times(json.loads(path.read_bytes()))
        elif path.suffix == ".jsonl":
            found[str(path.relative_to(out))] = [without_times(json.loads(line)) for line in path.open()]
        else:
            timed = path.suffix == ".png" or path.name == "checksums.json"  # the checksum of a file with times
            found[str(path.relative_to(out))] = None if timed else path.read_bytes()
    if (out / "model.safetensors").exists():
        found["predictions"] = [part.outputs.tobytes() for part in load_run(out).predict(load("MUTAG").graphs)]
    return found


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def finish(place: Path, command: str, out: Path) -> None:
    """The same command once more, without a fault: it ends well, or it had."""
    process = start(place, command, out)
    said = ended(process)
    finished = command == "train" and "already holds a finished run" in said
    if check_said(process, said) != "done" and not finished:
        raise DifferenceError(f"the same command does not go on: {said[-3000:]}")
    alone([process])


def check_leftovers(place: Path, others: set[Path]) -> None:
    for path in (place / "cache").rglob(".*"):
        raise DifferenceError(f"left in the cache: {path}")
    for path in set((place / "tmp").iterdir()) - others:
        raise DifferenceError(f"left among temporary files: {path}")


def soak(place: Path, seconds: float, seed: int, own_disk: bool) -> None:
    (place / "grid.json").write_text(json.dumps(GRID))
    (place / "tmp").mkdir()
    quiet, took = {}, {}
    for command in COMMANDS:
        began = time.monotonic()
        finish(place, command, place / "out" / command)
        took[command] = time.monotonic() - began
        quiet[command] = results(place / "out" / command)
        print(f"{command}: {took[command]:.0f} s undisturbed, {len(quiet[command])} files and answers", flush=True)
    others = set((place / "tmp").iterdir())  # what libraries keep there
    chance, began = random.Random(seed), time.monotonic()
    faults, ends = Counter[str](), Counter[str]()
    rounds = 0
    while time.monotonic() < began + seconds:
        shutil.rmtree(place / "out")
        if chance.random() < 0.3:
            shutil.rmtree(place / "cache", ignore_errors=True)
        command = chance.choice(list(COMMANDS))
        out, harms = place / "out" / command, Faults(place, chance, own_disk, took[command])
        out.parent.mkdir()
        met = chance.choices(FAULTS, k=chance.randint(1, 3))
        for fault in met:
            there = getattr(harms, fault)(partial(start, place, command, out), out)
            faults[f"{command}, {fault}"] += 1
            for process, said in there:
                ends[f"{fault}: {check_said(process, said)}"] += 1
            alone([process for process, _ in there])
        finish(place, command, out)
        found = results(out)
        for name in sorted(found.keys() | quiet[command].keys()):
            if name not in found or name not in quiet[command] or found[name] != quiet[command][name]:
                raise DifferenceError(f"{command} after {met}: {name} is not as in the quiet run")
        check_leftovers(place, others)
        rounds += 1
        print(f"{time.monotonic() - began:6.0f} s, round {rounds}: {command} after {', '.join(met)}", flush=True)
    for counted in (faults, ends):
        print("\n".join(f"{n:>6} {what}" for what, n in sorted(counted.items())))
    print(f"{rounds} rounds, {sum(faults.values())} faults: results as undisturbed, no leftovers, no traceback")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="wlhn-soak-"))
    own_disk = mounted(place)
    print(f"seed {asked.seed}; {'a small disk' if own_disk else 'a limit on files'} stands for a full one", flush=True)
    try:
        soak(place, asked.seconds, asked.seed, own_disk)
    except DifferenceError as found:
        print(f"{found}\n(kept in {place}{', which is mounted' if own_disk else ''})")
        sys.exit(1)
    if own_disk:
        unmount(place)
    shutil.rmtree(place)


if __name__ == "__main__":
    main()
