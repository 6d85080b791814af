"""Tables as they lie on disk, some rows at a time: text between separators (gzipped or not), or Parquet.

The separator is the one of comma, semicolon, tab and bar that the header has most of. Nothing is interpreted here:
cells of text stay text, only empty ones are gaps.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from wlhn.data.readers.archive import open_plain_or_gz, read_whole
from wlhn.data.readers.limits import check_text, check_unpacked
from wlhn.data.readers.values import check_name, named
from wlhn.errors import InputError
from wlhn.plugins import import_extra

if TYPE_CHECKING:
    import pandas as pd

ROWS = 1_000_000  # rows at a time
SEPARATORS = (",", ";", "\t", "|")
TABLES = (".csv", ".tsv", ".parquet")
HEADER = 1 << 20  # bytes of a header that are looked at


def read_pieces(path: Path, columns: list[str] | None = None, rows: int | None = None) -> Iterator[pd.DataFrame]:
    """The table so many rows at a time (at least one piece), as text or, from Parquet, as it is."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.suffix not in (*TABLES, ".gz"):
        raise InputError(f"{path}: must be a table that is plain or gzipped, found '{path.suffix}'")
    if path.suffix == ".parquet":
        yield from _parquet(path, columns, rows or ROWS)
        return
    try:
        with open_plain_or_gz(path) as stream:
            for frame in _parsed(stream, path, rows or ROWS):
                yield frame if columns is None else frame[columns]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error})") from None


def read_text_table(path: Path) -> pd.DataFrame:
    """The whole text of a table, without the blank lines at its end."""
    import pandas as pd

    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.suffix == ".parquet":
        raise InputError(f"{path}: only edges are read from Parquet; give a table of text (.csv or .tsv)")
    frame = pd.concat(list(_parsed(io.BytesIO(read_whole(path, "table")), path, ROWS)))
    given = frame.notna().any(axis=1).to_numpy().nonzero()[0]
    return frame.iloc[: given[-1] + 1 if len(given) else 0]


def separator_of(path: Path) -> str:
    """What stands between the fields of a table of text.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text('id;"size, in m";y')
    >>> separator_of(path)
    ';'
    """
    usual = "\t" if ".tsv" in path.suffixes else ","
    with open_plain_or_gz(path) as stream:
        header = stream.readline(HEADER)
    unquoted = b"".join(header.split(b'"')[::2])
    counts = {separator: unquoted.count(separator.encode()) for separator in SEPARATORS}
    check_text(str(path), max(counts.values()) + 1, "columns")
    return max(SEPARATORS, key=lambda separator: (counts[separator], separator == usual))


def _parsed(stream: IO[bytes] | BufferedIOBase, path: Path, rows: int) -> Iterator[pd.DataFrame]:
    import pandas as pd

    separator = separator_of(path)
    try:
        yield from (
            _named(frame, path)
            for frame in pd.read_csv(
                stream,
                sep=separator,
                dtype=str,
                keep_default_na=False,
                na_values=[""],
                skipinitialspace=separator != "\t",
                skip_blank_lines=False,
                chunksize=rows,
            )
        )
    except pd.errors.EmptyDataError:
        raise InputError(f"{path}: is empty; it needs a header line") from None
    except pd.errors.ParserError as error:
        why = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise InputError(f"{path}: {why}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8, found byte {error.object[error.start]:#04x}") from None


def _named(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """A piece with its names stripped, if it has as many fields as names."""
    import pandas as pd

    if not pd.api.types.is_integer_dtype(frame.index):  # pandas names rows by what is left over
        raise InputError(f"{path}, line 2: expected {len(frame.columns)} fields as in the header, found more")
    frame.columns = [str(name).strip() for name in frame.columns]
    for name in frame.columns:
        check_name(name, str(path))
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise InputError(f"{path}: two columns are called '{twice[0]}'; give them different names")
    if not len(frame.columns):
        raise InputError(f"{path}: has no header line with names of columns")
    if all(re.fullmatch(r"-?\d+(\.\d+)?", name) for name in frame.columns):
        raise InputError(
            f"{path}, line 1: has numbers where the names of columns should be ({named(frame.columns)}); "
            "add a header line"
        )
    return frame


def _parquet(path: Path, columns: list[str] | None, rows: int) -> Iterator[pd.DataFrame]:
    pa = import_extra("pyarrow", f"{path}: needs the package pyarrow; install it with `pip install 'wlhn[parquet]'`")
    import pyarrow.parquet as pq

    first = 0
    try:
        with pq.ParquetFile(path) as file:
            texts = _check_parquet(file, path)
        with pq.ParquetFile(path, read_dictionary=texts) as file:  # a long text that repeats is held once
            names = columns or file.schema_arrow.names
            if not file.metadata.num_rows:
                yield file.schema_arrow.empty_table().to_pandas(ignore_metadata=True)
            for batch in file.iter_batches(rows, columns=columns):
                frame = batch.to_pandas(ignore_metadata=True)[names]
                frame.index = range(first, first + len(frame))
                first += len(frame)
                yield frame
            if first != file.metadata.num_rows:  # a damaged page can end a column early
                raise InputError(
                    f"{path}: is damaged, it has {first:,} of the {file.metadata.num_rows:,} rows it states"
                )
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: is not a Parquet table ({reason})") from None


def _check_parquet(file: Any, path: Path) -> list[str]:
    """Sizes that the file states, before anything is unpacked; and its columns of text."""
    import pyarrow as pa

    metadata, schema = file.metadata, file.schema_arrow
    check_text(str(path), len(schema.names), "columns")
    for name in schema.names:
        check_name(name, str(path))
    stated = 0
    for k in range(metadata.num_row_groups):
        group = metadata.row_group(k)
        stated += sum(max(group.column(j).total_uncompressed_size, 0) for j in range(group.num_columns))
    check_unpacked(str(path), max(stated, 8 * metadata.num_rows * len(schema.names)), path.stat().st_size)
    for field in schema:
        if pa.types.is_nested(field.type):
            raise InputError(f"{path}, column '{field.name}': holds lists or records; it must hold single values")
    if len(set(schema.names)) < len(schema.names):
        raise InputError(f"{path}: two columns have the same name; give them different names")
    return [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
