"""Doors to the outside: models, data sets and protocols by name, ours and other people's.

A name is looked up among what was registered in this process, then ours, then the entry points of installed packages.
Files given with `--plugin` are run once; what they register is known from then on. Their sources travel to worker
processes and cluster nodes, which load what the driver loaded. Names in files that we read from disk (runs, results)
never lead to code that was not already let in by one of these doors.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar
from zlib import crc32

from wlhn.errors import InputError

Value = TypeVar("Value")


def import_extra(module: str, otherwise: str) -> Any:
    """A module of a package that not everybody installs; without it, an `InputError` with this sentence.

    >>> import_extra("no_such_package", "trees: need no_such_package")
    Traceback (most recent call last):
    wlhn.errors.InputError: trees: need no_such_package
    """
    try:
        return import_module(module)
    except ImportError:
        raise InputError(otherwise) from None


class Registry(Generic[Value]):
    """Values by name. Of ours, those that are named as "module:attribute" are imported when they are asked for.

    >>> shapes = Registry("shape", "example.shapes", {"path": "pathlib:PurePath"})
    >>> _ = shapes.register("text", str)
    >>> shapes.names(), shapes["path"].__name__
    (['path', 'text'], 'PurePath')
    >>> shapes["circle"]
    Traceback (most recent call last):
    wlhn.errors.InputError: shape 'circle' is not known; known are path, text
    """

    def __init__(self, kind: str, group: str, places: Mapping[str, str | Value]) -> None:
        self.kind, self.group, self.places = kind, group, dict(places)
        self.registered: dict[str, Value] = {}

    def register(self, name: str, value: Value) -> Value:
        """Make a value known by name in this process; a name of ours cannot be taken."""
        if name in self.places:
            raise InputError(f"{self.kind} '{name}' is one of wlhn's own; choose another name")
        self.registered[name] = value
        return value

    def names(self) -> list[str]:
        """All known names: ours first."""
        return list(dict.fromkeys([*self.places, *self.registered, *_points_of(self.group)]))

    def __contains__(self, name: object) -> bool:
        return name in self.places or name in self.registered or name in _points_of(self.group)

    def __getitem__(self, name: str) -> Value:
        if name in self.registered:
            return self.registered[name]
        if name in self.places:
            place = self.places[name]
            if not isinstance(place, str):
                return place
            module, _, attribute = place.partition(":")
            value: Value = getattr(import_module(module), attribute)
            return value
        if name in (points := _points_of(self.group)):
            try:
                value = points[name].load()
            except Exception as error:
                raise InputError(f"{self.kind} '{name}': its package cannot be imported ({error})") from error
            return value
        raise InputError(f"{self.kind} '{name}' is not known; known are {', '.join(self.names())}")

    def name_of(self, value: Value) -> str:
        """The name of a value: as registered; one that is not known yet is registered under its own."""
        for name, known in self.registered.items():
            if known is value:
                return name
        place = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '')}"
        for name, known_place in self.places.items():
            if known_place == place:
                return name
        name = str(getattr(value, "__name__", type(value).__name__)).lower()
        self.register(name, value)
        return name


@cache  # asking every installed package takes 10 ms
def _points_of(group: str) -> dict[str, Any]:
    return {point.name: point for point in entry_points(group=group)}


_sources: dict[str, str] = {}  # of the plugin files that were loaded, by their path


def load_plugin(path: str | Path) -> None:
    """Run a Python file that registers models, data sets or protocols."""
    path = Path(path).resolve()
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--plugin {path}: cannot be read ({error}); give a Python file") from None
    load_sources({str(path): source})


def loaded_sources() -> dict[str, str]:
    """The plugin files that were loaded here, for workers to load as well."""
    return dict(_sources)


def load_sources(sources: Mapping[str, str]) -> None:
    """Run the sources of plugin files that have not been run here yet."""
    for path, source in sources.items():
        if path in _sources:
            continue
        module = ModuleType(f"wlhn_plugin_{Path(path).stem}_{crc32(path.encode()):08x}")
        module.__file__ = path
        sys.modules[module.__name__] = module  # dataclasses look up their annotations there
        try:
            exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
        except InputError:
            del sys.modules[module.__name__]
            raise
        except Exception as error:
            del sys.modules[module.__name__]
            raise InputError(f"--plugin {path}: failed with {type(error).__name__}: {error}") from error
        _sources[path] = source
