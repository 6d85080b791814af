"""Trackers hear every epoch and the results; one that is not installed is named in one sentence."""

import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from running import wlhn

from wlhn.data import load
from wlhn.runs.run_folder import load_run
from wlhn.runs.train import train
from wlhn.training.settings import Settings

FAST = ["--epochs", "3", "--hidden-channels", "8", "--num-layers", "1"]


def test_tensorboard_hears_every_epoch(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="needs tensorboardX")
    ran = wlhn("train", "karate", *FAST, "--log", "tensorboard", "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    (events,) = (tmp_path / "run" / "tensorboard").iterdir()
    written = events.read_bytes()
    for name in (b"train_loss", b"valid_metric", b"test_accuracy", b"test_macro-f1"):
        assert name in written
    assert written.count(b"train_loss") == 3
    assert wlhn("predict", tmp_path / "run", "karate", "--out", tmp_path / "said.csv").code == 0


def test_mlflow_keeps_settings_and_numbers_in_a_local_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow", reason="needs mlflow-skinny")
    ran = wlhn("train", "karate", *FAST, "--log", "mlflow", "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    client = mlflow.MlflowClient()
    (run,) = client.search_runs(["0"])
    assert run.data.params["epochs"] == "3"
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert run.data.metrics["test_accuracy"] == pytest.approx(config["test_scores"]["metrics"]["accuracy"])
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    heard = client.get_metric_history(run.info.run_id, "train_loss")
    assert [each.value for each in heard] == [line["train_loss"] for line in lines]


class Recorder(types.ModuleType):
    """Stands in for a tracker's package: called as the real one is, it keeps what it hears."""

    def __init__(self) -> None:
        super().__init__("recorder")
        self.heard: list[tuple[Any, ...]] = []
        self.config = self

    def init(self, **given: Any) -> "Recorder":
        self.heard.append(("init", given))
        return self

    def update(self, values: dict[str, Any]) -> None:
        self.heard.append(("update", values))

    def log(self, values: dict[str, float], step: int) -> None:
        self.heard.append(("log", values, step))

    def finish(self) -> None:
        self.heard.append(("finish",))


def test_wandb_hears_settings_epochs_and_results_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = Recorder()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    ran = wlhn("train", "karate", *FAST, "--log", "wandb", "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    assert [each[0] for each in wandb.heard] == ["init", "update", "log", "log", "log", "log", "finish"]
    assert wandb.heard[0][1] == {"name": "run", "dir": str(tmp_path / "run"), "project": "wlhn"}
    assert wandb.heard[1][1]["epochs"] == 3
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [each[1]["train_loss"] for each in wandb.heard[2:5]] == [line["train_loss"] for line in lines]
    assert [each[2] for each in wandb.heard[2:] if len(each) > 2] == [1, 2, 3, 3]
    assert wandb.heard[5][1]["test_accuracy"] is not None


def test_the_real_wandb_keeps_settings_and_numbers_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    pytest.importorskip("wandb", reason="needs wandb")
    command = [sys.executable, "-m", "wlhn", "train", "karate", *FAST, "--log", "wandb", "--out", str(tmp_path / "run")]
    ran = subprocess.run(command, capture_output=True, text=True)  # it leaves a service behind until the process ends
    assert ran.returncode == 0, ran.stderr
    (kept,) = (tmp_path / "run" / "wandb").glob("offline-run-*/run-*.wandb")
    written = kept.read_bytes()
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    for told in (b"hidden_channels", b"test_macro-f1", *(str(line["train_loss"]).encode() for line in lines)):
        assert told in written, told
    load_run(tmp_path / "run")  # whole, with wandb's files beside it


def test_any_object_that_hears_will_do_in_python_and_is_closed_when_training_fails(tmp_path: Path) -> None:
    class Mine:
        def __init__(self) -> None:
            self.heard: list[str] = []

        def about(self, values: Any) -> None:
            self.heard.append("about")

        def numbers(self, values: Any, step: int) -> None:
            self.heard.append("numbers")
            raise RuntimeError("the tracker is down")

        def close(self) -> None:
            self.heard.append("closed")

    mine = Mine()
    with pytest.raises(RuntimeError, match="the tracker is down"):
        train(load("karate"), Settings.of(epochs=2, hidden_channels=8), tmp_path / "run", log=lambda folder: mine)
    assert mine.heard == ["about", "numbers", "closed"]


def test_evaluate_tells_every_split(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="needs tensorboardX")
    grid = tmp_path / "grid.json"
    grid.write_text(json.dumps({"settings": {"epochs": 1, "hidden_channels": 8, "num_layers": 1}}))
    asked: list[Any] = ["evaluate", "karate", "--protocol", "random-splits", "--splits", "2", "--grid", grid]
    ran = wlhn(*asked, "--out", tmp_path / "out", "--log", "tensorboard")
    assert ran.code == 0, ran.err
    (events,) = (tmp_path / "out" / "tensorboard").iterdir()
    assert b"test_mean" in events.read_bytes()


def test_an_unknown_tracker_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = wlhn("train", "karate", *FAST, "--log", "notebook", "--out", tmp_path / "run")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "--log: must be tensorboard, mlflow or wandb" in ran.err
    monkeypatch.setitem(sys.modules, "wandb", None)
    ran = wlhn("train", "karate", *FAST, "--log", "wandb", "--out", tmp_path / "run")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "pip install 'wlhn[wandb]'" in ran.err


def test_a_tracker_that_cannot_start_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Weights & Biases without an account, or MLflow without its server."""

    class NoAccount:
        @staticmethod
        def init(**_: Any) -> None:
            raise RuntimeError("No API key configured.\nUse `wandb login`.")

    monkeypatch.setitem(sys.modules, "wandb", NoAccount())
    ran = wlhn("train", "karate", *FAST, "--log", "wandb", "--out", tmp_path / "run")
    assert (ran.code, ran.err.splitlines()[-1]) == (
        2,
        "error: --log wandb: it could not be started: No API key configured. Use `wandb login`."
        " (WANDB_MODE=offline needs no account)",
    )
    grid = tmp_path / "grid.json"
    grid.write_text(json.dumps({"settings": {"epochs": 1, "hidden_channels": 8, "num_layers": 1}}))
    asked: list[Any] = ["evaluate", "karate", "--protocol", "random-splits", "--splits", "1", "--grid", grid]
    ran = wlhn(*asked, "--out", tmp_path / "out", "--log", "wandb", "--json")
    assert (ran.code, json.loads(ran.out)["splits"] != []) == (2, True)  # the result is said all the same
    for wrong, said in (("notebook", "must be tensorboard"), ("mlflow", "its package is missing")):
        monkeypatch.setitem(sys.modules, "mlflow", None)
        ran = wlhn(*asked, "--out", tmp_path / "never", "--log", wrong)
        assert (ran.code, said in ran.err, (tmp_path / "never").exists()) == (2, True, False)
