"""A run in the layout of the Hugging Face hub: weights, a configuration, and a model card in plain words.

The folder is a run folder (`wlhn.runs.run_folder`) with a README.md beside it, so whatever reads runs reads it too.
Nothing leaves the machine unless `push_to_hub` is called.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from string import Template
from typing import Any

from wlhn.errors import InputError
from wlhn.files import read_json, write_json, write_text
from wlhn.plugins import import_extra
from wlhn.runs.run_folder import CHECKSUMS, CONFIG, load_run, read_config, save_run, seal
from wlhn.runs.trained import Trained
from wlhn.training.metrics import METRICS

CARD = "README.md"


def save_pretrained(trained: Trained, folder: Path, about: Mapping[str, Any] | None = None) -> None:
    """Write a trained model with its card to a new folder; `about` is what its config.json says besides."""
    save_run(folder, trained, about or {}, {})
    write_card(folder)


def from_pretrained(folder: Path) -> Trained:
    """What `save_pretrained` wrote, or any run folder; checksums are checked."""
    return load_run(folder)


def write_card(folder: Path) -> Path:
    """Write the model card of a run into its folder, beside the weights."""
    card = model_card(read_config(folder))
    write_text(folder / CARD, card)
    seal(folder)
    return folder / CARD


def push_to_hub(folder: Path, repository: str) -> None:
    """Upload a run with its card to OWNER/NAME on the hub, by the user's own command and account.

    What goes there is the run, as `from_pretrained` reads it; what trackers wrote beside it, and where on this machine
    its data lie, stays here.
    """
    hub = import_extra("huggingface_hub", "push_to_hub: needs huggingface_hub; `pip install 'wlhn[hub]'` brings it")
    write_card(folder)
    names = [CHECKSUMS, *read_json(folder / CHECKSUMS)]
    try:
        api = hub.HfApi()
        api.create_repo(repository, exist_ok=True)
        with _without_path(folder, names) as shared:
            api.upload_folder(repo_id=repository, folder_path=shared, allow_patterns=[escape(name) for name in names])
    except Exception as error:  # no token, no network, a name that is not OWNER/NAME: the package has an error for each
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"push_to_hub: {repository}: {said} (have you run `hf auth login`?)") from error


@contextmanager
def _without_path(folder: Path, names: list[str]) -> Iterator[Path]:
    """The run, or, where it says where its data lie, a copy that does not."""
    config = read_json(folder / CONFIG)
    if config.get("path") is None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="wlhn") as place:
        copy = Path(place)
        for name in names:
            shutil.copyfile(folder / name, copy / name)
        write_json(copy / CONFIG, config | {"path": None})
        seal(copy)
        yield copy


def model_card(config: Mapping[str, Any]) -> str:
    """The card of a run from its config.json: what it is, its data, its scores, and what it is not good for."""
    settings, level = config["settings"], config["level"]
    kinds = {"classification": "classes", "binary": "0/1 targets", "regression": "numbers"}
    kind = kinds.get(config["task"], "vectors")
    classes = f"Classes: {', '.join(map(str, config['classes']))}.\n\n" if config["classes"] else ""
    return Template(Path(__file__).with_name("card.md").read_text(encoding="utf-8")).substitute(
        level=level,
        task=config["task"],
        model=settings["model"],
        kind=kind,
        classes=classes,
        data=_data(config),
        scores=_scores(config),
    )


def _data(config: Mapping[str, Any]) -> str:
    if "data" not in config:
        return "The data were in memory and have no name."
    sizes = ", ".join(f"{count} {part}" for part, count in config["split"].items())
    lines = [f"{config['data']} (hash {config['data_hash']}), {config['level']}s: {sizes}."]
    if unlabelled := config.get("unlabelled"):
        lines.append(f"{unlabelled} {config['level']}s had no target: the model learned from the others.")
    if skipped := config.get("skipped"):
        lines.append(f"{skipped} could not be read and were left out.")
    return "\n".join(lines + [f"Warning: {warning}." for warning in config.get("warnings", ())])


def _scores(config: Mapping[str, Any]) -> str:
    scores = config.get("test_scores")
    if not scores:
        return "Not measured on test items."
    known = {name: value for name, value in scores["metrics"].items() if value is not None}
    lines = [f"On {scores['items']} test {config['level']}s:", "", "| metric | value |", "| --- | ---: |"]
    return "\n".join(lines + [f"| {METRICS[name].name} | {value:.4f} |" for name, value in known.items()])
