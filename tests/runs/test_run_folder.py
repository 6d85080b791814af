"""Runs on disk: what is loaded predicts as what was saved; damage, full disks and second runs are refused."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny import tiny

from wlhn.data.readers.ogb import ogb_score
from wlhn.errors import InputError
from wlhn.files import read_json, write_json
from wlhn.runs import trained as trained_module
from wlhn.runs.run_folder import CONFIG, check_run, load_run, seal
from wlhn.runs.train import TrainedRun, train
from wlhn.training.metrics import average_precision, roc_auc
from wlhn.training.settings import Settings

SETTINGS = Settings.of(hidden_channels=8, num_layers=2, epochs=3)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TrainedRun]:
    folder = tmp_path_factory.mktemp("runs") / "one"
    return folder, train(tiny(), SETTINGS, folder)


def test_a_loaded_run_predicts_as_the_saved_one(finished: tuple[Path, TrainedRun]) -> None:
    folder, run = finished
    graphs = tiny(20, seed=7).graphs
    for a, b in zip(run.trained.predict(graphs, chunk=7), load_run(folder).predict(graphs, chunk=7), strict=True):
        assert np.array_equal(a.outputs, b.outputs)
        assert a.unseen == b.unseen
    chunks = np.concatenate([part.outputs for part in run.trained.predict(graphs, chunk=3)])
    (whole,) = run.trained.predict(graphs)
    np.testing.assert_allclose(chunks, whole.outputs, atol=1e-6)


def test_every_flipped_byte_is_found(finished: tuple[Path, TrainedRun]) -> None:
    folder, _ = finished
    files = sorted(folder.iterdir())
    assert {"config.json", "metrics.jsonl", "model.safetensors", "vocabulary.json", "environment.json"} < {
        file.name for file in files
    }
    for file in files:
        content = file.read_bytes()
        for place in (0, len(content) // 2, len(content) - 2):
            file.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
            with pytest.raises(InputError, match=r"damaged|missing"):
                load_run(folder)
        file.write_bytes(content)
    check_run(folder)


def test_a_finished_run_is_never_written_over(finished: tuple[Path, TrainedRun]) -> None:
    folder, _ = finished
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(InputError, match="holds a finished run"):
        train(tiny(), SETTINGS, folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    with pytest.raises(InputError, match="no finished run"):
        load_run(folder.parent)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB, or a skip where mounting one is not allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_old_results_whole(small_disk: Path) -> None:
    write_json(small_disk / "old.json", {"score": 1})
    with pytest.raises(OSError, match="No space left") as error:
        train(tiny(), Settings.of(hidden_channels=64, num_layers=3, epochs=2), small_disk / "run")
    assert str(small_disk) in str(error.value.filename)
    assert (small_disk / "old.json").read_text() == '{\n  "score": 1\n}\n'
    with pytest.raises(InputError, match="no finished run"):
        load_run(small_disk / "run")


def test_a_disk_that_fills_up_later_leaves_old_results_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above where no disk can be mounted: syncing fails."""
    write_json(tmp_path / "old.json", {"score": 1})

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as error:
        write_json(tmp_path / "old.json", {"score": 2})
    assert error.value.filename == str(tmp_path / "old.json")
    assert [file.name for file in tmp_path.iterdir()] == ["old.json"]
    assert "1" in (tmp_path / "old.json").read_text()


def test_scores_of_many_tasks_are_those_of_ogb() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, (200, 1)).astype(float)
    outputs = random.random((200, 1)) + 0.3 * y
    assert roc_auc(y, outputs) == pytest.approx(ogb_score("ogbg-molhiv", y, outputs)["rocauc"])
    many = random.integers(0, 2, (200, 128)).astype(float)
    many[random.random(many.shape) < 0.3] = np.nan
    scores = random.random(many.shape)
    assert average_precision(many, scores) == pytest.approx(ogb_score("ogbg-molpcba", many, scores)["ap"])


def test_a_model_without_colours_never_refines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    real = trained_module.refine

    def counted(graphs: Any, depth: int, *rest: Any) -> Any:
        rounds.append(depth)
        return real(graphs, depth, *rest)

    monkeypatch.setattr(trained_module, "refine", counted)
    for model in ("wlhn", "mlp"):
        train(tiny(), Settings.of(model, hidden_channels=4, num_layers=2, epochs=1), tmp_path / model)
        assert sum(len(part.outputs) for part in load_run(tmp_path / model).predict(tiny().graphs)) == len(tiny())
    assert rounds == [2, 0]


def test_a_run_that_does_not_speak_of_lengths_has_edges_of_one_length(tmp_path: Path) -> None:
    folder = tmp_path / "older"
    run = train(tiny(), SETTINGS.but({"lengths": "fixed", "epochs": 1}), folder)
    config = read_json(folder / CONFIG)
    del config["settings"]["lengths"]
    write_json(folder / CONFIG, config | {"format": 1})
    seal(folder)
    (said,), (again,) = run.trained.predict(tiny().graphs), load_run(folder).predict(tiny().graphs)
    assert np.array_equal(said.outputs, again.outputs)
