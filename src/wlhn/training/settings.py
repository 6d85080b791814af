"""Everything one training run can be told: the model's settings and those of its training, in one flat value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from wlhn.errors import InputError
from wlhn.models.settings import ModelSettings, one_of, positive


@dataclass(frozen=True)
class Settings(ModelSettings):
    """Settings of one run; the defaults are what `wlhn train` uses.

    >>> Settings(learning_rate=0.01).model
    'wlhn'
    """

    learning_rate: float = 1e-3
    optimizer: Literal["adam", "riemannian-adam"] = "adam"
    weight_decay: float = 0.0
    batch_size: int = 128  # graphs
    epochs: int = 300  # at most
    patience: int = 50  # epochs without improvement on the validation items
    monitor: Literal["metric", "loss"] = "metric"  # what has to improve there
    degree: Literal["scalar", "onehot", "log"] = "scalar"  # how degrees enter where nodes have nothing else
    standardise: bool = True  # numeric features to mean 0 and deviation 1, columns of 0 and 1 left out

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(
            learning_rate=self.learning_rate, batch_size=self.batch_size, epochs=self.epochs, patience=self.patience
        )
        if not 0 <= self.weight_decay < float("inf"):
            raise InputError(f"weight_decay: expected 0 or more, found {self.weight_decay}")
        one_of("optimizer", self.optimizer, "adam", "riemannian-adam")
        one_of("monitor", self.monitor, "metric", "loss")
        one_of("degree", self.degree, "scalar", "onehot", "log")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> Settings:
        """Settings from a JSON object; fields that are left out keep their defaults.

        >>> Settings.from_json({"taus": 1})
        Traceback (most recent call last):
        wlhn.errors.InputError: settings: no field 'taus', expected some of model, hidden_channels, ...
        """
        known = {field.name: field for field in fields(Settings)}
        for name, value in document.items():
            if name not in known:
                raise InputError(f"settings: no field '{name}', expected some of {', '.join(known)}")
            _check_type(name, value, type(known[name].default))
        return Settings(**document)


def parse_settings(given: Sequence[str]) -> dict[str, Any]:
    """Fields of `Settings` from texts FIELD=VALUE, each of its field's type.

    >>> parse_settings(["attention_heads=8", "learn_curvature=false"])
    {'attention_heads': 8, 'learn_curvature': False}
    >>> parse_settings(["hops=far"])
    Traceback (most recent call last):
    wlhn.errors.InputError: hops: expected int, found 'far'
    """
    known = {field.name: type(field.default) for field in fields(Settings)}
    values: dict[str, Any] = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        if not value:
            raise InputError(f"{text!r}: expected FIELD=VALUE, as in hops=3")
        if name in values:
            raise InputError(f"{name}: given twice, expected once")
        values[name] = _of_type(name, value, known[name]) if name in known else value
    Settings.from_json(values)
    return values


def _of_type(name: str, text: str, wanted: type) -> Any:
    if wanted is bool and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return text if wanted is bool else wanted(text)
    except ValueError:
        raise InputError(f"{name}: expected {wanted.__name__}, found {text!r}") from None


def _check_type(name: str, value: Any, wanted: type) -> None:
    number = wanted is float and isinstance(value, int) and not isinstance(value, bool)
    if not (number or type(value) is wanted):
        raise InputError(f"{name}: expected {wanted.__name__}, found {value!r}")
