"""Grids of settings: JSON files, the package's own (`paper`, `lean`, `fair`, `defaults`) or the user's.

A grid has `about` and `leaves_out` (what it says of itself), `settings` (fixed values), `grid` (lists of values, all
combinations of which are tried) and `together` (lists of objects, each with values that only make sense together: a
learning rate and its weight decay). Parts of the same form stand in place of these for some: `levels` for graph or node
tasks, `featureless` where nodes have no features, `models` for models by name; each may have such parts again. A grid
that is `like` one of ours has what that has, where it does not say otherwise.
What a model has no option for is left out of its combinations; what no model has is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from wlhn.data.dataset import TargetLevel
from wlhn.errors import InputError
from wlhn.files import read_json
from wlhn.models.registry import MODELS
from wlhn.options.checks import check_choice
from wlhn.options.network import NetworkOptions
from wlhn.options.option import named_fields
from wlhn.options.training import TrainingOptions
from wlhn.training.settings import Settings, named_options, taken_by

FOLDER = Path(__file__).parent / "grids"
FORM = (
    '{"like": GRID, "settings": {OPTION: VALUE}, "grid": {OPTION: [VALUES]}, '
    '"together": [[{OPTION: VALUE, OPTION: VALUE}]], '
    '"levels": {"node": {…}}, "featureless": {…}, "models": {MODEL: {…}}}'
)
PARTS = ("settings", "grid", "together", "levels", "featureless", "models")
LARGEST = 100_000  # combinations; each is a training run on each split


def read_grid(
    grid: str,
    model: str,
    level: TargetLevel,
    further: Mapping[str, Any] | None = None,
    featureless: bool = False,
) -> list[Settings]:
    """All combinations of a grid, by its name or its path, for one model and kind of task.

    Values given in `further` stand in place of the grid's; there, an option that the model does not have is an error.

    >>> len(read_grid("paper", "wlhn", "graph"))
    120
    >>> sorted({settings.training.degree for settings in read_grid("fair", "gin", "graph", featureless=True)})
    ['log', 'onehot']
    """
    fixed: dict[str, Any] = {}
    varied: dict[str, Any] = {}
    together: list[list[dict[str, Any]]] = []
    for document in _documents(grid):
        for part in _parts(document, model, level, featureless):  # the later the more special
            fixed |= part.get("settings", {})
            varied |= part.get("grid", {})
            together = part.get("together", together)
    given = dict(further or {})
    axes = [[{name: value} for value in values] for name, values in varied.items()] + together
    axes = [[{k: v for k, v in taken_by(model, choice).items() if k not in given} for choice in axis] for axis in axes]
    if (size := math.prod(map(len, axes))) > LARGEST:
        raise InputError(f"--grid {grid}: has {size:,} combinations, more than {LARGEST:,}; try fewer values")
    combinations = (dict(item for choice in choices for item in choice.items()) for choices in product(*axes))
    every = (Settings.of(model, **taken_by(model, fixed) | values | given) for values in combinations)
    return list(dict.fromkeys(every))


def _documents(grid: str) -> list[dict[str, Any]]:
    """A grid, after the one that it is like."""
    document = grid_document(grid)
    return [*(_documents(document["like"]) if "like" in document else []), document]


def _parts(part: Mapping[str, Any], model: str, level: TargetLevel, featureless: bool) -> Iterator[Mapping[str, Any]]:
    """A part and those in it that are about this."""
    yield part
    inner = [part.get("levels", {}).get(level), part.get("featureless") if featureless else None]
    for each in (*inner, part.get("models", {}).get(model)):
        if each is not None:
            yield from _parts(each, model, level, featureless)


def grid_document(grid: str) -> dict[str, Any]:
    """The JSON object of a grid, all of whose keys are known."""
    known = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}
    path = known.get(grid, Path(grid))
    if not path.is_file():
        raise InputError(f"--grid {grid}: is not one of {', '.join(known)}, and there is no such file")
    document = read_json(path)
    if grid not in known:  # ours are checked by a test: to look at the options of all models imports PyG
        _check_keys(path, "the grid", document, ("about", "leaves_out", "like", *PARTS))
        if "like" in document:
            check_choice(f"{path}, like", document["like"], *known)
        _check_part(path, "the grid", document)
    return document


def _check_part(path: Path, where: str, part: Mapping[str, Any]) -> None:
    _check_options(path, f"{where}, settings", part.get("settings", {}))
    _check_options(path, f"{where}, grid", part.get("grid", {}))
    for name, values in part.get("grid", {}).items():
        _check_list(path, f"{where}, {name}", values, "of values to try")
    if "together" in part:
        _check_list(path, f"{where}, together", part["together"], "of lists")
        for axis in part["together"]:
            _check_list(path, f"{where}, together", axis, "of objects to try")
            for values in axis:
                _check_options(path, f"{where}, together", values)
    inner = {f"{where}, featureless": part["featureless"]} if "featureless" in part else {}
    for name, allowed in (("levels", ("graph", "node")), ("models", MODELS.names())):
        _check_keys(path, f"{where}, {name}", part.get(name, {}), allowed)
        inner |= {f"{where}, {name}, {key}": each for key, each in part.get(name, {}).items()}
    for place, each in inner.items():
        _check_keys(path, place, each, PARTS)
        _check_part(path, place, each)


def _check_list(path: Path, where: str, values: Any, of: str) -> None:
    if not isinstance(values, list) or not values:
        raise InputError(f"{path}, {where}: must be a list {of}, found {values!r}")


def _check_keys(path: Path, where: str, part: Any, known: Iterable[str]) -> None:
    if not isinstance(part, dict):
        raise InputError(f"{path}, {where}: must be an object; a grid has the form {FORM}")
    for key in part:
        if key not in known:
            raise InputError(f"{path}, {where}: '{key}' is not known here; a grid has the form {FORM}")


def _check_options(path: Path, where: str, values: Any) -> None:
    """Every name is an option of some model."""
    if not isinstance(values, dict):
        raise InputError(f"{path}, {where}: must be an object; a grid has the form {FORM}")
    common = named_fields(NetworkOptions) | named_fields(TrainingOptions)
    for name in values:
        if name not in common and not any(name in named_options(model) for model in MODELS.names()):
            raise InputError(f"{path}, {where}: no model has an option '{name}'")
