"""One graph from a table of its edges, perhaps with one of its nodes.

Edges may be many: text between separators (gzipped or not) or Parquet, read piece by piece. Memory holds the ends of
the edges as 32-bit numbers, the name of each node once and a number for every other cell, never the text of the file.
Columns beside the two ends are attributes of the edges, as in all tables.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import Column
from wlhn.data.dataset import Dataset
from wlhn.data.readers.column_names import EDGE_IDS, ENDS, NAMES, known_ends, plain
from wlhn.data.readers.edges import simple_graphs
from wlhn.data.readers.encode import Targets, encode_features, encode_split, encode_targets
from wlhn.data.readers.pieces import read_pieces, separator_of
from wlhn.data.readers.table_notes import position_notes, table_notes
from wlhn.data.readers.tables import DEFAULTS, ReadOptions, Table, infer_columns, read_table
from wlhn.data.readers.values import attributes, is_numeric, name_of, named, shown, typed
from wlhn.errors import InputError
from wlhn.graphs import Graphs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """The edges of a table as they stand there."""

    ends: NDArray[np.int32]  # (2, edges) numbers of nodes
    label: NDArray[np.int64] | None
    attr: NDArray[np.float32] | None
    columns: tuple[Column, ...]
    notes: tuple[str, ...]

    def graph(self, ids: list[Any], options: ReadOptions, **nodes: Any) -> tuple[Graphs, tuple[str, ...]]:
        """The graph of these edges between nodes of these names, and what there is to note about them."""
        graphs, notes = simple_graphs(
            self.ends,
            np.array([0, len(ids)]),
            self_loops=options.self_loops,
            undirected=not options.directed,
            edge_label=self.label,
            edge_attr=self.attr,
            node_ids=None if ids == list(range(len(ids))) else ids,
            **nodes,
        )
        direction = "edges are directed" if options.directed else "edges are taken as undirected"
        return graphs, (direction, *self.notes, *notes)


def read_edge_table(path: str | Path, options: ReadOptions = DEFAULTS) -> Dataset:
    """The graph of a table of edges, nodes without targets; undirected unless told otherwise.

    Nodes come in the order of their names where all are whole numbers, else as they first appear.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "friends.csv"
    >>> _ = path.write_text("source,target,years\\nann,bob,3\\nbob,eve,5\\n")
    >>> dataset = read_edge_table(path)
    >>> dataset.graphs, dataset.graphs.node_ids, dataset.graphs.edge_attr.tolist()
    (Graphs(1 graph, 3 nodes, 4 directed edges), ['ann', 'bob', 'eve'], [[3.0], [3.0], [5.0], [5.0]])
    """
    path, place = Path(path), dict[Any, int]()
    edges = read_edges(path, place, options.of_edges())
    ends, ids = edges.ends, list(place)
    del place
    if all(isinstance(name, int) for name in ids):
        order = np.argsort(np.array(ids, dtype=np.int64))
        rank = np.empty(len(ids), np.int32)
        rank[order] = np.arange(len(ids), dtype=np.int32)
        ends, ids = rank[ends], [ids[k] for k in order]
    graphs, notes = replace(edges, ends=ends).graph(ids, options)
    name = path.name.partition(".")[0]
    return Targets.none(len(ids)).dataset(name, graphs, "node", *notes, columns=edges.columns)


def read_node_tables(
    edges: str | Path, nodes: str | Path, options: ReadOptions = DEFAULTS, *, name: str = "graph"
) -> Dataset:
    """One graph for node tasks: a table of edges (ends, labels, numbers) and a table of nodes (id, features, target).

    Ids are whatever the tables hold.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "nodes.csv").write_text("id,age,club\\nann,31,a\\nbob,27,b\\n")
    >>> _ = (folder / "edges.csv").write_text("from,to\\nann,bob\\n")
    >>> dataset = read_node_tables(folder / "edges.csv", folder / "nodes.csv")
    >>> dataset.graphs.x.tolist(), dataset.classes
    ([[31.0], [27.0]], ('a', 'b'))
    """
    of_nodes = options.of_nodes()
    vertex = read_table(Path(nodes), of_nodes, expected=("id", "target"), named=("split",))
    vertex.check_has_features_of(of_nodes.like)
    ids = vertex.one("id").tolist()
    place = vertex.lines_by_name(ids, "node")
    of_edges = options.of_edges(vertex.frame.columns)
    edge = read_edges(Path(edges), place, of_edges, among=vertex.path, others=[vertex.frame])
    label, x = encode_features(vertex)
    graphs, (direction, *notes) = edge.graph(ids, options, node_label=label, x=x)
    targets = encode_targets(vertex, options)
    said = (direction, *position_notes(vertex, of_nodes), *table_notes([vertex]), *notes)
    columns, splits = vertex.columns + edge.columns, encode_split(vertex, targets)
    return targets.dataset(name, graphs, "node", *said, columns=columns, splits=splits)


def is_edge_table(path: Path, options: ReadOptions = DEFAULTS) -> bool:
    """Whether a file is a table of edges: any Parquet file, or columns named as ends are, or said to be ends."""
    if path.suffix == ".parquet":
        return True
    told = set(options.roles.values())
    if told & {*ENDS, "smiles"}:
        return "smiles" not in told
    names = {plain(name) for name in next(read_pieces(path, rows=1)).columns}
    return bool(known_ends(names - {"a", "b"})) and not names & set(NAMES["smiles"])


def read_edges(
    path: Path,
    place: dict[Any, int],
    options: ReadOptions,
    *,
    among: Path | None = None,
    others: Sequence[pd.DataFrame] = (),
) -> EdgeTable:
    """The edges of a table, their ends by the numbers in `place`, which takes in new names unless they must be `among`
    those of another table. Roles may also name columns of `others`.
    """
    import pandas as pd

    header = next(read_pieces(path, rows=1)).iloc[:0]
    options.check_roles(*others, header)
    found = infer_columns(header, options, expected=ENDS)
    as_listed = Table(path, header, found)
    ends = _read_ends(path, _names_of_ends(as_listed), place, among)
    rest = [column.name for column in found if column.is_feature]
    words = options.text_columns()
    values = pd.DataFrame(_read_values(path, rest, words, ends.shape[1]) if rest else {}, index=range(ends.shape[1]))
    told = {*options.roles, *(column.name for column in options.like)}
    ids = [name for name in rest if name not in told and plain(name) in EDGE_IDS and values[name].is_unique]
    options = replace(options, roles={**options.roles, **dict.fromkeys(ids, "ignored")})
    kinds = {column.name: column for column in infer_columns(values, options.of_columns(rest))}
    columns = tuple(replace(kinds.get(column.name, column), edge=True) for column in found)
    table = Table(path, values, tuple(column for column in columns if column.name in kinds))
    label, attr = encode_features(table)
    notes = (*position_notes(as_listed, options), *table_notes([table]))
    notes += tuple(f"{path.name}: '{shown(name)}' names edges, so it is ignored" for name in ids)
    return EdgeTable(ends, label, attr, columns, notes)


def _names_of_ends(table: Table) -> list[str]:
    if not all(table.names(role) for role in ENDS):
        raise InputError(
            f"{table.path}: which of the columns {named(table.frame.columns)} are the two ends of an edge? "
            "`--role NAME=from --role NAME=to` says it"
        )
    for role in ENDS:
        table.one(role)
    return [table.names(role)[0] for role in ENDS]


def _read_ends(path: Path, names: list[str], place: dict[Any, int], among: Path | None) -> NDArray[np.int32]:
    import pandas as pd

    parts, ended = [np.empty((2, 0), np.int32)], ""
    for piece in read_pieces(path, names):
        given = np.flatnonzero(piece.notna().any(axis=1))
        frame = piece.iloc[: given[-1] + 1 if len(given) else 0]  # blank lines at the end are no edges
        gaps = frame.isna().to_numpy()
        if len(frame) and (ended or gaps.any()):
            row, column = np.argwhere(gaps)[0] if gaps.any() else (0, 0)
            where = ended or _line(path, frame, row)
            raise InputError(f"{path}, {where}, column '{names[column]}': the value is missing")
        if len(frame) < len(piece):
            ended = ended or _line(path, piece, len(frame))
        code, distinct = pd.factorize(frame.to_numpy(object).ravel())
        found = [name_of(value) for value in distinct.tolist()]
        if among is not None and not place.keys() >= set(found):
            row = min(int(np.flatnonzero(code == k)[0]) // 2 for k, n in enumerate(found) if n not in place)
            strange = next(name for name in map(name_of, frame.iloc[row]) if name not in place)
            raise InputError(
                f"{path}, {_line(path, frame, row)}: node '{shown(strange)}' is not in {among}; "
                "add it there, or leave out the edge"
            )
        number = np.array([place.setdefault(name, len(place)) for name in found], np.int32)
        parts.append(number[code].reshape(-1, 2).T)
    return np.concatenate(parts, axis=1)


def _read_values(path: Path, names: list[str], words: Container[str], rows: int) -> dict[str, pd.Series]:
    """Columns as numbers, or, where they are not or shall not be, as text of which equal cells are one object."""
    import pandas as pd

    comma = path.suffix != ".parquet" and separator_of(path) != ","
    numbers: dict[str, list[pd.Series]] = {name: [] for name in names if name not in words}
    for piece in read_pieces(path, names):
        for name in list(numbers):
            column = piece[name] if is_numeric(piece[name]) else typed(piece[name].astype(object), comma)
            if is_numeric(column):
                numbers[name].append(column)
            else:
                del numbers[name]
    text: dict[str, list[pd.Series]] = {name: [] for name in names if name not in numbers}
    shared: dict[Any, Any] = {}
    for piece in read_pieces(path, list(text)) if text else ():
        for name, parts in text.items():
            cells = piece[name].astype(object).where(piece[name].notna(), None)
            parts.append(attributes([shared.setdefault(cell, cell) for cell in cells.tolist()], cells.index))
    return {name: pd.concat((numbers | text)[name]).iloc[:rows] for name in names}


def _line(path: Path, frame: pd.DataFrame, row: int) -> str:
    at = int(frame.index[row])
    return f"row {at + 1}" if path.suffix == ".parquet" else f"line {at + 2}"
