"""One function from a name or a path to a data set."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from wlhn.data.cache import cached
from wlhn.data.dataset import Dataset
from wlhn.data.registry import KNOWN, known_name, locate
from wlhn.data.splits import Split, read_json_splits
from wlhn.data.tu import read_tu
from wlhn.errors import InputError


def load(data: str | Path, *, data_root: str | Path | None = None, self_loops: bool = False) -> Dataset:
    """A data set by name (any case; see `wlhn datasets`) or by path.

    Names are looked for under `data_root` (or WLHN_DATA), in the user's cache, among what is built in, and then
    downloaded. What was parsed once is memory-mapped from the cache.

    >>> load("mutag")
    Dataset(MUTAG, graph classification, Graphs(188 graphs, 3371 nodes, 7442 directed edges))
    """
    name = known_name(str(data))
    if name is None:
        path = Path(data)
        if not path.exists():
            raise InputError(f"{data}: neither a known data set nor a path, expected one (see `wlhn datasets`)")
        return _read_tu(path, self_loops=self_loops)
    root = _root(data_root)
    location = locate(name, root)
    if location.path is None:
        raise InputError(f"{name}: not found under the data root or in the cache")
    dataset = _read_tu(location.path, self_loops=self_loops)
    inputs = KNOWN[name].inputs
    return replace(
        dataset,
        name=name,
        inputs=dataset.inputs if inputs is None else inputs,
        splits=published_splits(name, len(dataset), root),
    )


def published_splits(name: str, items: int, data_root: Path | None) -> tuple[Split, ...]:
    """The splits published for a registered set, where the data root has them."""
    known = KNOWN[name]
    if data_root is None or not known.splits or not (data_root / known.splits).exists():
        return ()
    return tuple(read_json_splits(data_root / known.splits, items=items))


def _root(data_root: str | Path | None) -> Path | None:
    given = data_root if data_root is not None else os.environ.get("WLHN_DATA")
    return Path(given) if given else None


def _read_tu(path: Path, *, self_loops: bool) -> Dataset:
    sources = [path] if path.is_file() else sorted(p for p in path.glob("*.txt"))
    return cached(lambda: read_tu(path, self_loops=self_loops), sources=sources, options=f"tu self_loops={self_loops}")
