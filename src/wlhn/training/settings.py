"""Everything one training run can be told: a model by name, the options it takes, and those of its training.

Three values side by side; for people and in files they are one flat object, `{"model": "wlhn", "tau": 2, "epochs": 3}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wlhn.errors import InputError
from wlhn.models.registry import MODELS, model_class
from wlhn.nn.model import Model
from wlhn.options.option import Options, named_fields, parsed, unknown_option
from wlhn.options.training import InputOptions, TrainingOptions


@dataclass(frozen=True)
class Settings:
    """Settings of one training run; the defaults are what `wlhn train` uses.

    >>> Settings.of("wlhn", tau=2.0, epochs=3).options.tau
    2.0
    >>> Settings.of("gin", tau=2.0)
    Traceback (most recent call last):
    wlhn.errors.InputError: gin has no option 'tau'; it has hidden_channels, num_layers, ...
    """

    model: str
    options: Options
    training: InputOptions = field(default_factory=TrainingOptions)

    @staticmethod
    def of(model: str | type[Model] = "wlhn", **values: Any) -> Settings:
        """Settings of a model, by name or as a class, from flat values; those that are left out keep their defaults."""
        name = model if isinstance(model, str) else MODELS.name_of(model)
        return Settings.from_json({"model": name} | values)

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> Settings:
        """Settings from a flat object."""
        name = document.get("model", "wlhn")
        if not isinstance(name, str):
            raise InputError(f"model: must be a name, found {name!r}")
        model = model_class(name)
        values = {key: _plain(value) for key, value in document.items() if key != "model"}
        known = named_options(name)
        for key in values:
            if key not in known:
                raise unknown_option(name, key, known)
        options, training = named_fields(model.Options), named_fields(model.Training)
        return Settings(
            name,
            model.Options.from_json({key: value for key, value in values.items() if key in options}),
            model.Training.from_json({key: value for key, value in values.items() if key in training}),
        )

    def to_json(self) -> dict[str, Any]:
        """All that the model takes, as one flat object."""
        return {"model": self.model} | self.options.to_json() | self.training.to_json()

    def but(self, values: Mapping[str, Any]) -> Settings:
        """The same settings with some other values."""
        return Settings.from_json(self.to_json() | dict(values))

    @property
    def network(self) -> TrainingOptions:
        """The training options of a network."""
        assert isinstance(self.training, TrainingOptions)
        return self.training


def option_classes(model: str) -> tuple[type[Options], type[Options]]:
    """Where the options of a model and of its training are written down."""
    owner = model_class(model)
    return owner.Options, owner.Training


def named_options(model: str) -> dict[str, Any]:
    """The fields of all options that a model and its training take, by name."""
    options, training = option_classes(model)
    return {**named_fields(options), **named_fields(training)}


def taken_by(model: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those values whose options a model has: what is said to all models is left out where one has no such option."""
    known = named_options(model)
    return {name: value for name, value in values.items() if name in known}


def parse_settings(model: str, texts: Sequence[str]) -> dict[str, Any]:
    """Options of a model from texts NAME=VALUE, each of its option's type.

    >>> parse_settings("hgcn-poincare", ["attention=true", "epochs=20"])
    {'attention': True, 'epochs': 20}
    >>> parse_settings("mixhop", ["hops=far"])
    Traceback (most recent call last):
    wlhn.errors.InputError: hops: must be a whole number, found 'far'
    """
    known = named_options(model)
    values: dict[str, Any] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        if not value:
            raise InputError(f"--set {text!r}: write NAME=VALUE, as in hidden_channels=32")
        if name in values:
            raise InputError(f"--set {name}: given twice; give it once")
        if name not in known:
            raise unknown_option(model, name, known)
        values[name] = parsed(known[name], value)
    Settings.from_json({"model": model} | values)
    return values


def _plain(value: Any) -> Any:
    """Python's number for NumPy's, which grid searches hand in."""
    return value.item() if isinstance(value, np.generic) else value
