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

A finished run is never written over. What is read is not trusted: each field of a document is of its type
(`wlhn.documents`), and all of them agree with each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save as save_tensors
from torch import Tensor

from wlhn.data.features import Encoding, Filling
from wlhn.data.vocabulary import Columns, Vocabulary
from wlhn.documents import from_json, is_number
from wlhn.errors import InputError
from wlhn.files import read_json, replacing, write_json
from wlhn.hierarchy import Hierarchy
from wlhn.runs.trained import Trained, TrainedConfig
from wlhn.runs.weights import load_model
from wlhn.training.problem import depth_of
from wlhn.training.provenance import file_hash
from wlhn.training.settings import Settings

CHECKSUMS, CONFIG, MODEL = "checksums.json", "config.json", "model.safetensors"
VOCABULARY, COLOURS = "vocabulary.json", "colours.npz"
FORMAT = 2


def checked_config(where: Path, document: dict[str, Any]) -> TrainedConfig:
    """The fields of config.json, or an `InputError` that names the first that is wrong."""
    shift, scale = (_tensor(f"{where}, {name}", document.get(name)) for name in ("shift", "scale"))
    own = {each.name: document[each.name] for each in fields(TrainedConfig) if each.name in document}
    config = from_json(TrainedConfig, own, where, only_known=True, shift=shift, scale=scale)
    outputs, classified = config.out_channels, config.task == "classification"
    _must(outputs >= 1, f"{where}, out_channels", "1 or more")
    names = outputs if classified else 0
    _must(len(config.classes) == names, f"{where}, classes", f"a list of {names} names")
    known = (0, 1) if classified else (0, outputs)
    _must(len(config.targets) in known, f"{where}, targets", f"a list of names, one for each of {outputs} outputs")
    _must(shift.shape in ((), (outputs,)), f"{where}, shift", f"a number, or {outputs} of them")
    _must(scale.shape == shift.shape, f"{where}, scale", "as many numbers as shift")
    _must(bool((scale > 0).all()), f"{where}, scale", "above 0")
    return config


def _tensor(where: str, given: Any) -> Tensor:
    values = given if isinstance(given, list) else [given]
    _must(all(map(is_number, values)), where, "a number, or one for each output")
    tensor = torch.tensor(given, dtype=torch.float32)
    _must(bool(tensor.isfinite().all()), where, "a number of moderate size")
    return tensor


def read_vocabulary(path: Path, settings: Settings) -> Vocabulary:
    """The vocabulary of a run with these settings."""
    read, training = from_json(Vocabulary, read_json(path), path), settings.training
    _check_encoding(f"{path}, nodes", read.nodes)
    _check_columns(f"{path}, columns", read.columns)
    _check_width(f"{path}, columns", read.nodes, read.columns)
    sees_edges = "there if, and only if, the model sees edges (edge_features in config.json)"
    _must((read.edges is not None) == training.edge_features, f"{path}, edges", sees_edges)
    has_bins = "with bins if, and only if, config.json says so (binning)"
    _must((read.nodes.bins is not None) == (training.binning != "none"), f"{path}, nodes", has_bins)
    _must(read.directed is training.directed, f"{path}, directed", "what config.json says")
    where = f"{path}, edge_columns"
    _must((read.edge_columns is None) == (read.edges is None), where, "there if, and only if, edges are")
    if read.edge_columns is not None:
        _check_columns(where, read.edge_columns)
        labels = read.edge_columns.known is not None and read.edge_columns.width == 1
        _must(labels or read.edges != "labels", f"{where}, known", "the labels that edges have, in one column")
    _must(_rising(read.edge_label_values), f"{path}, edge_label_values", "rising")
    _must(read.edges == "both" or not read.edge_label_values, f"{path}, edge_label_values", "empty")
    for name in ("blocks", "edge_blocks"):
        _must(all(0 <= first < end for first, end in getattr(read, name)), f"{path}, {name}", "pairs of rising places")
    if read.edge_filling is not None:
        width = _check_filling(f"{path}, edge_filling", read.edge_filling)
        filled = read.edge_columns is not None and width == read.edge_columns.width
        _must(filled, f"{path}, edge_filling", "means and gaps of as many columns as edge_columns has")
    return read


