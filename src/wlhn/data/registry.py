"""The data sets known by name: what they are, where they lie, and the paper's figures for them (`known.json`).

Figures are those of its appendix, tables 8 and 9, and of section 5.1. Averages are texts: their digits say how far the
paper rounds. Node sets count directed edges, graph sets undirected ones. A known difference stands with the value the
files have, so that an explanation never covers anything else.

A set is looked for under the data root, then in the user's cache, then in what is built in; `load` downloads the rest.
Sets from outside are functions of a seed, registered here or named by an entry point `wlhn.datasets`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from wlhn.data.cache import cache_root
from wlhn.data.dataset import Dataset
from wlhn.documents import from_json
from wlhn.errors import InputError
from wlhn.files import read_json
from wlhn.plugins import Registry

Kind = Literal["tu", "geom-gcn", "ogb", "generated"]


@dataclass(frozen=True)
class Known:
    """A data set known by name."""

    kind: Kind
    about: str
    place: str = ""  # below the data root or the cache
    addresses: tuple[str, ...] = ()  # where it is downloaded from
    aliases: tuple[str, ...] = ()
    inputs: tuple[str, ...] | None = None  # node inputs that the paper uses, where not all of them
    splits: str = ""  # published splits below the data root
    figures: Mapping[str, Any] = field(default_factory=dict)  # that the paper has, by the name of the statistic
    explained: Mapping[str, tuple[Any, str]] = field(default_factory=dict)  # what the files have instead, and why


@dataclass(frozen=True)
class Location:
    """Where a data set was found."""

    path: Path | None
    found: Literal["data root", "cache", "built in", "download"]


_KNOWN_SETS = Path(__file__).with_name("known.json")
KNOWN = {
    name: from_json(Known, described, f"{_KNOWN_SETS}, {name}", only_known=True)
    for name, described in read_json(_KNOWN_SETS).items()
}


def mutag_folder() -> Path | None:
    """The folder of MUTAG in TU format inside the grakel package (found, not imported); None where that is not
    installed, as on Python 3.13, for which it has no release.

    >>> mutag_folder().name
    'MUTAG'
    """
    spec = importlib.util.find_spec("grakel")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "tests" / "data" / "MUTAG"


def known_name(name: str) -> str | None:
    """The registered name for a name or alias in any case, or None.

    >>> known_name("d&d"), known_name("mutag"), known_name("nothing")
    ('DD', 'MUTAG', None)
    """
    wanted = name.casefold()
    for registered, known in KNOWN.items():
        if wanted in (registered.casefold(), *(alias.casefold() for alias in known.aliases)):
            return registered
    return None


def locate(name: str, data_root: Path | None) -> Location:
    """Where a registered set lies now; found "download" where it lies nowhere yet.

    >>> locate("karate", None)
    Location(path=None, found='built in')
    """
    known = KNOWN[name]
    if data_root is not None:
        if not data_root.is_dir():
            raise InputError(f"{data_root}: no such folder; the data root must exist")
        for place in (known.place, name, f"{name}.zip"):
            if place and _whole(known.kind, data_root / place):
                return Location(data_root / place, "data root")
    if known.place and _whole(known.kind, cache_root() / "raw" / known.place):
        return Location(cache_root() / "raw" / known.place, "cache")
    if name == "MUTAG" and (folder := mutag_folder()) is not None:
        return Location(folder, "built in")
    if known.kind == "generated":
        return Location(None, "built in")
    return Location(None, "download")


def _whole(kind: Kind, path: Path) -> bool:
    """Whether a set lies at a path; a folder that only holds its splits is not the set."""
    decisive = {"ogb": path / "raw" / "edge.csv.gz", "geom-gcn": path / "out1_graph_edges.txt"}
    return decisive.get(kind, path).exists()


MakesDataset = Callable[[int], Dataset]  # from a seed, for those that are generated

DATASETS: Registry[MakesDataset] = Registry("data set", "wlhn.datasets", {})


def register_dataset(name: str) -> Callable[[MakesDataset], MakesDataset]:
    """A decorator that makes a data set known by a name in this process.

    >>> from wlhn.data.generated import karate_club
    >>> @register_dataset("my-club")
    ... def my_club(seed: int) -> Dataset:
    ...     return karate_club()
    >>> outside_dataset("my-club", seed=0).name
    'my-club'
    """

    return partial(DATASETS.register, name)


def outside_dataset(name: str, seed: int) -> Dataset:
    """A data set of somebody else's."""
    dataset = DATASETS[name](seed)
    if not isinstance(dataset, Dataset):
        raise InputError(f"data set '{name}': its function must give a wlhn.data.Dataset, not {type(dataset).__name__}")
    return replace(dataset, name=name, path=None)
