"""Numbers from text: millions of lines in seconds, and the line that is wrong when one is."""

from __future__ import annotations

from io import BufferedIOBase
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wlhn.data.readers.archive import line_blocks
from wlhn.errors import InputError
from wlhn.loops.compiling import loop


def read_integers(
    stream: BufferedIOBase,
    where: str,
    *,
    columns: int | None = None,
    rows: int | None = None,
    dtype: DTypeLike = np.int64,
    first_line: int = 1,
) -> NDArray[Any]:
    """(lines, columns): integers between commas or blanks; the first line says how many columns unless told.

    There must be so many `rows`, if told.

    >>> import io
    >>> read_integers(io.BytesIO(b"1, 2\\n-3,4\\n"), "edges.txt").tolist()
    [[1, 2], [-3, 4]]
    >>> read_integers(io.BytesIO(b"1, 2\\n3\\n"), "edges.txt")
    Traceback (most recent call last):
    wlhn.errors.InputError: edges.txt, line 2: expected 2 integers, found '3'
    """
    parts = []
    lines, ended = 0, False
    for block in line_blocks(stream):
        text = np.frombuffer(block, np.uint8)
        if columns is None:
            columns = max(len(block.partition(b"\n")[0].replace(b",", b" ").split()), 1)
        out = np.empty((block.count(b"\n") + 1, columns), np.int64)  # whatever is asked: one version to compile
        read, bad, ended = _parse(text, out, np.iinfo(dtype).max, ended)
        if bad >= 0:
            found = quoted(block.split(b"\n", bad + 1)[bad])
            kind = "integers" if columns > 1 else "integer"
            raise InputError(f"{where}, line {lines + bad + first_line}: expected {columns} {kind}, found {found}")
        lines += read
        parts.append(out[:read].astype(dtype, copy=False))
    check_lines(where, lines, rows)
    return np.concatenate(parts) if parts else np.empty((0, columns or 1), dtype)


def check_lines(where: str, found: int, wanted: int | None) -> None:
    """A file has a line for each of so many things, if their number is known."""
    if wanted is not None and found != wanted:
        raise InputError(f"{where}, line {min(found, wanted) + 1}: must have {wanted} lines in all, found {found}")


def read_numbers(stream: BufferedIOBase, where: str, rows: int | None = None) -> NDArray[np.float32]:
    """(lines, columns): finite numbers between commas.

    >>> import io
    >>> read_numbers(io.BytesIO(b"1.5, 2\\n3, 4e1\\n"), "x.txt").tolist()
    [[1.5, 2.0], [3.0, 40.0]]
    """
    lines = stream.read().rstrip().split(b"\n")
    if lines == [b""]:
        check_lines(where, 0, rows)
        return np.empty((0, 1), np.float32)
    try:
        values = np.loadtxt(lines, dtype=np.float64, delimiter=",", comments=None, ndmin=2, encoding="ascii")
        with np.errstate(over="ignore"):
            numbers = values.astype(np.float32)
    except (ValueError, UnicodeError):
        raise _first_bad_number(lines, where) from None
    if len(numbers) != len(lines) or not np.isfinite(numbers).all():
        raise _first_bad_number(lines, where)
    check_lines(where, len(numbers), rows)
    return numbers


def _first_bad_number(lines: list[bytes], where: str) -> InputError:
    columns = len(lines[0].split(b","))
    for k, line in enumerate(lines):
        fields = line.split(b",")
        try:
            with np.errstate(over="ignore"):
                numbers = np.array([float(field) for field in fields]).astype(np.float32)
            good = len(fields) == columns and bool(np.isfinite(numbers).all())
        except (ValueError, OverflowError):
            good = False
        if not good:
            kind = "numbers" if columns > 1 else "number"
            return InputError(f"{where}, line {k + 1}: expected {columns} finite {kind}, found {quoted(line)}")
    return InputError(f"{where}: lines must have {columns} numbers between commas")


def quoted(line: bytes) -> str:
    """The beginning of a line, safe to print."""
    text = line.rstrip(b"\r").decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


@loop
def _parse(
    text: NDArray[Any], out: NDArray[Any], limit: int, ended: bool
) -> tuple[int, int, bool]:  # rows, bad line or −1, whether an empty line ended the data
    size, columns = len(text), out.shape[1]
    place, row, line = 0, 0, 0
    while place < size:
        column = 0
        while True:
            while place < size and (text[place] == 32 or text[place] == 9 or text[place] == 13):
                place += 1
            if place == size or text[place] == 10:
                break
            if column > 0 and text[place] == 44:
                place += 1
                while place < size and (text[place] == 32 or text[place] == 9):
                    place += 1
            negative = place < size and text[place] == 45
            place += negative
            value, digits = 0, 0
            while place < size and 48 <= text[place] <= 57:
                digit = int(text[place]) - 48
                if value > (limit - digit) // 10:
                    return row, line, ended
                value = value * 10 + digit
                digits += 1
                place += 1
            closed = place == size or text[place] in (10, 13, 32, 44, 9)
            if digits == 0 or column == columns or ended or not closed:
                return row, line, ended
            out[row, column] = -value if negative else value
            column += 1
        place += 1
        if column == 0:
            ended = True
        elif column < columns:
            return row, line, ended
        else:
            row += 1
        line += 1
    return row, -1, ended
