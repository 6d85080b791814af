"""One function from a name or a path to a data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from wlhn.data.builtin import graph_atlas, karate_club
from wlhn.data.dataset import Column, Dataset, Role, TaskChoice
from wlhn.data.download import fetch
from wlhn.data.paths import read_path
from wlhn.data.published import check
from wlhn.data.readers.options import DEFAULTS, ReadOptions
from wlhn.data.registry import DATASETS, KNOWN, known_name, locate, outside_dataset
from wlhn.data.splits import Split, read_json_splits
from wlhn.data.statistics import statistics
from wlhn.data.variants import UNDIRECTED, split_name, with_noise
from wlhn.errors import InputError


def _synthetic(maker: str, *sizes: float) -> Callable[[int], Dataset]:
    """A set of `wlhn.data.synthetic`, which brings networkx and scipy, so only when it is asked for."""
    return lambda seed: getattr(import_module("wlhn.data.synthetic"), maker)(*sizes, seed=seed)


GENERATED: dict[str, Callable[[int], Dataset]] = {
    "BA-density-5": _synthetic("barabasi_albert_density", 5),
    "BA-density-10": _synthetic("barabasi_albert_density", 10),
    "ER-effective-size-0.008": _synthetic("erdos_renyi_effective_size", 0.008),
    "ER-effective-size-0.01": _synthetic("erdos_renyi_effective_size", 0.01),
    "karate": lambda seed: karate_club(),
    "atlas": lambda seed: graph_atlas(),
}


def load(
    data: str | Path,
    *,
    data_root: str | Path | None = None,
    self_loops: bool = False,
    directed: bool | None = None,
    drop_duplicates: bool = False,
    task: TaskChoice | None = None,
    missing: str | None = None,
    roles: Mapping[str, Role] | None = None,
    like: Sequence[Column] = (),
    skip_invalid: bool = False,
    seed: int = 0,
    progress: bool = False,
) -> Dataset:
    """A data set by name (any case; see `wlhn datasets`) or by path.

    Names are looked for under `data_root` (or WLHN_DATA), in the user's cache, among what is built in, and then
    downloaded. What was parsed once is memory-mapped from the cache. `Cornell+undirected` and
    `Cornell+feature-noise-0.1` are variants of Cornell (see `wlhn.data.variants`).

    - self_loops: keep them; they are dropped otherwise
    - directed: whether edges have a direction, in node sets and the user's own files; as the format says otherwise
    - drop_duplicates: leave out the copies among the nodes of a geom-gcn set (Squirrel)
    - task: "classification" or "regression", where the targets could be either; inferred otherwise, with a note
    - missing: what stands for an unknown target beside an empty cell ("-1", "?"); "" says that nothing does
    - roles, like: what the columns of the user's own tables are; the columns of a data set to read this one like
    - skip_invalid: leave out molecules that RDKit refuses; `Dataset.skipped` lists them
    - seed: of generated sets
    - progress: show bars on standard error

    >>> load("mutag")
    Dataset(MUTAG, graph classification, Graphs(188 graphs, 3,371 nodes, 7,442 directed edges))
    """
    options = ReadOptions(
        self_loops, directed, drop_duplicates, task, missing, roles or {}, like, skip_invalid, progress
    )
    base, variants = split_name(str(data))
    name = known_name(base)
    if name is not None:
        directed = False if UNDIRECTED in variants else directed
        dataset = _load_known(name, replace(options, directed=directed), data_root, seed)
    elif base in DATASETS:
        if UNDIRECTED in variants:
            raise InputError(f"{data}: only data sets that wlhn knows have the variant {UNDIRECTED}")
        dataset = outside_dataset(base, seed)
    elif Path(data).exists():
        return read_path(Path(data), options)
    else:
        raise InputError(f"{data}: neither a known data set nor a path; `wlhn datasets` lists those that are known")
    for variant in variants:
        if variant == UNDIRECTED:  # as it was read
            dataset = replace(dataset, name=f"{dataset.name}+{UNDIRECTED}")
        else:
            dataset = with_noise(dataset, variant)
    return dataset


def _load_known(name: str, options: ReadOptions, data_root: str | Path | None, seed: int) -> Dataset:
    if name in GENERATED:
        return GENERATED[name](seed)
    root = data_root_or_environment(data_root)
    location = locate(name, root)
    known = KNOWN[name]
    path = location.path or fetch(name, known, check=lambda path: _check(name, path), progress=options.progress)
    dataset = read_path(path, options)
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


def _check(name: str, path: Path) -> None:
    """What was downloaded has the figures that it should have."""
    for figure in check(name, statistics(read_path(path, DEFAULTS))):
        if figure.verdict == "differs":
            what = figure.figure.replace("_", " ")
            raise InputError(f"expected {what} {figure.published}, found {figure.actual}")


def _splits_of_root(place: str, items: int, data_root: Path | None) -> tuple[Split, ...]:
    if data_root is None or not place or not (data_root / place).exists():
        return ()
    return tuple(read_json_splits(data_root / place, items=items))
