"""A run on disk: a folder that says what was done and can be used tomorrow, without pickle.

    config.json          data, split, seed, settings, scores: the run in words and numbers
    metrics.jsonl        one line for each epoch
    model.safetensors    the weights
    vocabulary.json      what input features mean to the model
    colours.npz          the WL hierarchy of the training graphs
    environment.json     machine and versions
    learning-curve.png   (drawn by the caller)
    checksums.json       written last: the run is finished, and each file is what was written

A finished run is never written over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from wlhn.data.dataset import Column
from wlhn.data.vocabulary import Vocabulary
from wlhn.errors import InputError
from wlhn.files import replacing, write_json
from wlhn.hierarchy import Hierarchy
from wlhn.models.registry import build_model
from wlhn.runs.trained import Trained
from wlhn.training.provenance import file_hash
from wlhn.training.settings import Settings

CHECKSUMS, CONFIG, MODEL, VOCABULARY, COLOURS = (
    "checksums.json",
    "config.json",
    "model.safetensors",
    "vocabulary.json",
    "colours.npz",
)
FORMAT = 1


def is_run(path: Path) -> bool:
    """Whether a finished run lies here."""
    return (path / CHECKSUMS).is_file()


def save_run(folder: Path, trained: Trained, about: Mapping[str, Any], documents: Mapping[str, Any]) -> None:
    """Write a trained model and further JSON documents to a folder and seal it."""
    if is_run(folder):
        raise InputError(f"{folder}: holds a finished run, expected a new folder")
    for name, document in documents.items():
        write_json(folder / name, document)
    with replacing(folder / MODEL) as draft:
        draft.write_bytes(save_tensors({k: v.contiguous() for k, v in trained.model.state_dict().items()}))
    trained.colours.save(folder / COLOURS)
    write_json(folder / VOCABULARY, trained.vocabulary.to_json())
    write_json(
        folder / CONFIG,
        {
            "format": FORMAT,
            **about,
            "settings": trained.settings.to_json(),
            "level": trained.level,
            "task": trained.task,
            "classes": list(trained.classes),
            "targets": list(trained.targets),
            "out_channels": trained.out_channels,
            "columns": [asdict(column) for column in trained.columns],
            "shift": trained.shift.tolist(),
            "scale": trained.scale.tolist(),
        },
    )
    seal(folder)


def seal(folder: Path) -> None:
    """Write down what each file of a finished run is."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    write_json(folder / CHECKSUMS, {path.name: file_hash(path) for path in files if path.name != CHECKSUMS})


def check_run(folder: Path) -> None:
    """Every file of a run is there and is what was written, or an `InputError` names the one that is not."""
    if not is_run(folder):
        raise InputError(f"{folder}: no finished run here, expected a folder that `wlhn train` made ({CHECKSUMS})")
    for name, digest in _read_json(folder / CHECKSUMS).items():
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: missing, expected it as part of the run")
        if file_hash(folder / name) != digest:
            raise InputError(f"{folder / name}: damaged, its checksum is not that of {CHECKSUMS}")


def read_config(folder: Path) -> dict[str, Any]:
    """config.json of a run that is whole."""
    check_run(folder)
    config = _read_json(folder / CONFIG)
    if config.get("format") != FORMAT:
        raise InputError(f"{folder / CONFIG}: written in format {config.get('format')}, expected {FORMAT}")
    return config


def load_run(folder: Path) -> Trained:
    """The trained model of a run folder, after its checksums were checked."""
    config = read_config(folder)
    settings = Settings.from_json(config["settings"])
    vocabulary = Vocabulary.from_json(_read_json(folder / VOCABULARY))
    channels = vocabulary.in_channels, config["out_channels"], config["level"], vocabulary.edge_channels
    model = build_model(settings.model, settings.options, *channels)
    model.load_state_dict(load_tensors((folder / MODEL).read_bytes()))
    return Trained(
        settings=settings,
        vocabulary=vocabulary,
        colours=Hierarchy.load(folder / COLOURS),
        level=config["level"],
        task=config["task"],
        classes=tuple(config["classes"]),
        targets=tuple(config["targets"]),
        out_channels=config["out_channels"],
        columns=tuple(Column(**column | {"values": tuple(column["values"])}) for column in config["columns"]),
        shift=torch.tensor(config["shift"]),
        scale=torch.tensor(config["scale"]),
        model=model,
    )


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: damaged, expected JSON ({error})") from None
