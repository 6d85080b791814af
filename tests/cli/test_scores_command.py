"""What people report, at the command line: train, evaluate, predict and score give the same metrics."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from running import wlhn as run_command
from sklearn.metrics import confusion_matrix, f1_score
from tiny import tiny, write_tu

from wlhn.evaluation.outcome import Outcome, read_outcome

FAST = ["--epochs", "2", "--hidden-channels", "8", "--num-layers", "1"]
CLASS_METRICS = {"accuracy", "balanced-accuracy", "macro-f1", "rocauc", "ap"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    write_tu(folder, tiny(60))
    return folder


@pytest.fixture
def wlhn(monkeypatch: pytest.MonkeyPatch, place: Path) -> Any:
    monkeypatch.chdir(place)
    return run_command


def data(place: Path) -> Path:
    return next(path for path in place.iterdir() if path.is_dir() and list(path.glob("*_A.txt")))


def test_train_predict_and_score_agree(wlhn: Any, place: Path) -> None:
    ran = wlhn("train", data(place), *FAST, "--out", "run")
    assert ran.code == 0, ran.err
    for words in ("Also: balanced accuracy", "macro F1", "ROC-AUC", "average precision", "precision", "recall"):
        assert words in ran.out
    assert "predicted" in Path("run/confusion.svg").read_text()
    assert set(json.loads(Path("run/config.json").read_text())["test_scores"]["metrics"]) == CLASS_METRICS

    said = json.loads(wlhn("predict", "run", data(place), "--out", "said.csv", "--json").out)["scores"]
    shown = wlhn("predict", "run", data(place), "--out", "said.csv").out
    assert "macro F1" in shown
    assert "trained on some of these graphs" in shown
    scored = json.loads(wlhn("score", "run", data(place), "--out", "confusion.svg", "--json").out)
    assert {key: scored[key] for key in said} == said
    assert "<svg" in Path("confusion.svg").read_text()
    again = wlhn("score", "run", data(place)).out
    assert "balanced accuracy" in again
    assert "trained on some of these graphs" in again
    rows = list(csv.DictReader(Path("said.csv").read_text().splitlines()))
    names = [each["name"] for each in said["classes"]]
    true = [names[k] for k in tiny(60).y]
    answers = [row["prediction"] for row in rows]
    assert said["confusion"] == confusion_matrix(true, answers, labels=names).tolist()
    assert said["metrics"]["macro-f1"] == pytest.approx(f1_score(true, answers, average="macro", zero_division=0))


def test_a_stream_is_the_file_and_standard_output_holds_nothing_else(wlhn: Any, place: Path) -> None:
    assert wlhn("train", data(place), *FAST, "--out", "streamed")[0] == 0
    for flags, name in (([], "said.csv"), (["--json"], "said.jsonl")):
        assert wlhn("predict", "streamed", data(place), "--out", name)[0] == 0
        ran = wlhn("predict", "streamed", data(place), "--out", "-", *flags)
        assert ran.code == 0, ran.err
        assert ran.out == Path(name).read_text()
        assert "60 predictions" in ran.err
    assert not Path("-").exists()
    assert len(list(csv.DictReader(io.StringIO(wlhn("predict", "streamed", data(place), "--out", "-").out)))) == 60


def test_the_metric_that_is_chosen_is_selected_by_and_one_that_does_not_fit_is_refused(wlhn: Any, place: Path) -> None:
    ran = wlhn("train", data(place), *FAST, "--metric", "balanced-accuracy", "--class-weights", "balanced", "--json")
    assert ran.code == 0, ran.err
    about = json.loads(ran.out)
    assert about["metric"] == "balanced-accuracy"
    assert about["scores"]["test"] == about["test_scores"]["metrics"]["balanced-accuracy"]
    assert about["scores"]["constant_answer"] == pytest.approx(0.5)
    ran = wlhn("train", data(place), *FAST, "--metric", "r2")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "metric r2: is not for classification targets" in ran.err


def test_evaluate_keeps_every_metric_and_reads_outcomes_without_them(wlhn: Any, place: Path) -> None:
    Path("grid.json").write_text(json.dumps({"settings": {"epochs": 2, "hidden_channels": 8, "num_layers": 1}}))
    asked = ["evaluate", data(place), "--grid", "grid.json", "--splits", "2", "--final-runs", "1", "--out", "scores"]
    ran = wlhn(*asked, "--metric", "macro-f1")
    assert ran.code == 0, ran.err
    assert "Also: accuracy" in ran.out
    outcome = read_outcome(Path("scores"))
    assert outcome.metric == "macro-f1"
    for split in outcome.splits:
        assert split.scores is not None
        assert split.scores[0].metrics["macro-f1"] == split.test_scores[0]
    assert outcome.spread_of("macro-f1") == (outcome.mean, outcome.std)
    document = outcome.to_json()
    assert Outcome.from_json(document, "here") == outcome
    for split in document["splits"]:
        del split["scores"]
    old = Outcome.from_json(document, "here")
    assert old.splits[0].scores is None
    assert old.spread_of("accuracy") is None
    assert old.to_json() == document


def test_one_class_is_warned_of_and_gaps_are_counted(wlhn: Any, place: Path) -> None:
    lines = ["id,group"] + [f"n{k},{'' if k % 3 == 0 else 'same'}" for k in range(30)]
    Path("nodes.csv").write_text("\n".join(lines) + "\n")
    Path("edges.csv").write_text("from,to\n" + "\n".join(f"n{k},n{(k + 1) % 30}" for k in range(30)) + "\n")
    ran = wlhn("train", ".", *FAST, "--role", "group=target", "--out", "alike")
    assert ran.code == 0, ran.err
    assert "Warning: all 12 training nodes have the class same, so there is nothing to learn." in ran.out
    assert "10 nodes have no target" in ran.out
    assert "always answering same, the commonest class of the training nodes, would score 100.0 %" in ran.out
    how = ["--protocol", "random-splits", "--splits", 1, "--final-runs", 1, "--grid", "defaults"]
    ran = wlhn("evaluate", ".", *FAST, "--role", "group=target", *how, "--out", "scored")
    assert ran.code == 0, ran.err
    assert "Warning: all 20 nodes have the class same, so there is nothing to learn." in ran.err
    assert wlhn("predict", "alike", ".", "--out", "alike.csv")[0] == 0
    assert len(Path("alike.csv").read_text().splitlines()) == 31
