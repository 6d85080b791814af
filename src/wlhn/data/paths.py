"""Whatever lies at a path, read by what it looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wlhn.data.cache import cached
from wlhn.data.dataset import Column, Dataset, Role, TaskChoice
from wlhn.data.readers import geom_gcn as nodes
from wlhn.data.readers import ogb, tu
from wlhn.data.readers.archive import refuse_links
from wlhn.data.readers.edge_tables import is_edge_table, read_edge_table
from wlhn.data.readers.graph_files import GRAPH_FILES
from wlhn.data.readers.molecules import read_smiles
from wlhn.data.readers.own import read_graph_files, read_node_tables
from wlhn.data.readers.tables import check_task
from wlhn.errors import InputError

TARGETS = ("targets.csv", "targets.tsv", "labels.csv", "labels.tsv")
NODES, EDGES = ("nodes.csv", "nodes.tsv", "nodes.csv.gz"), ("edges.csv", "edges.tsv", "edges.csv.gz", "edges.parquet")
FORMATS = (
    "a TU, geom-gcn or OGB folder, a TU zip, graph files with targets.csv, nodes.csv with edges.csv, "
    "a CSV or Parquet file of edges, or a CSV of SMILES"
)


@dataclass(frozen=True)
class ReadOptions:
    """How to read; each format takes what concerns it. `load` says what they mean."""

    self_loops: bool = False
    directed: bool | None = None
    drop_duplicates: bool = False
    task: TaskChoice | None = None
    missing: str | None = None
    roles: Mapping[str, Role] | None = None
    like: Sequence[Column] = ()
    skip_invalid: bool = False
    progress: bool = False

    def of_tables(self) -> dict[str, Any]:
        """What the user's own tables take."""
        return {"roles": self.roles, "like": self.like, "task": self.task, "missing": self.missing}


def read_path(path: Path, options: ReadOptions) -> Dataset:
    """The data set at a path."""
    check_task(options.task)
    if path.is_dir():
        refuse_links(path)
        return _read_folder(path, options)
    if path.suffix == ".zip":
        return _tu(path, options)
    if path.suffix in GRAPH_FILES:
        return _graph_files([path], None, path.stem, options)
    if {".csv", ".tsv", ".parquet"} & set(path.suffixes):
        return _edge_table(path, options) if is_edge_table(path, options.roles) else _smiles(path, options)
    raise InputError(f"{path}: must be {FORMATS}")


def _read_folder(path: Path, options: ReadOptions) -> Dataset:
    if nodes.is_geom_gcn(path):
        return _geom_gcn(path, options)
    if ogb.is_ogb(path):
        return _ogb(path, options)
    if tu.is_tu(path):
        return _tu(path, options)
    node_table, edge_table, targets = (_first(path, names) for names in (NODES, EDGES, TARGETS))
    if node_table and edge_table:
        return read_node_tables(
            edge_table,
            node_table,
            name=path.name,
            directed=options.directed,
            self_loops=options.self_loops,
            **options.of_tables(),
        )
    files = sorted(file for file in path.iterdir() if file.suffix in GRAPH_FILES)
    if not files:
        raise InputError(f"{path}: must be {FORMATS}")
    return _graph_files(files, targets, path.name, options)


def _first(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _tu(path: Path, o: ReadOptions) -> Dataset:
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
        lambda: read_smiles(path, **o.of_tables(), skip_invalid=o.skip_invalid, progress=o.progress),
        sources=[path],
        options=f"smiles 3 {_told(o)} {o.task} {o.missing!r} {o.skip_invalid}",
    )


def _edge_table(path: Path, o: ReadOptions) -> Dataset:
    return cached(
        lambda: read_edge_table(path, directed=o.directed, self_loops=o.self_loops, roles=o.roles, like=o.like),
        sources=[path],
        options=f"edges 2 {o.directed} {o.self_loops} {_told(o)}",
    )


def _told(o: ReadOptions) -> str:
    return f"{sorted((o.roles or {}).items())} {list(o.like)}"


def _as_published(path: Path, o: ReadOptions) -> None:
    """Sets whose targets are classes by their format."""
    if o.task == "regression":
        raise InputError(f"{path}: its targets are classes as published; leave out `--task regression`")


def _graph_files(files: Sequence[Path], targets: Path | None, name: str, o: ReadOptions) -> Dataset:
    return read_graph_files(
        files,
        targets=targets,
        name=name,
        directed=o.directed,
        self_loops=o.self_loops,
        **o.of_tables(),
    )
