"""One function from a name or a path to a data set; whatever lies at a path is read by what it looks like."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from wlhn.data.cache import cached
from wlhn.data.columns import Column, Role
from wlhn.data.dataset import Dataset, TaskChoice
from wlhn.data.download import fetch
from wlhn.data.readers import geom_gcn as nodes
from wlhn.data.readers import ogb, tu
from wlhn.data.readers.archive import refuse_links
from wlhn.data.readers.edge_tables import is_edge_table, read_edge_table, read_node_tables
from wlhn.data.readers.graph_files import GRAPH_FILES, read_graph_files
from wlhn.data.readers.molecules import read_smiles
from wlhn.data.readers.tables import DEFAULTS, ReadOptions
from wlhn.data.registry import DATASETS, KNOWN, known_name, locate, outside_dataset
from wlhn.data.splits import read_json_splits
from wlhn.data.statistics import check, statistics
from wlhn.data.variants import UNDIRECTED, split_name, with_noise
from wlhn.errors import InputError

TARGETS = ("targets.csv", "targets.tsv", "labels.csv", "labels.tsv")
NODES, EDGES = ("nodes.csv", "nodes.tsv", "nodes.csv.gz"), ("edges.csv", "edges.tsv", "edges.csv.gz", "edges.parquet")
FORMATS = (
    "a TU, geom-gcn or OGB folder, a TU zip, graph files with targets.csv, nodes.csv with edges.csv, "
    "a CSV or Parquet file of edges, or a CSV of SMILES"
)


def read_path(path: Path, options: ReadOptions) -> Dataset:
    """The data set at a path."""
    if path.is_dir():
        refuse_links(path)
        return _read_folder(path, options)
    if path.suffix == ".zip":
        return _tu(path, options)
    _refuse_packed(path)
    if path.suffix in GRAPH_FILES:
        return read_graph_files([path], options, name=path.stem)
    if {".csv", ".tsv", ".parquet"} & set(path.suffixes):
        return _edge_table(path, options) if is_edge_table(path, options) else _smiles(path, options)
    raise InputError(f"{path}: must be {FORMATS}")


def _read_folder(path: Path, options: ReadOptions) -> Dataset:
    if nodes.is_geom_gcn(path):
        return _geom_gcn(path, options)
    if ogb.is_ogb(path):
        return _ogb(path, options)
    if tu.is_tu(path):
        return _tu(path, options)
    kinds = ((path / name for name in names) for names in (NODES, EDGES, TARGETS))
    node_table, edge_table, targets = (next(filter(Path.is_file, files), None) for files in kinds)
    if node_table and edge_table:
        return read_node_tables(edge_table, node_table, options, name=path.name)
    _refuse_packed(*sorted(path.iterdir()))
    files = sorted(file for file in path.iterdir() if file.suffix in GRAPH_FILES)
    if not files:
        raise InputError(f"{path}: must be {FORMATS}")
    return read_graph_files(files, options, targets=targets, name=path.name)


def _refuse_packed(*paths: Path) -> None:
    for path in paths:
        if path.suffix == ".gz" and path.with_suffix("").suffix in GRAPH_FILES:
            raise InputError(f"{path}: graph files are not read while they are packed; unpack it with `gunzip`")


def _tu(path: Path, o: ReadOptions) -> Dataset:
    _without_columns(path, o)
    return cached(
        lambda: tu.read_tu(path, self_loops=o.self_loops, task=o.task),
        sources=tu.source_files(path),
        options=f"tu {o.self_loops} {o.task}",
    )


def _geom_gcn(path: Path, o: ReadOptions) -> Dataset:
    _as_published(path, o)
    directed = o.directed is not False
    return cached(
        lambda: nodes.read_geom_gcn(
            path, directed=directed, self_loops=o.self_loops, drop_duplicates=o.drop_duplicates
        ),
        sources=nodes.source_files(path),
        options=f"geom-gcn {directed} {o.self_loops} {o.drop_duplicates}",
    )


def _ogb(path: Path, o: ReadOptions) -> Dataset:
    _as_published(path, o)
    return cached(lambda: ogb.read_ogb(path, progress=o.progress), sources=ogb.source_files(path), options="ogb")


def _smiles(path: Path, o: ReadOptions) -> Dataset:
    return cached(
        lambda: read_smiles(path, o),
        sources=[path],
        options=f"smiles 4 {_told(o)} {o.task} {o.missing!r} {o.skip_invalid}",
    )


def _edge_table(path: Path, o: ReadOptions) -> Dataset:
    for flag, given in (("task", o.task), ("missing", o.missing)):
        if given:
            raise InputError(f"{path}: a table of edges alone has no targets; leave out `--{flag} {given}`")
    return cached(
        lambda: read_edge_table(path, o),
        sources=[path],
        options=f"edges 6 {o.directed} {o.self_loops} {_told(o)}",
    )


def _told(o: ReadOptions) -> str:
    return f"{sorted(o.roles.items())} {list(o.like)}"


def _as_published(path: Path, o: ReadOptions) -> None:
    """Sets whose targets are classes by their format."""
    _without_columns(path, o)
    if o.task == "regression":
        raise InputError(f"{path}: its targets are classes as published; leave out `--task regression`")


def _without_columns(what: object, o: ReadOptions) -> None:
    """What is not a table has no columns about which something could be said."""
    if o.roles:
        raise InputError(f"{what}: has no columns to give roles to; leave out `--role`")
    if o.missing:
        raise InputError(f"{what}: has no cells in which a mark could stand for unknown; leave out `--missing`")


def _as_made(dataset: Dataset, o: ReadOptions) -> Dataset:
    """A set that a function made, of which nothing can be read in another way."""
    _without_columns(dataset.name, o)
    numbers = dataset.task == "regression"
    if o.task is not None and (dataset.task == "none" or (o.task == "regression") != numbers):
        found = "has no targets" if dataset.task == "none" else f"its targets are {'numbers' if numbers else 'classes'}"
        raise InputError(f"{dataset.name}: {found}; leave out `--task {o.task}`")
    return dataset


# Functions of `wlhn.data.generated`, which brings networkx and scipy, so only when one is asked for, and their sizes.
GENERATED: dict[str, tuple[Any, ...]] = {
    "BA-density-5": ("barabasi_albert_density", 5),
    "BA-density-10": ("barabasi_albert_density", 10),
    "ER-effective-size-0.008": ("erdos_renyi_effective_size", 0.008),
    "ER-effective-size-0.01": ("erdos_renyi_effective_size", 0.01),
    "karate": ("karate_club",),
    "atlas": ("graph_atlas",),
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
        dataset = _as_made(outside_dataset(base, seed), options)
    elif Path(data).exists():
        return replace(read_path(Path(data), options), path=str(Path(data).resolve()))
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
        maker, *sizes = GENERATED[name]
        dataset: Dataset = getattr(import_module("wlhn.data.generated"), maker)(*sizes, seed=seed)
        return _as_made(dataset, options)
    root = data_root_or_environment(data_root)
    location = locate(name, root)
    known = KNOWN[name]
    path = location.path or fetch(name, known, check=lambda path: _check(name, path), progress=options.progress)
    dataset = read_path(path, options)
    splits = dataset.splits
    if not splits and root is not None and known.splits and (root / known.splits).exists():
        splits = tuple(read_json_splits(root / known.splits, items=len(dataset)))
    inputs = dataset.inputs if known.inputs is None else known.inputs
    return replace(dataset, name=name, inputs=inputs, splits=splits)


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