def _check_encoding(where: str, nodes: Encoding) -> None:
    _must(sorted(nodes.inputs) in ([], ["label"], ["x"], ["label", "x"]), f"{where}, inputs", "some of label and x")
    _must(_rising(nodes.label_values), f"{where}, label_values", "rising")
    _must(min(nodes.max_degree, *nodes.categories, 0) == 0, where, "without numbers below 0")
    width = 0 if nodes.filling is None else _check_filling(f"{where}, filling", nodes.filling)
    binned = [name for name in ("quantiles", "clusters") if getattr(nodes, name) is not None]
    for name in binned:
        alone = nodes.filling is not None and len(binned) == 1
        _must(alone, f"{where}, {name}", "null without numbers to put into bins, or beside other bins")
    if nodes.quantiles is not None:
        edges = nodes.quantiles.edges
        rising = len(edges) == width and all(map(_rising, edges))
        _must(rising, f"{where}, quantiles", f"{width} lists of rising numbers")
    if nodes.clusters is not None:
        centres, deviation = nodes.clusters.centres, nodes.clusters.deviation
        wide = bool(centres) and all(len(row) == width for row in (*centres, deviation))
        _must(wide, f"{where}, clusters", f"one or more of {width} numbers each")
        _must(all(each > 0 for each in deviation), f"{where}, clusters", "with deviations above 0")


def _check_filling(where: str, filling: Filling) -> int:
    """How many columns it gives, if that makes sense."""
    means, gaps = filling.means, filling.gaps
    inside = _rising(gaps) and all(0 <= gap < len(means) for gap in gaps)
    _must(inside, f"{where}, gaps", f"rising positions from 0 to {len(means) - 1}")
    return len(means) + len(gaps)


def _check_columns(where: str, columns: Columns) -> None:
    width, known = columns.width, columns.known
    _must(width >= 0, f"{where}, width", "0 or more")
    rising = known is None or (len(known) == width and all(map(_rising, known)))
    _must(rising, f"{where}, known", f"null or {width} lists of rising whole numbers")
    for name in ("shift", "scale"):
        _must(len(getattr(columns, name)) in (0, width), f"{where}, {name}", f"nothing, or {width} numbers")
    sound = len(columns.shift) == len(columns.scale) and all(value > 0 for value in columns.scale)
    _must(sound, f"{where}, scale", "above 0, and as many numbers as in shift")


def _check_width(where: str, nodes: Encoding, columns: Columns) -> None:
    """As many columns as the encoding of nodes gives."""
    categories = columns.known is not None
    rows_of_categories = "x" in nodes.inputs and nodes.filling is None
    _must(rows_of_categories or not categories, f"{where}, known", "null, where nodes are not rows of categories")
    least = (1 if categories else len(nodes.label_values)) if "label" in nodes.inputs else 0
    if not nodes.inputs:
        least = nodes.max_degree + 1 if nodes.degree == "onehot" else 1
    if nodes.bins is not None:
        least += sum(nodes.bins.sizes)
    elif nodes.filling is not None:
        least += len(nodes.filling.means) + len(nodes.filling.gaps)
    exact = "x" not in nodes.inputs or nodes.filling is not None
    _must(columns.width == least if exact else columns.width >= least, f"{where}, width", f"{least}, as `nodes` has it")


def _rising(values: Sequence[float]) -> bool:
    return all(a < b for a, b in pairwise(values))


def _must(holds: bool, where: str, wanted: str) -> None:
    if not holds:
        raise InputError(f"{where}: must be {wanted}")


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
    if config["format"] != FORMAT:
        raise InputError(
            f"{folder / CONFIG}: is in format {config['format']}, and this version reads format {FORMAT}; train again"
        )
    return config


def load_run(folder: Path) -> Trained:
    """The trained model of a run folder: its checksums are right, and its files agree with each other.

    A run is data, never trusted: all that is said is checked before anything is made of it.
    """
    config = checked_config(folder / CONFIG, read_config(folder))
    vocabulary = read_vocabulary(folder / VOCABULARY, config.settings)
    colours = Hierarchy.load(folder / COLOURS)
    if colours.depth != (depth := depth_of(config.settings, config.level)):
        raise InputError(f"{folder / COLOURS}: must be {depth} deep as the model, is {colours.depth}")
    widths = vocabulary.in_channels, config.out_channels, config.level, vocabulary.edge_channels
    model = load_model(folder / MODEL, config.settings, *widths)
    return Trained(vocabulary=vocabulary, colours=colours, model=model, **vars(config))
