"""Grids of settings: JSON files, the package's own (`paper`, `lean`) or the user's.

A grid has `about` and `leaves_out` (what it says of itself), `settings` (fixed values), `grid` (lists of values, all
combinations of which are tried), and further `settings` and `grid` for some: `levels` for graph or node tasks, `models`
for models by name. Options that a model does not take are left out of its combinations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, Literal

from wlhn.errors import InputError
from wlhn.models.registry import COMMON, check_options, registered
from wlhn.models.settings import ModelSettings
from wlhn.training.settings import Settings

FOLDER = Path(__file__).parent / "grids"


def read_grid(
    grid: str, model: str, level: Literal["graph", "node"], further: Mapping[str, Any] | None = None
) -> list[Settings]:
    """All combinations of a grid, by its name or its path, for one model and kind of task.

    Values given in `further` stand in place of the grid's; there, an option that the model does not take is an error.

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
    for name, values in varied.items():
        if not isinstance(values, list) or not values:
            raise InputError(f"grid {grid}, {name}: expected a list of values, found {values!r}")
    options = set(ModelSettings.__dataclass_fields__) - set(COMMON) - set(registered(model).options)
    varied = {name: values for name, values in varied.items() if name not in options}
    fixed = {name: value for name, value in fixed.items() if name not in options}
    given = dict(further or {})
    fixed, varied = fixed | given, {name: values for name, values in varied.items() if name not in given}
    combinations = (dict(zip(varied, values, strict=True)) for values in product(*varied.values()))
    candidates = [Settings.from_json({"model": model} | fixed | values) for values in combinations]
    check_options(candidates[0])
    return candidates


def grid_document(grid: str) -> dict[str, Any]:
    """The JSON object of a grid."""
    known = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}
    path = known.get(grid, Path(grid))
    if not path.is_file():
        raise InputError(f"grid {grid}: neither a known grid nor a file, expected {' or '.join(known)} or a path")
    try:
        document = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: expected JSON ({error})") from None
    if not isinstance(document, dict) or not isinstance(document.get("grid", {}), dict):
        raise InputError(f'{path}: expected {{"settings": {{…}}, "grid": {{field: [values]}}}}')
    return document
