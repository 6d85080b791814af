"""OGB's molecule sets (Hu et al. 2020) from their raw files: raw/*.csv.gz, split/scaffold/*.csv.gz, mapping/mol.csv.gz.

Atoms and bonds are categories, so x and edge_attr stay integers. A bond stands once in the files and in both directions
here. The files are read as streams: beside the result itself, memory holds one block of text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.data.columns import Column
from wlhn.data.dataset import Dataset
from wlhn.data.readers.archive import open_gz
from wlhn.data.readers.edges import simple_graphs
from wlhn.data.readers.text import check_lines, read_integers
from wlhn.data.readers.values import shown
from wlhn.data.splits import Split
from wlhn.errors import InputError
from wlhn.plugins import import_extra

ATOM_CATEGORIES = (119, 5, 12, 12, 10, 6, 6, 2, 2)  # values that each of OGB's features can have
BOND_CATEGORIES = (5, 6, 2)
RAW = ("num-node-list", "num-edge-list", "node-feat", "edge", "edge-feat", "graph-label")
PARTS = ("train", "valid", "test")


def read_ogb(path: str | Path, *, progress: bool = False) -> Dataset:
    """A molecule set in OGB's folder layout, with its published scaffold split; of it, what has a target.

    >>> read_ogb("nowhere")
    Traceback (most recent call last):
    wlhn.errors.InputError: nowhere/raw/num-node-list.csv.gz: no such file; OGB's layout needs it
    """
    path = Path(path)
    nodes = _integers(path, "num-node-list", 1, np.int64, progress)[:, 0]
    bonds = _integers(path, "num-edge-list", 1, np.int64, progress, rows=len(nodes))[:, 0]
    for name, sizes in (("num-node-list", nodes), ("num-edge-list", bonds)):
        if (sizes < 0).any():
            raise InputError(f"{_raw(path, name)}, line {np.flatnonzero(sizes < 0)[0] + 1}: a size must be 0 or more")
    edge = _integers(path, "edge", 2, np.int32, progress, rows=int(bonds.sum()))
    size = np.repeat(nodes, bonds)
    bad = np.flatnonzero((edge < 0).any(axis=1) | (edge >= size[:, None]).any(axis=1))
    if len(bad):
        u, v = edge[bad[0]]
        there = f"{_raw(path, 'edge')}, line {bad[0] + 1}"
        raise InputError(f"{there}: atoms must be from 0 to {size[bad[0]] - 1} of their molecule, found {u} and {v}")
    node_ptr = np.concatenate([[0], np.cumsum(nodes)])
    edge += np.repeat(node_ptr[:-1], bonds)[:, None].astype(np.int32)
    graphs, notes = simple_graphs(
        (edge.ravel(), edge[:, ::-1].ravel()),  # u v of each bond, and v u
        node_ptr,
        self_loops=False,
        x=_integers(path, "node-feat", len(ATOM_CATEGORIES), np.int16, progress, rows=int(nodes.sum())),
        edge_attr=np.repeat(
            _integers(path, "edge-feat", len(BOND_CATEGORIES), np.int16, progress, rows=len(edge)), 2, axis=0
        ),
    )
    y = _read_targets(path, len(nodes), progress)
    names = _target_names(path, y.shape[1])
    return Dataset(
        name=path.name,
        graphs=graphs,
        y=y,
        level="graph",
        task="binary",
        targets=names,
        inputs=("x",),
        categories=ATOM_CATEGORIES,
        columns=(
            Column("node-feat", "feature", "categories", f"{len(ATOM_CATEGORIES)} columns of OGB's atom features"),
            Column("edge-feat", "feature", "categories", f"{len(BOND_CATEGORIES)} columns of OGB's bond features"),
            Column("graph-label", "target", "0/1", f"{len(names)} tasks"),
        ),
        splits=tuple(split.among(np.asarray(~np.isnan(y).all(axis=1))) for split in _read_split(path, len(y))),
        notes=notes,
    )


def is_ogb(path: Path) -> bool:
    return _raw(path, "edge").is_file()


def source_files(path: Path) -> list[Path]:
    """Everything the result depends on."""
    wanted = [_raw(path, name) for name in RAW] + [_split(path, part) for part in PARTS] + [_mapping(path)]
    return [file for file in wanted if file.is_file()]


def ogb_score(name: str, y_true: ArrayLike, y_score: ArrayLike) -> dict[str, float]:
    """What OGB's own Evaluator says: ROC-AUC for ogbg-molhiv, average precision for ogbg-molpcba.

    >>> ogb_score("ogbg-molhiv", [[0], [1], [1]], [[0.1], [0.9], [0.4]])
    {'rocauc': 1.0}
    """
    missing = "OGB's Evaluator needs the package ogb; install it with `pip install 'wlhn[molecules]'`"
    evaluator = import_extra("ogb.graphproppred.evaluate", missing).Evaluator(name)
    scores = evaluator.eval({"y_true": np.asarray(y_true), "y_pred": np.asarray(y_score)})
    return {metric: float(value) for metric, value in scores.items()}


def _raw(path: Path, name: str) -> Path:
    return path / "raw" / f"{name}.csv.gz"


def _there(file: Path) -> Path:
    if not file.is_file():
        raise InputError(f"{file}: no such file; OGB's layout needs it")
    return file


def _split(path: Path, part: str) -> Path:
    return path / "split" / "scaffold" / f"{part}.csv.gz"


def _mapping(path: Path) -> Path:
    return path / "mapping" / "mol.csv.gz"


def _integers(path: Path, name: str, columns: int, dtype: Any, progress: bool, rows: int | None = None) -> NDArray[Any]:
    file = _there(_raw(path, name))
    with open_gz(file, progress=progress) as stream:
        return read_integers(stream, str(file), columns=columns, rows=rows, dtype=dtype)


def _read_targets(path: Path, rows: int, progress: bool) -> NDArray[np.float32]:
    """0, 1, or nothing where a molecule was not tested."""
    import pandas as pd

    file = _there(_raw(path, "graph-label"))
    try:
        # A number too large for float32 becomes inf, and is refused below.
        with np.errstate(over="ignore"), open_gz(file, progress=progress) as stream:
            blocks = pd.read_csv(stream, header=None, dtype=np.float32, chunksize=1 << 16, skip_blank_lines=False)
            y = np.concatenate([block.to_numpy() for block in blocks])
    except (ValueError, UnicodeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: must have 0, 1 or nothing between commas ({shown(error)})") from None
    bad = np.argwhere(~(np.isnan(y) | (y == 0) | (y == 1)))
    if len(bad):
        raise InputError(f"{file}, line {bad[0, 0] + 1}: must be 0, 1 or nothing, found {y[tuple(bad[0])]:g}")
    check_lines(str(file), len(y), rows)
    return y


def _target_names(path: Path, columns: int) -> tuple[str, ...]:
    """The columns of mol.csv.gz but the last two, smiles and mol_id."""
    if _mapping(path).is_file():
        with open_gz(_mapping(path), progress=False) as stream:
            names = stream.readline().decode("utf-8", "replace").strip().split(",")[:-2]
        if len(names) == columns:
            return tuple(names)
    return tuple(f"task {k}" for k in range(columns))


def _read_split(path: Path, items: int) -> tuple[Split, ...]:
    files = [_split(path, part) for part in PARTS]
    if not all(file.is_file() for file in files):
        return ()
    parts = []
    for file in files:
        with open_gz(file, progress=False) as stream:
            parts.append(read_integers(stream, str(file), columns=1)[:, 0])
    return (Split(*parts).check_fits(items, str(files[0].parent)),)
