"""Whatever lies at a path, read by what it looks like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wlhn.data.cache import cached
from wlhn.data.dataset import Dataset
from wlhn.data.readers import geom_gcn as nodes
from wlhn.data.readers import ogb, tu
from wlhn.data.readers.archive import refuse_links
from wlhn.data.readers.edge_tables import is_edge_table, read_edge_table
from wlhn.data.readers.graph_files import GRAPH_FILES
from wlhn.data.readers.molecules import read_smiles
from wlhn.data.readers.options import ReadOptions
from wlhn.data.readers.own import read_graph_files, read_node_tables
from wlhn.data.readers.tables import check_task
from wlhn.errors import InputError

TARGETS = ("targets.csv", "targets.tsv", "labels.csv", "labels.tsv")
NODES, EDGES = ("nodes.csv", "nodes.tsv", "nodes.csv.gz"), ("edges.csv", "edges.tsv", "edges.csv.gz", "edges.parquet")
FORMATS = (
    "a TU, geom-gcn or OGB folder, a TU zip, graph files with targets.csv, nodes.csv with edges.csv, "
    "a CSV or Parquet file of edges, or a CSV of SMILES"
)


def read_path(path: Path, options: ReadOptions) -> Dataset:
    """The data set at a path."""
    check_task(options.task)
    if path.is_dir():
        refuse_links(path)
        return _read_folder(path, options)
    if path.suffix == ".zip":
        return _tu(path, options)
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
    node_table, edge_table, targets = (_first(path, names) for names in (NODES, EDGES, TARGETS))
    if node_table and edge_table:
        return read_node_tables(edge_table, node_table, options, name=path.name)
    files = sorted(file for file in path.iterdir() if file.suffix in GRAPH_FILES)
    if not files:
        raise InputError(f"{path}: must be {FORMATS}")
    return read_graph_files(files, options, targets=targets, name=path.name)


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
        lambda: read_smiles(path, o),
        sources=[path],
        options=f"smiles 3 {_told(o)} {o.task} {o.missing!r} {o.skip_invalid}",
    )


def _edge_table(path: Path, o: ReadOptions) -> Dataset:
    return cached(
        lambda: read_edge_table(path, o),
        sources=[path],
        options=f"edges 2 {o.directed} {o.self_loops} {_told(o)}",
    )


def _told(o: ReadOptions) -> str:
    return f"{sorted(o.roles.items())} {list(o.like)}"


def _as_published(path: Path, o: ReadOptions) -> None:
    """Sets whose targets are classes by their format."""
    if o.task == "regression":
        raise InputError(f"{path}: its targets are classes as published; leave out `--task regression`")
