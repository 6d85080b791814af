"""Grids of settings: JSON files, the package's own (`paper`, `lean`, `defaults`) or the user's.

A grid has `about` and `leaves_out` (what it says of itself), `settings` (fixed values), `grid` (lists of values, all
combinations of which are tried), and further `settings` and `grid` for some: `levels` for graph or node tasks, `models`
for models by name. What a model has no option for is left out of its combinations; what no model has is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from wlhn.data.dataset import TargetLevel
from wlhn.errors import InputError
from wlhn.models.registry import MODELS
from wlhn.options.network import NetworkOptions
from wlhn.options.option import named_fields
from wlhn.options.training import TrainingOptions
from wlhn.training.settings import Settings, named_options, taken_by

FOLDER = Path(__file__).parent / "grids"
FORM = '{"settings": {OPTION: VALUE}, "grid": {OPTION: [VALUES]}, "levels": {"node": {…}}, "models": {MODEL: {…}}}'
PARTS = ("settings", "grid")


def read_grid(grid: str, model: str, level: TargetLevel, further: Mapping[str, Any] | None = None) -> list[Settings]:
    """All combinations of a grid, by its name or its path, for one model and kind of task.

    Values given in `further` stand in place of the grid's; there, an option that the model does not have is an error.

    >>> len(read_grid("paper", "wlhn", "graph"))
    120
    """
    document = grid_document(grid)
    parts = (document, document.get("levels", {}).get(level, {}), document.get("models", {}).get(model, {}))
    fixed: dict[str, Any] = {}
    varied: dict[str, Any] = {}
    for part in parts:  # the later the more special
        fixed |= part.get("settings", {})
        varied |= part.get("grid", {})
    given = dict(further or {})
    fixed = taken_by(model, fixed) | given
    varied = {name: values for name, values in taken_by(model, varied).items() if name not in given}
    combinations = (dict(zip(varied, values, strict=True)) for values in product(*varied.values()))
    return [Settings.of(model, **fixed | values) for values in combinations]


def grid_document(grid: str) -> dict[str, Any]:
    """The JSON object of a grid, all of whose keys are known."""
    known = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}
    path = known.get(grid, Path(grid))
    if not path.is_file():
        raise InputError(f"--grid {grid}: is not one of {', '.join(known)}, and there is no such file")
    try:
        document = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: is not JSON ({error})") from None
    _check_keys(path, "the grid", document, ("about", "leaves_out", *PARTS, "levels", "models"))
    places = {"the grid": document}
    for name, allowed in (("levels", ("graph", "node")), ("models", MODELS.names())):
        inner = document.get(name, {})
        _check_keys(path, name, inner, allowed)
        places |= {f"{name}, {key}": part for key, part in inner.items()}
    for where, part in places.items():
        if part is not document:
            _check_keys(path, where, part, PARTS)
        for name in PARTS:
            _check_options(path, f"{where}, {name}", part.get(name, {}))
        for name, values in part.get("grid", {}).items():
            if not isinstance(values, list) or not values:
                raise InputError(f"{path}, {where}, {name}: must be a list of values to try, found {values!r}")
    return dict(document)


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
