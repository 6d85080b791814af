"""Files that are either whole or not there."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wlhn.errors import InputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it takes the place of `path` if, and only if, the block ends well.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with replacing(target) as draft:
    ...     _ = draft.write_text("42")
    >>> target.read_text()
    '42'
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        mask = os.umask(0)
        os.umask(mask)
        draft.chmod(0o666 & ~mask)
        draft.replace(target)
    except OSError as error:  # a full disk: say where, and say the name the user knows
        raise OSError(error.errno, error.strerror or str(error), str(target)) from error
    finally:
        draft.unlink(missing_ok=True)


def read_json(path: str | os.PathLike[str], fields: Iterable[str] = ()) -> dict[str, Any]:
    """The JSON object in a file, with these fields at least, or an `InputError` that names it."""
    try:
        document = json.loads(Path(path).read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: damaged, expected JSON ({error})") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: expected a JSON object, found {type(document).__name__}")
    for name in fields:
        if name not in document:
            raise InputError(f"{path}: expected a field '{name}', found none")
    return document


def write_json(path: str | os.PathLike[str], document: Any) -> None:
    """A JSON document, whole or not at all; NaN is refused, never written."""
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")
