"""Fields of a JSON document, checked one by one: what a run folder says is data, never trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from wlhn.errors import InputError
from wlhn.words import shortened

Check = Callable[[Any], bool]
LARGEST = 1 << 63


@dataclass(frozen=True)
class Fields:
    """A JSON object and where it stands.

    >>> Fields("config.json", {"out_channels": "two"}).get("out_channels", "a whole number", whole)
    Traceback (most recent call last):
    wlhn.errors.InputError: config.json, out_channels: must be a whole number, found 'two'
    """

    where: str
    values: Any

    def get(self, name: str, wanted: str, holds: Check) -> Any:
        """The value of a field for which `holds` is true, or an `InputError` that says what was wanted."""
        if not isinstance(self.values, Mapping):
            raise InputError(f"{self.where}: must be an object, found {shortened(repr(self.values), 40)}")
        if name not in self.values:
            raise InputError(f"{self.where}: has no field '{name}'")
        if not holds(self.values[name]):
            raise self.wrong(name, wanted)
        return self.values[name]

    def inside(self, name: str) -> Fields:
        """The object that a field holds."""
        return Fields(f"{self.where}, {name}", self.get(name, "an object", lambda v: isinstance(v, dict)))

    def each(self, name: str) -> list[Fields]:
        """The objects of the list that a field holds."""
        values = self.get(name, "a list of objects", list_of(lambda v: isinstance(v, dict)))
        return [Fields(f"{self.where}, {name} {k}", value) for k, value in enumerate(values)]

    def wrong(self, name: str, wanted: str) -> InputError:
        return InputError(f"{self.where}, {name}: must be {wanted}, found {shortened(repr(self.values[name]), 40)}")


def whole(value: Any, least: int = 0) -> bool:
    return type(value) is int and least <= value < LARGEST


def number(value: Any) -> bool:
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < LARGEST)


def text(value: Any) -> bool:
    return isinstance(value, str)


def scalar(value: Any) -> bool:
    return isinstance(value, str | bool) or value is None or number(value)


def rising(value: Any) -> bool:
    """Whether these are whole numbers, each larger than the one before."""
    return list_of(lambda v: whole(v, -LARGEST))(value) and all(a < b for a, b in pairwise(value))


def rising_numbers(value: Any) -> bool:
    """The same of any numbers."""
    return list_of(number)(value) and all(a < b for a, b in pairwise(value))


def one_of(*choices: Any) -> Check:
    return lambda value: (value is None or isinstance(value, str)) and value in choices


def list_of(check: Check, length: int | None = None) -> Check:
    return lambda v: isinstance(v, list) and all(map(check, v)) and (length is None or len(v) == length)
