"""One function from a name or a path to a data set."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from wlhn.data import nodes, tu
from wlhn.data.builtin import graph_atlas, karate_club
from wlhn.data.cache import cached
from wlhn.data.dataset import Dataset
from wlhn.data.registry import KNOWN, known_name, locate
from wlhn.data.splits import Split, read_json_splits
from wlhn.data.synthetic import barabasi_albert_density, erdos_renyi_effective_size
from wlhn.errors import InputError

GENERATED: dict[str, Callable[[int], Dataset]] = {
    "BA-density-5": lambda seed: barabasi_albert_density(5, seed=seed),
    "BA-density-10": lambda seed: barabasi_albert_density(10, seed=seed),
    "ER-effective-size-0.008": lambda seed: erdos_renyi_effective_size(0.008, seed=seed),
    "ER-effective-size-0.01": lambda seed: erdos_renyi_effective_size(0.01, seed=seed),
    "karate": lambda seed: karate_club(),
    "atlas": lambda seed: graph_atlas(),
}


def load(
    data: str | Path,
    *,
    data_root: str | Path | None = None,
    self_loops: bool = False,
    directed: bool = True,
    drop_duplicates: bool = False,
    seed: int = 0,
) -> Dataset:
    """A data set by name (any case; see `wlhn datasets`) or by path.

    Names are looked for under `data_root` (or WLHN_DATA), in the user's cache, among what is built in, and then
    downloaded. What was parsed once is memory-mapped from the cache. Self-loops are dropped unless `self_loops`; node
    sets keep the direction of their edges unless not `directed`, and their copies unless `drop_duplicates`; `seed` is
    that of generated sets.

    >>> load("mutag")
    Dataset(MUTAG, graph classification, Graphs(188 graphs, 3371 nodes, 7442 directed edges))
    """
    read = partial(_read, self_loops=self_loops, directed=directed, drop_duplicates=drop_duplicates)
    name = known_name(str(data))
    if name is None:
        path = Path(data)
        if not path.exists():
            raise InputError(f"{data}: neither a known data set nor a path, expected one (see `wlhn datasets`)")
        return read(path)
    if name in GENERATED:
        return GENERATED[name](seed)
    root = data_root_or_environment(data_root)
    location = locate(name, root)
    if location.path is None:
        raise InputError(f"{name}: not found under the data root or in the cache")
    dataset, known = read(location.path), KNOWN[name]
    return replace(
        dataset,
        name=name,
        inputs=dataset.inputs if known.inputs is None else known.inputs,
        splits=dataset.splits or _splits_of_root(known.splits, len(dataset), root),
    )


def data_root_or_environment(data_root: str | Path | None) -> Path | None:
    """The data root given, or that of WLHN_DATA, or none."""
    given = data_root if data_root is not None else os.environ.get("WLHN_DATA")
    return Path(given) if given else None


def _splits_of_root(place: str, items: int, data_root: Path | None) -> tuple[Split, ...]:
    if data_root is None or not place or not (data_root / place).exists():
        return ()
    return tuple(read_json_splits(data_root / place, items=items))


def _read(path: Path, *, self_loops: bool, directed: bool, drop_duplicates: bool) -> Dataset:
    """Whatever lies at a path, by what it looks like."""
    if nodes.is_geom_gcn(path):
        return cached(
            lambda: nodes.read_geom_gcn(
                path, directed=directed, self_loops=self_loops, drop_duplicates=drop_duplicates
            ),
            sources=nodes.source_files(path),
            options=f"geom-gcn {directed=} {self_loops=} {drop_duplicates=}",
        )
    return cached(
        lambda: tu.read_tu(path, self_loops=self_loops), sources=tu.source_files(path), options=f"tu {self_loops=}"
    )
