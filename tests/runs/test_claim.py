"""A run folder is one training's: a second one is refused, and so is a foreign folder; names are taken once."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import start, wait_until, wlhn
from tiny import tiny

from wlhn.errors import InputError
from wlhn.files import LOCK, only_writer
from wlhn.runs.claim import CHECKPOINT, claimed
from wlhn.runs.run_folder import check_run, load_run
from wlhn.runs.train import train
from wlhn.training.settings import Settings

SETTINGS = Settings.of(hidden_channels=8, num_layers=2, epochs=3)


def test_of_two_trainings_in_one_folder_the_second_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is undisturbed; after Ctrl-C, which says so, the same command goes on and ends with a whole run."""
    monkeypatch.chdir(tmp_path)
    command = ["train", "MUTAG", "--patience", "100000", "--out", "r", "--epochs"]
    with start(*command, "100000", cwd=tmp_path) as first:
        wait_until((tmp_path / "r" / CHECKPOINT).exists, first)
        second = wlhn(*command, "20", "--seed", "1")
        assert second.code == 2
        assert second.err.startswith(f"error: r: process {first.pid} on ")
        assert second.err.count("\n") == 1
        first.send_signal(signal.SIGINT)
        _, said = first.communicate()
    assert first.returncode == 130
    assert said.endswith("interrupted; run the same command again to continue\n")
    again = wlhn(*command, "5")
    assert again.code == 0, again.err
    load_run(tmp_path / "r")
    assert not [path.name for path in (tmp_path / "r").iterdir() if path.name.startswith(".")]


def test_trainings_without_a_name_never_share_one(tmp_path: Path) -> None:
    command = ("train", "MUTAG", "--epochs", "15", "--json")
    with start(*command, cwd=tmp_path) as one, start(*command, cwd=tmp_path) as other:
        said = [process.communicate() for process in (one, other)]
    assert (one.returncode, other.returncode) == (0, 0), said
    folders = [json.loads(out)["run"] for out, _ in said]
    assert sorted(folders) == ["runs/MUTAG-wlhn-1", "runs/MUTAG-wlhn-2"]
    for folder in folders:
        check_run(tmp_path / folder)


def test_an_interrupted_run_without_a_name_goes_on_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def interrupt(about: str) -> Path:
        with claimed(None, "a", about) as folder:
            (folder / "metrics.jsonl").touch()
            raise KeyboardInterrupt

    for about in ("one", "two", "one"):  # the last one goes on in the first folder
        with pytest.raises(KeyboardInterrupt):
            interrupt(about)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["a-1", "a-2"]
    with only_writer(tmp_path / "runs" / "a-2", "two"), claimed(None, "a", "two") as folder:
        assert folder.name == "a-3"  # who is at work is not disturbed


def test_a_foreign_folder_is_refused_untouched(tmp_path: Path) -> None:
    """One with another tool's config.json and model.safetensors, too."""
    for name in ("config.json", "model.safetensors", "metrics.jsonl"):
        (tmp_path / name).write_text("theirs")
    with pytest.raises(InputError, match="holds files that are not ours"):
        train(tiny(), SETTINGS, tmp_path)
    assert {path.read_text() for path in tmp_path.iterdir()} == {"theirs"}


def test_a_run_killed_between_its_last_two_steps_is_tidied_up(tmp_path: Path) -> None:
    train(tiny(), SETTINGS, tmp_path / "run")
    (tmp_path / "run" / CHECKPOINT).touch()
    (tmp_path / "run" / LOCK).touch()
    with pytest.raises(InputError, match="holds a finished run"):
        train(tiny(), SETTINGS, tmp_path / "run")
    check_run(tmp_path / "run")
    assert not [path.name for path in (tmp_path / "run").iterdir() if path.name.startswith(".")]


def test_a_training_that_was_interrupted_gives_the_same_model(tmp_path: Path) -> None:
    def stop(epoch: Any) -> None:
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tiny(), SETTINGS, tmp_path / "torn", on_epoch=stop)
    train(tiny(), SETTINGS, tmp_path / "torn")
    train(tiny(), SETTINGS, tmp_path / "whole")
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("torn", "whole"))
    assert np.array_equal(np.frombuffer(one, np.uint8), np.frombuffer(other, np.uint8))
