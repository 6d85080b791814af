"""One large graph from a table of its edges: CSV or TSV (gzipped or not) or Parquet, read piece by piece.

Memory holds the ends of the edges as 32-bit numbers and the name of each node once, never the text of the file. Columns
beside the two ends are not read; tables of nodes and edges with features are `wlhn.data.readers.own`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Column, Dataset, Role
from wlhn.data.readers.edges import simple_graphs
from wlhn.data.readers.encode import Targets
from wlhn.data.readers.tables import NAMES, check_roles, infer_columns, name_of
from wlhn.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ROWS = 1_000_000  # lines at a time
ENDS: tuple[Role, Role] = ("from", "to")


def read_edge_table(
    path: str | Path,
    *,
    directed: bool | None = None,
    self_loops: bool = False,
    roles: Mapping[str, Role] | None = None,
) -> Dataset:
    """The graph of a table of edges, nodes without targets; undirected unless told otherwise.

    Nodes come in the order of their names where all are whole numbers, else as they first appear.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "friends.csv"
    >>> _ = path.write_text("source,target\\nann,bob\\nbob,eve\\n")
    >>> dataset = read_edge_table(path)
    >>> dataset.graphs, dataset.graphs.node_ids
    (Graphs(1 graph, 3 nodes, 4 directed edges), ['ann', 'bob', 'eve'])
    """
    path, place = Path(path), dict[Any, int]()
    columns, header = end_columns(path, roles)
    check_roles(roles, header)
    ends = read_ends(path, columns, place)
    ids = list(place)
    del place
    if all(isinstance(name, int) for name in ids):
        order = np.argsort(np.array(ids))
        rank = np.empty(len(ids), np.int32)
        rank[order] = np.arange(len(ids), dtype=np.int32)
        ends, ids = rank[ends], [ids[k] for k in order]
    source, target = both_ways(ends, directed)
    graphs, notes = simple_graphs(
        source,
        target,
        np.array([0, len(ids)]),
        self_loops=self_loops,
        node_ids=None if ids == list(range(len(ids))) else ids,
    )
    return Dataset(
        name=path.name.partition(".")[0],
        graphs=graphs,
        level="node",
        columns=columns,
        notes=(("edges directed" if directed else "edges undirected"), *notes),
        **vars(Targets.none(len(ids))),
    )


def is_edge_table(path: Path) -> bool:
    """Whether a file says of itself that it is a table of edges: any Parquet file, or columns named as ends are."""
    if path.suffix == ".parquet":
        return True
    names = {str(name).casefold() for name in next(_pieces(path, rows=1)).columns}
    return all(names & set(NAMES[role]) for role in ENDS) and not names & set(NAMES["smiles"])


def end_columns(
    path: Path, roles: Mapping[str, Role] | None = None, like: Sequence[Column] = ()
) -> tuple[tuple[Column, ...], pd.DataFrame]:
    """The columns of a table of edges, all but the ends ignored; and its header."""
    frame = next(_pieces(path, rows=1)).iloc[:0]
    columns = infer_columns(frame, expected=ENDS, rest="ignored", roles=roles, like=like)
    for role in ENDS:
        if [column.role for column in columns].count(role) != 1:
            raise InputError(f"{path}: expected one column with role '{role}' among {', '.join(map(str, frame))}")
    return tuple(c if c.role in ENDS else replace(c, detail="only the ends are read") for c in columns), frame


def read_ends(
    path: Path, columns: Sequence[Column], place: dict[Any, int], among: Path | None = None
) -> NDArray[np.int32]:
    """(2, edges): the numbers of the edges' ends in `place`, which takes in new names unless they must be `among` those
    of another table.
    """
    import pandas as pd

    names = [next(c.name for c in columns if c.role == role) for role in ENDS]
    parts, ended = [np.empty((2, 0), np.int32)], ""
    for piece in _pieces(path, names):
        given = np.flatnonzero(piece.notna().any(axis=1))
        frame = piece.iloc[: given[-1] + 1 if len(given) else 0]  # blank lines at the end are no edges
        gaps = frame.isna().to_numpy()
        if len(frame) and (ended or gaps.any()):
            row, column = np.argwhere(gaps)[0] if gaps.any() else (0, 0)
            where = ended or _line(path, frame, row)
            raise InputError(f"{path}, {where}, column '{names[column]}': expected a value, found nothing")
        if len(frame) < len(piece):
            ended = ended or _line(path, piece, len(frame))
        code, distinct = pd.factorize(frame.to_numpy(object).ravel())
        found = [name_of(value) for value in distinct.tolist()]
        if among is not None and not place.keys() >= set(found):
            row = min(int(np.flatnonzero(code == k)[0]) // 2 for k, n in enumerate(found) if n not in place)
            strange = next(name for name in map(name_of, frame.iloc[row]) if name not in place)
            raise InputError(
                f"{path}, {_line(path, frame, row)}: node {strange!r} is not in {among}, expected one of its ids"
            )
        number = np.array([place.setdefault(name, len(place)) for name in found], np.int32)
        parts.append(number[code].reshape(-1, 2).T)
    return np.concatenate(parts, axis=1)


def both_ways(ends: NDArray[Any], directed: bool | None) -> NDArray[Any]:
    """(2, edges) with undirected edges in both directions, self-loops once."""
    return ends if directed else np.concatenate([ends, ends[::-1, ends[0] != ends[1]]], axis=1)


def _line(path: Path, frame: pd.DataFrame, row: int) -> str:
    at = int(frame.index[row])
    return f"row {at + 1}" if path.suffix == ".parquet" else f"line {at + 2}"


def _pieces(path: Path, columns: list[str] | None = None, rows: int | None = None) -> Iterator[pd.DataFrame]:
    """The table so many rows at a time (at least one piece), as text or, from Parquet, as it is."""
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a table there")
    yield from (_parquet if path.suffix == ".parquet" else _csv)(path, columns, rows or ROWS)


def _csv(path: Path, columns: list[str] | None, rows: int) -> Iterator[pd.DataFrame]:
    import pandas as pd

    try:
        with pd.read_csv(
            path,
            sep="\t" if ".tsv" in path.suffixes else ",",
            dtype=str,
            keep_default_na=False,
            na_values=[""],
            skipinitialspace=True,
            skip_blank_lines=False,
            chunksize=rows,
        ) as pieces:
            for frame in pieces:
                frame.columns = [str(name).strip() for name in frame.columns]
                if not pd.api.types.is_integer_dtype(frame.index):  # pandas names rows by what is left over
                    fields = f"{len(frame.columns)} fields as in the header"
                    raise InputError(f"{path}, line 2: expected {fields}, found more")
                yield frame if columns is None else frame[columns]
    except pd.errors.EmptyDataError:
        raise InputError(f"{path}: empty, expected a header line") from None
    except pd.errors.ParserError as error:
        raise InputError(f"{path}: {str(error).removeprefix('Error tokenizing data. C error: ').strip()}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8, found byte {error.object[error.start]:#04x}") from None
    except (EOFError, OSError) as error:  # gzip's
        raise InputError(f"{path}: cannot be read ({error})") from None


def _parquet(path: Path, columns: list[str] | None, rows: int) -> Iterator[pd.DataFrame]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(f"{path}: needs the package pyarrow, expected `pip install wlhn[parquet]`") from None
    first = 0
    try:
        with pq.ParquetFile(path) as file:
            if not file.metadata.num_rows:
                yield file.schema_arrow.empty_table().to_pandas(ignore_metadata=True)
            for batch in file.iter_batches(rows, columns=columns):
                frame = batch.to_pandas(ignore_metadata=True)[columns or file.schema_arrow.names]
                frame.index = range(first, first + len(frame))
                first += len(frame)
                yield frame
    except pa.ArrowException as error:
        raise InputError(f"{path}: expected a Parquet table ({str(error).splitlines()[0]})") from None
