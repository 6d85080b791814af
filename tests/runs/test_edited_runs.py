"""Runs that were edited and sealed again are refused, by file and field, before anything is made of them.

`make fuzz` does the same by the thousand.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny import tiny

from wlhn.data import load
from wlhn.errors import InputError
from wlhn.runs.run_folder import CHECKSUMS, load_run, seal
from wlhn.runs.train import train
from wlhn.training.settings import Settings


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of a network, of both kinds of machines, and of what is both a network and a machine."""
    place = tmp_path_factory.mktemp("runs")
    train(tiny(), Settings.of(hidden_channels=8, num_layers=2, epochs=2), place / "wlhn")
    for name in ("wl-svm", "wl-oa", "wl-linear"):
        train(tiny(), Settings.of(name, rounds=2), place / name)
    train(tiny(), Settings.of("wl-linear", rounds=1, code="log"), place / "logarithms")
    train(tiny(), Settings.of("two-voices", hidden_channels=8, num_layers=2, epochs=2), place / "two-voices")
    train(load("karate"), Settings.of("neighbourhood-trees", rounds=1, trees=3), place / "neighbourhood-trees")
    return place


@pytest.fixture
def copied(runs: Path, tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: Path(shutil.copytree(runs / name, tmp_path / name))


def refused(folder: Path, message: str) -> None:
    seal(folder)
    with pytest.raises(InputError, match=message) as error:
        load_run(folder)
    assert "\n" not in str(error.value)


DOCUMENTS: list[tuple[str, str, Any, str]] = [  # file, field, value, what is said
    ("config", "settings.num_layers", 10**6, "more than|must be 1000000 deep"),
    ("config", "settings.hidden_channels", 2**46, r"model.safetensors.*must be \(|laid out"),
    ("config", "settings.hidden_channels", 10**30, "laid out"),
    ("config", "settings.hidden_channels", 16, r"model.safetensors, .*: must be \(16"),
    ("config", "settings.model", "gin", "config.json, settings: gin has no option"),
    ("config", "settings.tau", -1.0, "config.json, settings: tau: must be above 0"),
    ("config", "settings", [], "config.json, settings: must be an object"),
    ("config", "out_channels", 3, r"classes: must be a list of 3 names"),
    ("config", "out_channels", "2", "out_channels: must be a whole number"),
    ("config", "out_channels", 2**70, "out_channels: must be a whole number"),
    ("config", "classes", [0], "classes: must be a list of 2 names"),
    ("config", "level", "edge", "level: must be graph or node"),
    ("config", "task", "guess", "task: must be classification, binary"),
    ("config", "targets", [1], "targets 0: must be a text"),
    ("config", "columns", [{"name": "a"}], "columns 0: has no field"),
    ("config", "columns", [{"colour": "red"}], "columns 0: 'colour' is not known here"),
    ("config", "shift", 10**400, "shift: must be a number, or one for each output"),
    ("config", "shift", [0.0] * 5, "shift: must be a number, or 2 of them"),
    ("config", "scale", 0.0, "scale: must be above 0"),
    ("config", "scale", float("nan"), "scale: must be a number"),
    ("config", "format", 7, "is in format 7"),
    ("vocabulary", "columns.width", 2**40, "columns, width: must be 3, as `nodes` has it"),
    ("vocabulary", "columns.known", [[1]] * 3, "known: must be null"),
    ("vocabulary", "nodes.label_values", [3, 1, 2], "label_values: must be rising"),
    ("vocabulary", "nodes.inputs", [], "columns, width: must be 1, as `nodes` has it"),
    ("vocabulary", "nodes", None, "vocabulary.json, nodes: must be an object"),
    ("vocabulary", "nodes.quantiles", {"edges": [[0.5]]}, "quantiles: must be null without numbers"),
    ("vocabulary", "nodes.clusters", {"centres": [], "deviation": []}, "clusters: must be null without numbers"),
    ("vocabulary", "edges", "labels", "edges: must be there if, and only if, the model sees edges"),
]


@pytest.mark.parametrize(("file", "field", "value", "message"), DOCUMENTS, ids=lambda value: str(value)[:30])
def test_documents(copied: Any, file: str, field: str, value: Any, message: str) -> None:
    folder = copied("wlhn")
    path = folder / f"{file}.json"
    document = json.loads(path.read_text())
    *way, last = field.split(".")
    holder = document
    for name in way:
        holder = holder[name]
    holder[last] = value
    path.write_text(json.dumps(document))
    refused(folder, message)


def test_a_million_layers_are_refused_before_one_is_made(copied: Any) -> None:
    """Also where the hierarchy is as deep as the settings say."""
    from wlhn.runs.weights import load_model

    folder = copied("wlhn")
    with pytest.raises(InputError, match="they ask for more than"):
        load_model(folder / "model.safetensors", Settings.of(num_layers=10**6), 3, 2, "graph", 0)


TENSORS: list[tuple[str, str, Callable[[Any], Any], str]] = [  # model, tensor, change, what is said
    ("wlhn", "encoder.weight", lambda t: t[:4].clone(), r"encoder.weight: must be \(8, 3\) of torch.float32"),
    ("wlhn", "encoder.weight", lambda t: t.double(), r"found \(8, 3\) of torch.float64"),
    ("wlhn", "encoder.weight", lambda t: t * torch.nan, "encoder.weight: must be finite"),
    ("wlhn", "encoder.weight", lambda t: None, "encoder.weight: is missing"),
    ("wlhn", "stranger", lambda t: torch.ones(1), "stranger: is not a tensor of this model"),
    ("neighbourhood-trees", "x", lambda t: t[:, :0].clone(), "x: must be"),
    ("neighbourhood-trees", "x", lambda t: None, "x: is missing"),
    ("neighbourhood-trees", "batch", lambda t: t + 2**40, "batch: must be from 0"),
    ("neighbourhood-trees", "batch", lambda t: torch.arange(len(t)), "batch: must rise .* same at both ends"),
    ("neighbourhood-trees", "batch", lambda t: torch.arange(len(t)).flip(0), "batch: must rise"),
    ("neighbourhood-trees", "edge_index", lambda t: t - 1, "edge_index: must be from 0"),
    ("neighbourhood-trees", "edge_index", lambda t: t.T.contiguous(), "edge_index: must be"),
    ("neighbourhood-trees", "y", lambda t: t + 7, "y: must be from 0 to 1"),
    ("neighbourhood-trees", "y", lambda t: t[:-1].clone(), "y: must be"),
    ("neighbourhood-trees", "task", lambda t: t + 9, "task: must be from 0 to 2"),
    ("neighbourhood-trees", "seed", lambda t: t - 1, "seed: must be from 0"),
    ("neighbourhood-trees", "rows", lambda t: t + 1000, "rows: must be from 0"),
    ("neighbourhood-trees", "task", lambda t: t * 0 + 2, "y: must be 20 rows of 2 numbers"),
    ("wl-svm", "task", lambda t: t + 9, "task: must be from 0 to 2"),
    ("wl-svm", "task", lambda t: None, "task: is missing"),
    ("wl-svm", "task", lambda t: t + 1, "classes: is not something"),
    ("wl-svm", "classes", lambda t: t + 50, "classes: must be from 0 to 1, found 50 to 51"),
    ("wl-svm", "classes", lambda t: t.flip(0), "classes: must be two or more, rising"),
    ("wl-svm", "classes", lambda t: t[:1].clone(), "classes: must be two or more"),
    ("wl-svm", "classes", lambda t: None, "classes: is missing"),
    ("wl-svm", "stranger", lambda t: torch.ones(1), "stranger: is not something that a machine remembers"),
    ("wl-svm", "weight", lambda t: t[:, :0].clone(), "weight: must be of one support vector or more"),
    ("wl-svm", "weight", lambda t: t.float(), "weight: must be .* of torch.float64"),
    ("wl-svm", "weight", lambda t: t * torch.inf, "weight: must be finite"),
    ("wl-svm", "weight", lambda t: t[:, 1:].clone(), r"support.ptr: must be \("),
    ("wl-svm", "weight", lambda t: torch.cat([t, t]), r"weight: must be \(1, "),
    ("wl-svm", "intercept", lambda t: torch.cat([t, t]), r"intercept: must be \(1,\)"),
    ("wl-oa", "tree.colour_1", lambda t: t + 10**6, "tree.colour_1: must be numbers from 0 to 2"),
    ("wl-oa", "tree.parents_2", lambda t: t - 1, "tree.parents_2: must be numbers from 0"),
    ("wl-oa", "tree.parents_2", lambda t: t.flip(0), "tree.parents_2: must never fall"),
    ("wl-oa", "tree.parents_2", lambda t: t[:-1].clone(), "tree.ptr_2: must be .* numbers"),
    ("wl-oa", "tree.parents_1", lambda t: t.long(), "tree.parents_1: must be .* of torch.int32"),
    ("wl-oa", "tree.ptr_1", lambda t: t + 1, "tree.ptr_1: must begin with 0"),
    ("wl-oa", "tree.edge_1", lambda t: t + 1, "tree.edge_1: must be numbers from 0 to 0"),
    ("wl-oa", "tree.times_2", lambda t: t * 0, "tree.times_2: must be 1 or more"),
    ("wl-oa", "tree.times_2", lambda t: None, "tree.times_2: is missing"),
    ("wl-oa", "tree.times_3", lambda t: torch.ones(1), "tree.times_3: is not something"),
    ("wl-oa", "tree.edge_values", lambda t: torch.ones(1, 1), "tree.edge_values: is not something"),
    ("wl-oa", "tree.initial_values", lambda t: t[:, :1].clone(), r"tree.initial_values: must be \(3, 3\)"),
    ("wl-oa", "tree.initial_values", lambda t: t[0, 0].clone(), r"tree.initial_values: must be \(0, 3\)"),
    ("wl-oa", "support.colour", lambda t: t + 10**6, "support.colour: must be from 0"),
    ("wl-oa", "support.colour", lambda t: t * 0, "support.colour: must rise in each row"),
    ("wl-oa", "support.ptr", lambda t: t + 1, "support.ptr: must be from 0"),
    ("wl-oa", "support.ptr", lambda t: t.flip(0), "support.ptr: must begin with 0, never fall"),
    ("wl-oa", "support.count", lambda t: -t, "support.count: must be from 1"),
    ("wl-oa", "support.count", lambda t: t[1:].clone(), r"support.count: must be \("),
    ("wl-oa", "support.first", lambda t: t + 1, "support.first: must be where the depths of the tree begin"),
    ("wl-oa", "support.first_unseen", lambda t: t * 2**40, "support.first_unseen: must be where"),
    ("wl-linear", "coefficient", lambda t: t[:, 1:].clone(), r"coefficient: must be \(1, "),
    ("wl-linear", "coefficient", lambda t: t.T.contiguous(), r"coefficient: must be \(1, "),
    ("wl-linear", "tree.colour_2", lambda t: t + 10**6, "tree.colour_2: must be numbers from 0"),
    ("logarithms", "steps", lambda t: torch.ones(3), "steps: is not something"),
    ("wl-linear", "steps", lambda t: None, "steps: is missing"),
    ("wl-linear", "steps", lambda t: -t, "steps: must be from 1"),
    ("wl-linear", "steps", lambda t: t * 2**40, "steps: must be from 1"),
    ("wl-linear", "steps", lambda t: t + 1, r"coefficient: must be \(1, "),
    ("two-voices", "networks.0.encoder.weight", lambda t: t[:4].clone(), r"encoder.weight: must be \(8, 3\)"),
    ("two-voices", "stranger", lambda t: torch.ones(1), "stranger"),
    ("two-voices", "tree_voice.stranger", lambda t: torch.ones(1), "tree_voice.stranger: is not something"),
    ("two-voices", "tree_voice.rounds", lambda t: t * 0 + 3, "tree_voice.rounds: must be from 0 to 2"),
    ("two-voices", "tree_voice.rounds", lambda t: t[None], r"tree_voice.rounds: must be \(\) of torch.int64"),
    ("two-voices", "tree_voice.rounds", lambda t: None, "tree_voice.rounds: is missing"),
    ("two-voices", "tree_voice.machine_scale", lambda t: None, "tree_voice.machine_scale: is missing"),
    ("two-voices", "tree_voice.network_scale", lambda t: -t, "tree_voice.network_scale: must be from 0 to 2981"),
    ("two-voices", "tree_voice.machine_scale", lambda t: t * 1e300, "tree_voice.machine_scale: must be from 0 to 2981"),
    ("two-voices", "tree_voice.machine_scale", lambda t: t.expand(2).clone(), r"scale: must be \(\) of torch.float64"),
    ("two-voices", "tree_voice.classes", lambda t: t + 50, "tree_voice.classes: must be from 0 to 1"),
    ("two-voices", "tree_voice.weight", lambda t: t[:, :0].clone(), "tree_voice.weight: must be of one support vector"),
    ("two-voices", "tree_voice.support.colour", lambda t: t + 10**6, "tree_voice.support.colour: must be from 0"),
]


@pytest.mark.parametrize(("model", "name", "change", "message"), TENSORS)
def test_tensors(copied: Any, model: str, name: str, change: Callable[[Any], Any], message: str) -> None:
    folder = copied(model)
    tensors = load_file(folder / "model.safetensors")
    changed = change(tensors.pop(name, None))
    save_file(tensors | ({} if changed is None else {name: changed}), folder / "model.safetensors")
    refused(folder, f"model.safetensors.*{message}")


def test_a_voice_that_is_missing_is_missed(copied: Any) -> None:
    folder = copied("two-voices")
    tensors = load_file(folder / "model.safetensors")
    network = {name: tensor for name, tensor in tensors.items() if not name.startswith("tree_voice.")}
    save_file(network, folder / "model.safetensors")
    refused(folder, "what two-voices fits after its network is missing")


def test_rounds_without_number_are_refused_at_the_first_that_is_not_there(copied: Any) -> None:
    from wlhn.runs.weights import load_model

    with pytest.raises(InputError, match=r"tree.parents_3: is missing"):
        load_model(copied("wl-oa") / "model.safetensors", Settings.of("wl-oa", rounds=2**47), 3, 2, "graph", 0)


def test_what_was_not_edited_loads(runs: Path) -> None:
    models = {folder.name: load_run(folder).settings.model for folder in runs.iterdir()}
    assert models.pop("logarithms") == "wl-linear"
    assert len(models) == 6
    assert all(name == model for name, model in models.items())


ARRAYS: list[tuple[str, Callable[[Any], Any], str]] = [  # array, change, what is said
    ("colours_2", lambda a: a + 1000, "colours_2: must be numbers from 0"),
    ("colours_1", lambda a: a[::-1], "colours_1: a node's colour must descend"),
    ("colours_1", lambda a: a[:-1], "colours_1: must be .* numbers"),
    ("colours_2", lambda a: None, "colours_2: is missing"),
    ("parents_2", lambda a: a * 0 - 1, "parents_2: must be numbers from 0"),
    ("parents_2", lambda a: a[::-1], "parents_2: must never fall"),
    ("parents_0", lambda a: a.astype(float), "parents_0: must be one row of integers"),
    ("node_ptr", lambda a: a + 1, "node_ptr: must begin with 0"),
    ("ptr_1", lambda a: a[::-1], "ptr_1: must begin with 0"),
    ("colour_2", lambda a: a + 1000, "colour_2: must be numbers from 0"),
    ("edge_1", lambda a: a + 1, "edge_1: must be numbers from 0 to 0"),
    ("times_1", lambda a: a * 0, "times_1: must be 1 or more"),
    ("initial_values", lambda a: a[:1], "initial_values: must be 3 rows"),
    ("meta", lambda a: np.array('{"format": 1, "depth": -1, "start": "given"}'), "meta: must have a depth"),
    ("meta", lambda a: np.array('{"format": 1, "depth": 900, "start": "given"}'), "parents_3: is missing"),
]


@pytest.mark.parametrize(("name", "change", "message"), ARRAYS)
def test_hierarchies(copied: Any, name: str, change: Callable[[Any], Any], message: str) -> None:
    folder = copied("wlhn")
    with np.load(folder / "colours.npz") as file:
        arrays = {key: file[key] for key in file.files}
    changed = change(arrays.pop(name))
    np.savez(folder / "colours.npz", **arrays | ({} if changed is None else {name: changed}))
    refused(folder, f"colours.npz: .*{message}")


def test_a_compressed_hierarchy_is_refused(copied: Any) -> None:
    """Ours are not: what is stored small could be huge."""
    folder = copied("wlhn")
    with np.load(folder / "colours.npz") as file:
        np.savez_compressed(folder / "again.npz", **{key: file[key] for key in file.files})
    (folder / "again.npz").replace(folder / "colours.npz")
    refused(folder, "not compressed")


def test_the_seal_lists_all_that_is_read_and_nothing_outside(copied: Any) -> None:
    folder = copied("wlhn")
    document = json.loads((folder / CHECKSUMS).read_text())
    for name in ("config.json", "model.safetensors", "vocabulary.json", "colours.npz"):
        (folder / CHECKSUMS).write_text(json.dumps({key: value for key, value in document.items() if key != name}))
        with pytest.raises(InputError, match=f"has no field '{name}'"):
            load_run(folder)
    (folder / CHECKSUMS).write_text(json.dumps(document | {"../outside": "0"}))
    with pytest.raises(InputError, match=r"'\.\./outside' is not the name of a file of the run"):
        load_run(folder)
