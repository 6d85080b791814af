"""An option is written down once: a field of a frozen `Options` dataclass, with its default, its check and a sentence.

The command line, grids, estimators, `help()`, the docs and files on disk are all made from these fields. A stored value
that is missing has its default, so a new option leaves every stored file valid.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from functools import cache
from typing import Any, Literal, Self, cast, get_args, get_origin, get_type_hints

from wlhn.errors import InputError
from wlhn.options.checks import check_at_least, check_choice


def option(
    default: Any,
    about: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
) -> Any:
    """A field of an `Options` class: its default, one sentence about it, and the range of a number.

    The choices of a text are those of its `Literal` annotation.
    """
    return field(default=default, metadata={"about": about, "above": above, "at_least": at_least, "below": below})


@dataclass(frozen=True)
class Options:
    """The base of all options.

    >>> @dataclass(frozen=True)
    ... class Walk(Options):
    ...     step: float = option(1.0, "Length of a step.", above=0)
    >>> Walk(step=-1.0)
    Traceback (most recent call last):
    wlhn.errors.InputError: step: must be above 0, found -1.0
    >>> Walk.from_json({"step": 2})
    Walk(step=2.0)
    """

    def __post_init__(self) -> None:
        for each in fields(self):
            _check_range(each, getattr(self, each.name))
            choices = choices_of(type(self), each.name)
            if choices:
                check_choice(each.name, getattr(self, each.name), *choices)

    def to_json(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Options from values by name, each of its field's type; what is missing keeps its default."""
        known = named_fields(cls)
        return cls(**{name: typed(known[name], value) for name, value in document.items()})


def named_fields(options: type[Options]) -> dict[str, Field[Any]]:
    """The fields of an options class by name."""
    return {each.name: each for each in fields(options)}


def unknown_option(model: str, name: str, known: Iterable[str]) -> InputError:
    """What to say of an option that a model does not have."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else f"; it has {', '.join(known)}"
    return InputError(f"{model} has no option '{name}'{hint}")


def choices_of(options: type[Options], name: str) -> tuple[Any, ...]:
    """What a text may be; nothing for numbers."""
    return _choices(cast(Any, options)).get(name, ())


@cache  # resolving annotations takes most of the time of reading a file of settings
def _choices(options: Any) -> dict[str, tuple[Any, ...]]:
    hints = get_type_hints(options)
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}


@dataclass(frozen=True)
class AboutOption:
    """What people are told of an option."""

    name: str
    default: Any
    values: str  # which it may have
    about: str


def about_options(options: type[Options]) -> list[AboutOption]:
    """What people are told of the fields of an options class, in their order."""
    return [AboutOption(f.name, f.default, _values(options, f), f.metadata["about"]) for f in fields(options)]


def _values(options: type[Options], each: Field[Any]) -> str:
    """
    >>> from wlhn.options.network import NetworkOptions
    >>> [_values(NetworkOptions, named_fields(NetworkOptions)[name]) for name in ("dropout", "head")]
    ['a number, 0 or more, below 1', 'euclidean, hyperbolic, linear']
    """
    if choices := choices_of(options, each.name):
        return ", ".join(map(str, choices))
    bounds = {"above": "above {}", "at_least": "{} or more", "below": "below {}"}
    limits = [text.format(each.metadata[name]) for name, text in bounds.items() if each.metadata.get(name) is not None]
    return ", ".join([KINDS[type(each.default)], *limits])


def typed(each: Field[Any], value: Any) -> Any:
    """A value of a field's type, or an `InputError`; a whole number may stand for a number."""
    wanted = type(each.default)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not wanted:
        raise InputError(f"{each.name}: must be {KINDS[wanted]}, found {value!r}")
    return value


def parsed(each: Field[Any], text: str) -> Any:
    """A value of a field's type from what somebody typed."""
    wanted: Any = type(each.default)
    if wanted is bool:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise InputError(f"{each.name}: must be true or false, found {text!r}")
    try:
        return wanted(text)
    except ValueError:
        raise InputError(f"{each.name}: must be {KINDS[wanted]}, found {text!r}") from None


KINDS: dict[type, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _check_range(each: Field[Any], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    above, at_least, below = (each.metadata.get(bound) for bound in ("above", "at_least", "below"))
    if above is not None and not value > above:
        raise InputError(f"{each.name}: must be above {above}, found {value}")
    if at_least is not None:
        check_at_least(each.name, value, at_least)
    if below is not None and not value < below:
        raise InputError(f"{each.name}: must be below {below}, found {value}")
    if not math.isfinite(value):
        raise InputError(f"{each.name}: must be a finite number, found {value}")
