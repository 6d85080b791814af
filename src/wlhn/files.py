"""Files that are either whole or not there, and folders that have one writer at a time.

A writer holds the lock of its folder, a file whose lock dies with its process (`filelock`, which torch brings along: on
Linux and macOS `flock`). The file goes when the work in the folder ends well; where it stays, the work was interrupted,
and the folder is ours to go on in.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from wlhn.errors import BusyError, InputError

LOCK, DRAFT = ".wlhn.lock", ".draft-"
LARGEST_JSON = 1 << 28  # bytes; ours are far smaller


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
    handle, name = tempfile.mkstemp(prefix=DRAFT, suffix=f"-{target.name}", dir=target.parent)
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
    if Path(path).stat().st_size > LARGEST_JSON:
        raise InputError(f"{path}: larger than {LARGEST_JSON >> 20} MB, which none of our JSON files is")
    try:
        document = json.loads(Path(path).read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: is damaged, not JSON ({error})") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deep, which none of our JSON files is") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: must be a JSON object, found {type(document).__name__}")
    for name in fields:
        if name not in document:
            raise InputError(f"{path}: has no field '{name}'")
    return document


def write_json(path: str | os.PathLike[str], document: Any) -> None:
    """A JSON document, whole or not at all; NaN is refused, never written."""
    write_text(path, json.dumps(document, indent=2, allow_nan=False) + "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """A text, whole or not at all."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


@contextmanager
def only_writer(folder: Path, about: str = "", wait: float = 0) -> Iterator[None]:
    """This process as the one that writes to a folder, or a `BusyError` that says who else does, after `wait` seconds.

    What a writer that was killed left half written is removed first. `about` is kept for as long as the work is
    under way, interruptions included (`under_way`).

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with only_writer(folder, "something"):
    ...     under_way(folder)
    'something'
    >>> list(folder.iterdir())
    []
    """
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK
    lock = FileLock(path, timeout=wait, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise BusyError(f"{folder}: {_holder(path)} is writing here; wait for it, or choose another folder") from None
    try:
        path.write_text(json.dumps({"process": os.getpid(), "host": platform.node(), "about": about}), encoding="utf-8")
        remove_drafts(folder)
        yield
        path.unlink(missing_ok=True)
    except BaseException:
        if [each.name for each in folder.iterdir()] == [LOCK]:  # nothing to go on with
            path.unlink()
            if new:
                folder.rmdir()
        raise
    finally:
        lock.release()


def under_way(folder: Path) -> str | None:
    """What work is under way in a folder, or was when it was interrupted; None if there is none."""
    with suppress(OSError, InputError, KeyError):
        return str(read_json(folder / LOCK)["about"])
    return None


def check_free(folder: Path, *ours: str) -> None:
    """A folder that is not there, is empty, or holds one of our files; somebody else's is not written to."""
    if folder.is_dir() and any(folder.iterdir()) and not any((folder / name).exists() for name in (LOCK, *ours)):
        raise InputError(f"{folder}: holds files that are not ours; choose a new or an empty folder")


def remove_drafts(folder: Path) -> None:
    """Remove what writers that were killed left half written."""
    for draft in folder.glob(f"{DRAFT}*"):
        draft.unlink(missing_ok=True)


def _holder(path: Path) -> str:
    with suppress(OSError, ValueError, KeyError, TypeError):
        held = json.loads(path.read_bytes())
        return f"process {held['process']} on {held['host']}"
    return "another process"
