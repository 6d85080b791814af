"""A run on disk: a folder that says what was done and can be used tomorrow, without pickle.

    config.json          data, split, seed, settings, scores: the run in words and numbers
    metrics.jsonl        one line for each epoch
    model.safetensors    the weights
    vocabulary.json      what input features mean to the model
    colours.npz          the WL hierarchy of the training graphs
    environment.json     machine and versions
    README.md            the model card (`wlhn.runs.sharing`)
    learning-curve.svg   (drawn by the caller, as confusion.svg where there are classes)
    checksums.json       written last: the run is finished, and each file is what was written

A finished run is never written over.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save as save_tensors

from wlhn.errors import InputError
from wlhn.files import read_json, replacing, write_json
from wlhn.hierarchy import Hierarchy
from wlhn.runs.documents import checked_config, read_vocabulary
from wlhn.runs.trained import Trained
from wlhn.runs.weights import load_model
from wlhn.training.problem import depth_of
from wlhn.training.provenance import file_hash

CHECKSUMS, CONFIG, MODEL = "checksums.json", "config.json", "model.safetensors"
VOCABULARY, COLOURS = "vocabulary.json", "colours.npz"
FORMAT = 2


def is_run(path: Path) -> bool:
    """Whether a finished run lies here."""
    return (path / CHECKSUMS).is_file()


def save_run(folder: Path, trained: Trained, about: Mapping[str, Any], documents: Mapping[str, Any]) -> None:
    """Write a trained model and further JSON documents to a folder and seal it."""
    if is_run(folder):
        raise InputError(f"{folder}: already holds a finished run; choose another folder")
    for name, document in documents.items():
        write_json(folder / name, document)
    with replacing(folder / MODEL) as draft:
        draft.write_bytes(save_tensors({k: v.contiguous() for k, v in trained.model.state_dict().items()}))
    trained.colours.save(folder / COLOURS)
    write_json(folder / VOCABULARY, trained.vocabulary.to_json())
    write_json(folder / CONFIG, {"format": FORMAT, **about, **trained.to_json()})
    seal(folder)


def seal(folder: Path) -> None:
    """Write down what each file of a finished run is."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    write_json(folder / CHECKSUMS, {path.name: file_hash(path) for path in files if path.name != CHECKSUMS})


def check_run(folder: Path) -> None:
    """Every file of a run is there and is what was written, or an `InputError` names the one that is not."""
    if not is_run(folder):
        raise InputError(f"{folder}: no finished run here; name a folder that `wlhn train` made (it has {CHECKSUMS})")
    digests = read_json(folder / CHECKSUMS, (CONFIG, MODEL, VOCABULARY, COLOURS))
    for name, digest in digests.items():
        if Path(name).name != name or name == "..":
            raise InputError(f"{folder / CHECKSUMS}: {name!r} is not the name of a file of the run")
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: is missing, and part of the run")
        if file_hash(folder / name) != digest:
            raise InputError(f"{folder / name}: damaged, its checksum is not that of {CHECKSUMS}")


def read_config(folder: Path) -> dict[str, Any]:
    """config.json of a run that is whole."""
    check_run(folder)
    config = read_json(folder / CONFIG, ("format",))
    if config["format"] == 1:
        return config | {"settings": _with_older_defaults(config.get("settings"))}
    if config["format"] != FORMAT:
        raise InputError(
            f"{folder / CONFIG}: is in format {config['format']}, and this version reads format {FORMAT}; train again"
        )
    return config


def _with_older_defaults(settings: Any) -> Any:
    """Settings of format 1, in which edges had one length where nothing was said."""
    has_lengths = isinstance(settings, dict) and settings.get("model") in ("wlhn", "two-voices")
    return {"lengths": "fixed"} | settings if has_lengths else settings


def load_run(folder: Path) -> Trained:
    """The trained model of a run folder: its checksums are right, and its files agree with each other.

    A run is data, never trusted: all that is said is checked before anything is made of it.
    """
    config = checked_config(folder / CONFIG, read_config(folder))
    vocabulary = read_vocabulary(folder / VOCABULARY, config.settings)
    colours = Hierarchy.load(folder / COLOURS)
    if colours.depth != (depth := depth_of(config.settings)):
        raise InputError(f"{folder / COLOURS}: must be {depth} deep as the model, is {colours.depth}")
    widths = vocabulary.in_channels, config.out_channels, config.level, vocabulary.edge_channels
    model = load_model(folder / MODEL, config.settings, *widths)
    return Trained(vocabulary=vocabulary, colours=colours, model=model, **vars(config))
