"""The data sets known by name: what they are and where they lie.

A set is looked for under the data root, then in the user's cache, then in what is built in; `load` downloads the rest.
Sets from outside are functions of a seed, registered here or named by an entry point `wlhn.datasets`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from wlhn.data.cache import cache_root
from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.plugins import Registry

Kind = Literal["tu", "geom-gcn", "ogb", "generated"]
TU_ADDRESS = "https://www.chrsmrrs.com/graphkerneldatasets"
GEOM_GCN_ADDRESS = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master"
OGB_ADDRESS = "http://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download"


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


@dataclass(frozen=True)
class Location:
    """Where a data set was found."""

    path: Path | None
    found: Literal["data root", "cache", "built in", "download"]


def _tu(name: str, about: str, *, aliases: tuple[str, ...] = (), inputs: tuple[str, ...] | None = None) -> Known:
    splits = f"splits/{'wlhn' if name == 'MUTAG' else 'errica'}/{name}_splits.json"
    return Known("tu", about, f"tu/{name}.zip", (f"{TU_ADDRESS}/{name}.zip",), aliases, inputs, splits)


def _geom_gcn(folder: str, about: str, *, aliases: tuple[str, ...] = ()) -> Known:
    return Known("geom-gcn", about, f"geom-gcn/{folder}", (f"{GEOM_GCN_ADDRESS}/new_data/{folder}",), aliases)


def _ogb(name: str, about: str, *, aliases: tuple[str, ...]) -> Known:
    return Known("ogb", about, f"ogb/ogbg_mol{name}", (f"{OGB_ADDRESS}/{name}.zip",), aliases)


KNOWN: dict[str, Known] = {
    "MUTAG": _tu("MUTAG", "mutagenic nitro compounds"),
    "ENZYMES": _tu("ENZYMES", "protein structures, six enzyme classes", inputs=("x",)),
    "PROTEINS": _tu("PROTEINS", "enzymes or not", inputs=("label",)),
    "NCI1": _tu("NCI1", "compounds active against lung cancer cells"),
    "DD": _tu("DD", "protein structures, enzymes or not", aliases=("D&D",)),
    "IMDB-BINARY": _tu("IMDB-BINARY", "actors' ego networks, two genres", aliases=("IMDB-B",)),
    "IMDB-MULTI": _tu("IMDB-MULTI", "actors' ego networks, three genres", aliases=("IMDB-M",)),
    "REDDIT-BINARY": _tu("REDDIT-BINARY", "discussion threads, two kinds", aliases=("REDDIT-B",)),
    "REDDIT-MULTI-5K": _tu("REDDIT-MULTI-5K", "discussion threads, five kinds", aliases=("REDDIT-5K", "REDDIT-M5K")),
    "COLLAB": _tu("COLLAB", "researchers' ego networks, three fields"),
    "Cornell": _geom_gcn("cornell", "web pages of a university"),
    "Texas": _geom_gcn("texas", "web pages of a university"),
    "Wisconsin": _geom_gcn("wisconsin", "web pages of a university"),
    "Squirrel": _geom_gcn("squirrel", "Wikipedia pages on squirrels, by traffic"),
    "Actor": _geom_gcn("film", "actors on common Wikipedia pages", aliases=("film",)),
    "Cornell-2021": Known(
        "geom-gcn", "Cornell before its correction: with Texas's features and labels", "geom-gcn/cornell_2021"
    ),
    "ogbg-molhiv": _ogb("hiv", "molecules that inhibit HIV", aliases=("molhiv",)),
    "ogbg-molpcba": _ogb("pcba", "molecules in 128 assays", aliases=("molpcba",)),
    "BA-density-5": Known("generated", "density of ego networks, Barabási–Albert, m = 5"),
    "BA-density-10": Known("generated", "density of ego networks, Barabási–Albert, m = 10"),
    "ER-effective-size-0.008": Known("generated", "effective size, Erdős–Rényi, p = 0.008"),
    "ER-effective-size-0.01": Known("generated", "effective size, Erdős–Rényi, p = 0.01"),
    "karate": Known("generated", "Zachary's karate club, two clubs"),
    "atlas": Known("generated", "all graphs of one to seven nodes, connected or not"),
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
    return replace(dataset, name=name)
