"""Random faults on train, evaluate and reproduce for so many seconds; then all end with the results of a quiet run.

    python tests/soak/soak.py --seconds 3600

A round starts one of the commands and does it some harm: SIGKILL or Ctrl-C at a random moment, files that may not grow
(as on a full disk), a folder without permission to write, or a second start of the same command. At the end each
command is left alone until it is done: its results must be those of the quiet run, bit for bit, without leftovers.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-c", "import sys; from wlhn.cli import main; sys.argv[0] = 'wlhn'; main()"]
GRID = {"settings": {"hidden_channels": 8, "num_layers": 2, "epochs": 30}, "grid": {"learning_rate": [0.01, 0.001]}}
COMMANDS: dict[str, list[str]] = {
    "train": ["train", "MUTAG", "--epochs", "200", "--patience", "200", "--out"],
    "evaluate": ["evaluate", "MUTAG", "--grid", "grid.json", "--splits", "3", "--final-runs", "1", "--out"],
    "reproduce": [
        *("reproduce", "table-graphs", "--dataset", "MUTAG", "--model", "gin", "--model", "wlhn"),
        *("--grid", "grid.json", "--splits", "2", "--final-runs", "1", "--out"),
    ],
}
FAULTS = ("kill", "interrupt", "full disk", "no permission", "second start")


def start(place: Path, command: str, out: str, **more: Any) -> "subprocess.Popen[str]":
    environment = os.environ | {"OMP_NUM_THREADS": "1", "WLHN_CACHE": str(place / "cache")}
    streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*COMMAND, *COMMANDS[command], out], cwd=place, env=environment, **streams, **more)


def small_files() -> None:
    """Files of this process may not grow beyond a few kilobytes; writing more is an error, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = random.choice([0, 1000, 20_000, 60_000])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def harm(place: Path, command: str, fault: str, chance: random.Random) -> list[str]:
    """One round; what each process said at its end."""
    out = place / "torn" / command
    locked = fault == "no permission" and out.is_dir()
    if locked:
        out.chmod(0o500)
    started = [start(place, command, str(out), preexec_fn=small_files if fault == "full disk" else None)]
    if fault == "second start":
        started.append(start(place, command, str(out)))
    try:
        time.sleep(chance.uniform(0.5, 12))
        for process in started:
            if process.poll() is None:
                process.send_signal(signal.SIGINT if fault == "interrupt" else signal.SIGKILL)
        return [process.communicate()[1] for process in started]
    finally:
        if locked:
            out.chmod(0o700)


def numbers(folder: Path) -> dict[str, Any]:
    """All that must be the same: weights, and outcomes without the time they took."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name == "evaluation.json":
            found[name] = {k: v for k, v in json.loads(path.read_bytes()).items() if k != "seconds"}
        elif path.name in ("model.safetensors", "vocabulary.json"):
            found[name] = path.read_bytes()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance, rounds, wrong = random.Random(asked.seed), Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "grid.json").write_text(json.dumps(GRID))
        for command in COMMANDS:
            with start(place, command, str(place / "quiet" / command)) as process:
                said = process.communicate()[1]
            assert process.returncode == 0, said
        end = time.monotonic() + asked.seconds
        while time.monotonic() < end:
            command, fault = chance.choice(list(COMMANDS)), chance.choice(FAULTS)
            rounds[f"{command}, {fault}"] += 1
            for said in harm(place, command, fault, chance):
                if "Traceback" in said:
                    wrong.append(f"{command}, {fault}: {said[-600:]}")
        for command in COMMANDS:
            out = place / "torn" / command
            if not (command == "train" and (out / "checksums.json").exists()):
                process = start(place, command, str(out))
                said = process.communicate()[1]
                if process.returncode == 2 and "--retry-failed" in said:  # jobs that found the disk full
                    COMMANDS[command].insert(-1, "--retry-failed")
                    process = start(place, command, str(out))
                    said = process.communicate()[1]
                if process.returncode:
                    wrong.append(f"{command} does not end well: {said[-600:]}")
            if numbers(out) != numbers(place / "quiet" / command):
                wrong.append(f"{command}: other numbers than those of the quiet run")
            for path in out.rglob("*"):
                if path.name.startswith(".") and command != "train":
                    wrong.append(f"{command}: left {path.relative_to(out)}")
    print(f"{sum(rounds.values())} rounds: " + ", ".join(f"{n} {what}" for what, n in sorted(rounds.items())))
    print("\n".join(wrong) or "the same results as undisturbed, no leftovers, no traceback")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
