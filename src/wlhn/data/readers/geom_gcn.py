"""Node sets in geom-gcn's format (Pei et al. 2020): Cornell, Texas, Wisconsin, Squirrel, Actor.

out1_graph_edges.txt lists directed edges under a header, out1_node_feature_label.txt (or .gz) node, features and label
between tabs. Features are 0/1 columns, or for Actor the numbers of the columns that are 1. Edges stay directed, as in
the files, unless symmetrised; a duplicate edge is kept once.

Most of Squirrel's nodes are copies: equal label and equal successors (Platonov et al. 2023 show that test labels leak
through them). `drop_duplicates` keeps the first of each, 2,204 of 5,201 nodes. Their filtered set has 2,223, presumably
because they compared page views, of which these files hold five classes only.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import Column
from wlhn.data.dataset import Dataset, class_indices
from wlhn.data.readers.archive import read_whole
from wlhn.data.readers.edges import simple_graphs
from wlhn.data.readers.limits import check_text
from wlhn.data.readers.text import quoted, read_integers
from wlhn.data.splits import read_mask_split
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.loops.edges import first_bad_edge

EDGES, NODES = "out1_graph_edges.txt", "out1_node_feature_label.txt"
NOTED_COPIES = 0.25  # a share that cannot be chance; other sets have nodes with one common successor


def read_geom_gcn(
    path: str | Path, *, directed: bool = True, self_loops: bool = False, drop_duplicates: bool = False
) -> Dataset:
    """One node set from its folder, with the published splits where a folder `splits` lies beside it.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "pages"
    >>> folder.mkdir()
    >>> _ = (folder / EDGES).write_text("node_id\\tnode_id\\n0\\t1\\n")
    >>> _ = (folder / NODES).write_text("node_id\\tfeature\\tlabel\\n0\\t1,0\\t3\\n1\\t0,1\\t4\\n")
    >>> read_geom_gcn(folder)
    Dataset(pages, node classification, Graphs(1 graph, 2 nodes, 1 directed edge))
    """
    path = Path(path)
    x, label = _read_nodes(node_file(path))
    edges = _read_edges(path / EDGES, len(label))
    copies = duplicates(edges, label)
    node_ptr = np.array([0, len(label)])
    graphs, notes = simple_graphs(edges.T, node_ptr, self_loops=self_loops, undirected=not directed, x=x)
    y, classes = class_indices(label)
    dataset = Dataset(
        name=path.name,
        graphs=graphs,
        y=y,
        level="node",
        task="classification",
        classes=classes,
        inputs=("x",),
        columns=(
            Column("feature", "feature", "numeric", f"{x.shape[1]} columns of 0 and 1"),
            Column("label", "target", "categories", f"{len(classes)} classes"),
        ),
        splits=tuple(read_mask_split(file, items=len(y)) for file in split_files(path)),
        notes=notes if directed else ("edges symmetrised", *notes),
    )
    if drop_duplicates:
        return _keep_nodes(dataset, ~copies)
    if copies.mean() > NOTED_COPIES:
        copied = f"{int(copies.sum()):,} nodes copy the label and successors of another (drop_duplicates removes them)"
        return replace(dataset, notes=(*dataset.notes, copied))
    return dataset


def is_geom_gcn(path: Path) -> bool:
    return (path / EDGES).is_file()


def source_files(path: Path) -> list[Path]:
    """Everything the result depends on."""
    return [path / EDGES, node_file(path), *split_files(path)]


def node_file(path: Path) -> Path:
    """The file of features and labels, plain or gzipped."""
    for candidate in (path / NODES, path / f"{NODES}.gz"):
        if candidate.is_file():
            return candidate
    raise InputError(f"{path / NODES}: no such file, plain or gzipped")


def split_files(path: Path) -> list[Path]:
    """The published splits of a set, in their order; both Cornells use the same."""
    name = path.name.removesuffix("_2021")
    return sorted((path.parent / "splits").glob(f"{name}_split_0.6_0.2_[0-9].npz"))


def duplicates(edges: NDArray[Any], label: NDArray[Any]) -> NDArray[np.bool_]:
    """Nodes with the label and the successors of an earlier node (nodes without successors are never copies).

    >>> duplicates(np.array([[0, 2], [1, 2], [3, 2]]), np.array([7, 7, 7, 5])).tolist()
    [False, True, False, False]
    """
    successors = Graphs.from_edges(np.unique(edges[:, ::-1], axis=0).T, len(label))
    seen: set[tuple[int, bytes]] = set()
    copy = np.zeros(len(label), bool)
    for v in np.flatnonzero(successors.degree).tolist():
        key = (int(label[v]), np.sort(successors.neighbours(v)).tobytes())
        copy[v] = key in seen
        seen.add(key)
    return copy


def _keep_nodes(dataset: Dataset, keep: NDArray[np.bool_]) -> Dataset:
    """Part of a node set: the nodes, their edges, their places in splits."""
    graphs, place = dataset.graphs, np.cumsum(keep) - 1
    source, target = graphs.edge_index
    stay = keep[source] & keep[target]
    part = Graphs.from_edges(
        np.stack([place[source[stay]], place[target[stay]]]),
        int(keep.sum()),
        x=None if graphs.x is None else graphs.x[keep],
        node_ids=np.flatnonzero(keep).tolist(),
    )
    splits = tuple(split.among(keep).each_part(lambda kept: place[kept]) for split in dataset.splits)
    notes = (*dataset.notes, f"{int((~keep).sum()):,} duplicate nodes dropped")
    return replace(dataset, graphs=part, y=dataset.y[keep], splits=splits, notes=notes)


def _read_edges(path: Path, nodes: int) -> NDArray[Any]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; it has the edges")
    with path.open("rb") as stream:
        stream.readline()
        edges = read_integers(stream, str(path), columns=2, first_line=2)
    bad = int(first_bad_edge(edges[:, 0], edges[:, 1], np.zeros(nodes, np.int8)))
    if bad >= 0:
        u, v = edges[bad]
        raise InputError(f"{path}, line {bad + 2}: nodes must be from 0 to {nodes - 1}, found {u} and {v}")
    return edges


def _read_nodes(path: Path) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    header, *lines = read_whole(path, "table").rstrip().split(b"\n")
    n = len(lines)
    label = np.full(n, -1, np.int64)
    given: list[bytes] = [b""] * n
    for k, line in enumerate(lines):
        fields = line.split(b"\t")
        if len(fields) != 3 or not _is_number(fields[0]) or not _is_number(fields[2].strip()):
            raise InputError(
                f"{path}, line {k + 2}: must be node, features and label between tabs, found {quoted(line)}"
            )
        node = int(fields[0])
        if node >= n or label[node] >= 0:
            raise InputError(f"{path}, line {k + 2}: each node from 0 to {n - 1} must be there once, found {node}")
        label[node], given[node] = int(fields[2]), fields[1]
    x = None if b"feature_amount" in header else _columns_of_bits(given)
    return (_columns_by_number(given, path) if x is None else x), label


def _is_number(field: bytes) -> bool:
    return field.isdigit() and len(field) < 19  # which 64 bits hold


def _columns_of_bits(rows: list[bytes]) -> NDArray[np.float32] | None:
    """0,1,1,… in every row → matrix; None where rows are something else."""
    width = len(rows[0]) if rows else 0
    if width % 2 == 0 or any(len(row) != width for row in rows):
        return None
    characters = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), width)
    bits = characters[:, ::2] - ord("0")
    if (bits > 1).any() or (characters[:, 1::2] != ord(",")).any():
        return None
    return bits.astype(np.float32)


def _columns_by_number(rows: list[bytes], path: Path) -> NDArray[np.float32]:
    try:
        columns = [np.array(row.split(b","), dtype=np.int64) for row in rows]
    except (ValueError, OverflowError):
        raise InputError(f"{path}: features must be 0/1 columns or column numbers between commas") from None
    flat = np.concatenate(columns) if columns else np.empty(0, np.int64)
    if len(flat) and (flat.min() < 0 or flat.max() > 1 << 20):
        raise InputError(f"{path}: column numbers must be from 0 to {1 << 20}, found {flat.min()} to {flat.max()}")
    width = int(flat.max(initial=-1)) + 1
    check_text(str(path), len(rows) * width, "features")
    x = np.zeros((len(rows), width), np.float32)
    x[np.repeat(np.arange(len(rows)), [len(c) for c in columns]), flat] = 1
    return x
