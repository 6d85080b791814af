"""Predictions as tables, row by row as they come: CSV, JSON lines or Parquet by the name of the file, or a stream."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from wlhn.data.dataset import Dataset, Skipped
from wlhn.errors import InputError
from wlhn.files import replacing
from wlhn.plugins import import_extra
from wlhn.runs.trained import Predicted, Trained

Rows = Sequence[dict[str, Any]]
Begin = Callable[[dict[str, Any]], Callable[[Rows], object]]  # from a row with all columns to what writes rows
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a formula may begin
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def prediction_rows(trained: Trained, dataset: Dataset, part: Predicted) -> Rows:
    """One row for each graph or node: its id, the prediction, and the probabilities."""
    ids = range(len(dataset.graphs)) if dataset.graph_ids is None else dataset.graph_ids
    names = [ids[part.first + g] for g in range(len(part.graphs))]
    keys: list[dict[str, Any]] = [{"id": name} for name in names]
    if trained.level == "node":
        many = len(dataset.graphs) > 1
        keys = [
            ({"graph": name} if many else {}) | {"id": node}
            for g, name in enumerate(names)
            for node in part.graphs.ids(g)
        ]
    said = _classes if trained.task == "classification" else _tasks
    return [key | answer for key, answer in zip(keys, said(trained, part), strict=True)]


def _classes(trained: Trained, part: Predicted) -> Iterable[dict[str, Any]]:
    for row in part.outputs:
        each = {f"p({name})": float(p) for name, p in zip(trained.classes, row, strict=True)}
        yield {"prediction": trained.classes[int(row.argmax())]} | each


def _tasks(trained: Trained, part: Predicted) -> Iterable[dict[str, Any]]:
    """0/1 tasks have a probability each, regressions a number."""
    names = trained.targets or tuple(f"target {k}" for k in range(trained.out_channels))
    single = len(names) == 1
    for row in part.outputs:
        if trained.task == "regression":
            yield {"prediction" if single else name: float(v) for name, v in zip(names, row, strict=True)}
        else:
            yield {f"p({name})": float(v) for name, v in zip(names, row, strict=True)}


def with_skipped(parts: Iterable[Rows], skipped: Sequence[Skipped]) -> Iterator[Rows]:
    """Rows with an empty one for each item that could not be read, in the order of the source.

    >>> rows = [[{"id": "a", "prediction": 1}, {"id": "c", "prediction": 0}]]
    >>> [row["id"] for row in next(with_skipped(rows, [Skipped(1, "b", "no molecule")]))]
    ['a', 'b', 'c']
    """
    waiting, position = sorted(skipped, key=lambda each: each.position), 0
    for rows in parts:
        merged: list[dict[str, Any]] = []
        for row in rows:
            while waiting and waiting[0].position == position:
                merged.append(dict.fromkeys(row) | {"id": waiting.pop(0).id})
                position += 1
            merged.append(row)
            position += 1
        yield merged
    if waiting:
        yield [{"id": each.id} for each in waiting]


def write_table(path: Path, parts: Iterable[Rows], raw: bool = False) -> int:
    """Write rows as they come to a .csv, .jsonl or .parquet file, whole or not at all; how many there were.

    In CSV a text that a spreadsheet would run as a formula gets an apostrophe in front, if not `raw`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> write_table(file, [[{"id": "a", "prediction": 1}], [{"id": "b", "prediction": 0}]])
    2
    >>> file.read_text().split()
    ['id,prediction', 'a,1', 'b,0']
    """
    with replacing(path) as draft, ExitStack() as stack:
        if path.suffix == ".parquet":
            return _write(parts, _parquet(draft, stack))
        if path.suffix not in (".csv", ".jsonl"):
            raise InputError(f"{path}: the name must end in .csv, .jsonl or .parquet")
        file = stack.enter_context(draft.open("w", encoding="utf-8", newline=""))
        return _write(parts, _csv(file, raw) if path.suffix == ".csv" else _json_lines(file))


def write_stream(file: IO[str], parts: Iterable[Rows], *, as_json: bool = False, raw: bool = False) -> int:
    """Write rows as they come to an open file, as CSV (`raw` as in `write_table`) or JSON lines; how many there were.

    >>> import io
    >>> write_stream(file := io.StringIO(), [[{"id": "a", "prediction": 1}]], as_json=True)
    1
    >>> file.getvalue()
    '{"id": "a", "prediction": 1}\\n'
    """
    begin = _json_lines(file) if as_json else _csv(file, raw, lineterminator="\n")
    return _write(parts, begin, then=file.flush)


def _write(parts: Iterable[Rows], begin: Begin, then: Callable[[], None] = lambda: None) -> int:
    count, write = 0, None
    for rows in parts:
        if rows:
            write = write or begin(_answered(rows))
            write(rows)
            then()
            count += len(rows)
    return count


def _answered(rows: Rows) -> dict[str, Any]:
    """A row that has all columns, with values of their types: not one of an item that was skipped."""
    return next((row for row in rows if None not in row.values()), rows[0])


def harmless(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula; numbers stay what they are, also those that are written as text.

    >>> [harmless(value) for value in ("=1+1", "@sum", "-CCO", "-1", "+2.5e3", "a=b", -1)]
    ["'=1+1", "'@sum", "'-CCO", '-1', '+2.5e3', 'a=b', -1]
    """
    dangerous = isinstance(value, str) and value.startswith(FORMULA) and not NUMBER.fullmatch(value)
    return f"'{value}" if dangerous else value


def _csv(file: IO[str], raw: bool, **how: Any) -> Begin:
    def shown(row: dict[str, Any]) -> dict[str, Any]:
        return row if raw else {harmless(key): harmless(value) for key, value in row.items()}

    def begin(first: dict[str, Any]) -> Callable[[Rows], object]:
        writer = csv.DictWriter(file, list(shown(first)), **how)
        writer.writeheader()
        return lambda rows: writer.writerows(map(shown, rows))

    return begin


def _json_lines(file: IO[str]) -> Begin:
    return lambda first: lambda rows: file.writelines(json.dumps(row, default=str) + "\n" for row in rows)


def _parquet(draft: Path, stack: ExitStack) -> Begin:
    pa = import_extra("pyarrow", "Parquet: needs the package pyarrow; install it with `pip install 'wlhn[parquet]'`")
    import pyarrow.parquet as pq

    kinds = {float: pa.float64(), int: pa.int64(), bool: pa.bool_()}

    def begin(first: dict[str, Any]) -> Callable[[Rows], object]:
        schema = pa.schema([(name, kinds.get(type(value), pa.string())) for name, value in first.items()])
        text = {field.name for field in schema if field.type == pa.string()}
        writer = stack.enter_context(pq.ParquetWriter(draft, schema))

        def write(rows: Rows) -> None:
            plain = [{k: str(v) if k in text and v is not None else v for k, v in row.items()} for row in rows]
            writer.write_table(pa.Table.from_pylist(plain, schema))

        return write

    return begin
