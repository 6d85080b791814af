"""Grids of settings: JSON files, the package's own (`paper`, `lean`, `fair`, `wide`, `defaults`) or the user's.

A grid has `about` and `leaves_out` (what it says of itself), `settings` (fixed values), `grid` (lists of values, all
combinations of which are tried) and `together` (lists of objects, each with values that only make sense together: a
learning rate and its weight decay). Parts of the same form are for some: `levels` for graph or node tasks,
`featureless` where nodes have no features, `models` for models by name; each may have such parts again. A grid that is
`like` one of ours has what that has. What a part says of an option stands in place of all that was said of it before,
in whatever form. What a model has no option for is left out of its combinations; what no model has is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from wlhn.data.dataset import TargetLevel
from wlhn.documents import from_json
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
LARGEST = 100_000  # combinations; each is a training run on each split


@dataclass(frozen=True)
class Part:
    """What is to be tried, for all, and in inner parts for some."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    together: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    levels: Mapping[TargetLevel, Part] = field(default_factory=dict)
    featureless: Part | None = None
    models: Mapping[str, Part] = field(default_factory=dict)

    def about_these(self, model: str, level: TargetLevel, featureless: bool) -> Iterator[Part]:
        """This part and those in it for such a model and task, the later the more special."""
        yield self
        for part in (self.levels.get(level), self.featureless if featureless else None, self.models.get(model)):
            if part is not None:
                yield from part.about_these(model, level, featureless)

    def check_names(self, where: object) -> None:
        """Every model is known, and every option is one of some model's."""
        common = named_fields(NetworkOptions) | named_fields(TrainingOptions)
        together = (name for axis in self.together for values in axis for name in values)
        for name in (*self.settings, *self.grid, *together):
            if name not in common and not any(name in named_options(model) for model in MODELS.names()):
                raise InputError(f"{where}: no model has an option '{name}'")
        for axis in (*self.grid.values(), *self.together):
            if not axis:
                raise InputError(f"{where}: a list in `grid` or `together` is empty; give values to try")
        for model in self.models:
            check_choice(f"{where}, models", model, *MODELS.names())
        for part in (*self.levels.values(), self.featureless, *self.models.values()):
            if part is not None:
                part.check_names(where)


@dataclass(frozen=True)
class Grid(Part):
    """A whole grid, and what it says of itself."""

    about: str = "a file of the user."
    leaves_out: str = "not said."
    like: str | None = None


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
    >>> {settings.training.degree for settings in read_grid("fair", "gin", "graph", featureless=True)}
    {'auto'}
    """
    fixed: dict[str, Any] = {}
    varied: dict[str, Any] = {}
    together: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    for document in _after_what_it_is_like(grid):
        for part in document.about_these(model, level, featureless):
            again = {*part.settings, *part.grid, *(name for axis in part.together for each in axis for name in each)}
            fixed = _without(again, fixed) | dict(part.settings)
            varied = _without(again - {*part.grid}, varied) | dict(part.grid)  # in the order of before
            together = (*(tuple(_without(again, each) for each in axis) for axis in together), *part.together)
    given = dict(further or {})
    axes = [[{name: value} for value in values] for name, values in varied.items()] + list(map(list, together))
    axes = [[{k: v for k, v in taken_by(model, choice).items() if k not in given} for choice in axis] for axis in axes]
    axes = [[choice for k, choice in enumerate(axis) if choice not in axis[:k]] for axis in axes]
    if (size := math.prod(map(len, axes))) > LARGEST:
        raise InputError(f"--grid {grid}: has {size:,} combinations, more than {LARGEST:,}; try fewer values")
    combinations = (dict(item for choice in choices for item in choice.items()) for choices in product(*axes))
    every = (Settings.of(model, **taken_by(model, fixed) | values | given) for values in combinations)
    return list(dict.fromkeys(every))


def _without(names: set[str], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _after_what_it_is_like(grid: str) -> list[Grid]:
    document = grid_document(grid)
    return [*(_after_what_it_is_like(document.like) if document.like is not None else []), document]


def grid_document(grid: str) -> Grid:
    """A grid by its name or its path, all of whose keys are known."""
    known = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}
    path = known.get(grid, Path(grid))
    if not path.is_file():
        raise InputError(f"--grid {grid}: is not one of {', '.join(known)}, and there is no such file")
    try:
        document = from_json(Grid, read_json(path), path, only_known=True)
    except InputError as error:
        raise InputError(f"{error}; a grid has the form {FORM}") from None
    if document.like is not None:
        check_choice(f"{path}, like", document.like, *known)
    if grid not in known:  # ours are checked by a test: to look at the options of all models imports PyG
        document.check_names(path)
    return document
