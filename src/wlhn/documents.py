"""JSON documents as dataclasses: one writer, and one reader that trusts nothing.

The annotations of a dataclass say what its fields may hold: whole numbers, finite numbers, texts, truth values, choices
(`Literal`), tuples, mappings, other dataclasses, any of these or None, and `Any` for one text, number or truth value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from wlhn.errors import InputError
from wlhn.words import listed, shortened

T = TypeVar("T")
LARGEST = 1 << 63


def to_json(value: Any) -> Any:
    """Dataclasses as objects, tuples as lists; what is written otherwise has a `to_json` of its own."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return fields_to_json(value)
    if isinstance(value, Mapping):
        return {name: to_json(each) for name, each in value.items()}
    return [to_json(each) for each in value] if isinstance(value, tuple | list) else value


def fields_to_json(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name."""
    return {each.name: to_json(getattr(value, each.name)) for each in fields(value)}


def from_json(kind: type[T], document: Any, where: object, *, only_known: bool = False, **given: Any) -> T:
    """A dataclass from an object, or an `InputError` that says where it is wrong.

    A field that the object does not have keeps its default; `given` are fields from elsewhere. What no field asks for
    is passed over, or with `only_known` refused, here and in objects inside.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Step:
    ...     size: float
    ...     turns: tuple[int, ...]
    >>> from_json(Step, {"size": 2, "turns": [1, -1]}, "walk.json")
    Step(size=2.0, turns=(1, -1))
    >>> from_json(Step, {"size": 2, "turns": [1, "left"]}, "walk.json")
    Traceback (most recent call last):
    wlhn.errors.InputError: walk.json, turns 1: must be a whole number, found 'left'
    """
    if not isinstance(document, Mapping):
        raise _wrong(where, "an object", document)
    described: Any = kind
    hints, values = _hints(described), dict(given)
    if only_known and (strange := [name for name in document if name not in hints]):
        raise InputError(f"{where}: '{strange[0]}' is not known here")
    for each in fields(described):
        if each.name in document and each.name not in given:
            values[each.name] = _value(hints[each.name], document[each.name], f"{where}, {each.name}", only_known)
        elif each.name not in given and each.default is each.default_factory is MISSING:
            raise InputError(f"{where}: has no field '{each.name}'")
    return kind(**values)


@cache  # resolving annotations takes most of the time of reading a document
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(kind: Any, value: Any, where: str, only_known: bool) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (kind,) = (each for each in inner if each is not NoneType)
        return None if value is None else _value(kind, value, where, only_known)
    if origin is Literal:
        if value not in inner:
            raise _wrong(where, listed(inner, "or"), value)
        return value
    if origin is tuple:
        kinds = inner[:1] * len(value) if inner[-1] is ... and isinstance(value, list) else inner
        if not isinstance(value, list) or len(value) != len(kinds):
            raise _wrong(where, "a list" if inner[-1] is ... else f"a list of {len(inner)}", value)
        return tuple(_value(kinds[k], part, f"{where} {k}", only_known) for k, part in enumerate(value))
    if origin is Mapping or is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise _wrong(where, "an object", value)
        if origin is Mapping:
            keys = [_value(inner[0], name, where, only_known) for name in value]
            return {name: _value(inner[1], value[name], f"{where}, {name}", only_known) for name in keys}
        if not hasattr(kind, "from_json"):
            return from_json(kind, value, where, only_known=only_known)
        try:
            return kind.from_json(value)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    wanted, holds = PLAIN[kind]
    if not holds(value):
        raise _wrong(where, wanted, value)
    return float(value) if kind is float else value


def _wrong(where: object, wanted: str, found: Any) -> InputError:
    return InputError(f"{where}: must be {wanted}, found {shortened(repr(found), 40)}")


def is_number(value: Any) -> bool:
    """Whether this is a finite number of a size that numbers in files have."""
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < LARGEST)


PLAIN: dict[Any, tuple[str, Any]] = {
    int: ("a whole number", lambda value: type(value) is int and abs(value) < LARGEST),
    float: ("a number", is_number),
    str: ("a text", lambda value: type(value) is str),
    bool: ("true or false", lambda value: type(value) is bool),
    Any: ("a text or a number", lambda value: value is None or type(value) in (str, bool) or is_number(value)),
}
