"""Checks of single values, each with one way to say what is wrong."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from wlhn.errors import InputError
from wlhn.words import listed


def check_choice(name: str, value: Any, *known: Any) -> None:
    """The value is a known one, or an `InputError` lists them.

    >>> check_choice("head", "flat", "euclidean", "hyperbolic")
    Traceback (most recent call last):
    wlhn.errors.InputError: head: must be euclidean or hyperbolic, found 'flat'
    """
    if value not in known:
        raise InputError(f"{name}: must be {listed(known, 'or')}, found {value!r}")


def check_at_least(name: str, value: float, least: float) -> None:
    """The value is not below the least one (nor NaN), or an `InputError` says so.

    >>> check_at_least("rounds", -1, 0)
    Traceback (most recent call last):
    wlhn.errors.InputError: rounds: must be 0 or more, found -1
    """
    if not value >= least:
        raise InputError(f"{name}: must be {least} or more, found {value}")


def check_whole(name: str, value: Any, least: int) -> None:
    """The value is a whole number, Python's or numpy's, and not below the least one, or an `InputError` says so.

    >>> check_whole("depth", 1.5, 0)
    Traceback (most recent call last):
    wlhn.errors.InputError: depth: must be a whole number, found 1.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name}: must be a whole number, found {value!r}")
    check_at_least(name, int(value), least)
