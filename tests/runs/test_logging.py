"""Trackers hear every epoch and the results; one that is not installed is named in one sentence."""

import json
from pathlib import Path
from typing import Any

import pytest
from running import wlhn

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
    import sys

    monkeypatch.setitem(sys.modules, "wandb", None)
    ran = wlhn("train", "karate", *FAST, "--log", "wandb", "--out", tmp_path / "run")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "pip install wlhn[wandb]" in ran.err
