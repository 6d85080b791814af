"""Files that are not trusted: those of one data set, in a folder or a zip, read the same way and never unpacked.

Entries that point outside a zip and sizes that only a bomb has are refused before anything is read, and reading goes in
small steps, so that what a header lies about costs no memory.

A compressed file unpacks, text becomes cells, XML becomes objects: a small file can fill a machine. So there is one
limit for everything that grows while it is read: what would pass it is refused in one sentence before, or while, it
grows. The limit is 4 GiB, or what WLHN_READ_LIMIT says ("16G").
"""

from __future__ import annotations

import errno
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from io import BufferedIOBase
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal, cast

from wlhn.errors import InputError

VARIABLE = "WLHN_READ_LIMIT"
DEFAULT = 4 << 30
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

Form = Literal["compressed data", "table", "graph file", "SMILES", "attributes", "features", "columns"]
# Bytes of memory for a byte of text (of the last three, for one of them), measured on the worst text and rounded up.
GROWTH: dict[Form, int] = {
    "compressed data": 16,  # an edge of four bytes, as two numbers that are sorted
    "table": 20,
    "graph file": 64,
    "SMILES": 200_000,  # not memory: RDKit's time for fused rings grows with the square of their number
    "attributes": 100,  # of all nodes or edges, given or not
    "features": 8,
    "columns": 200_000,  # not memory but time: each is looked at
}
BOMB_RATIO = 100  # COLLAB, the best packed real set, has 35


def read_limit() -> int:
    """The limit in bytes.

    >>> read_limit() // 2**30
    4
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return DEFAULT
    number, unit = (given[:-1], UNITS[given[-1].upper()]) if given[-1].upper() in UNITS else (given, 1)
    if not number.isascii() or not number.isdigit():
        raise InputError(f"{VARIABLE}={given}: must be a size such as 500M or 16G")
    return int(number) * unit


def check_text(where: str, size: int, form: Form) -> None:
    """Refuse text, or so many things, that would grow beyond the limit.

    >>> check_text("g.gml", 2**30, "graph file")
    Traceback (most recent call last):
    wlhn.errors.InputError: g.gml: 1,073,741,824 bytes of graph file, more than the 67,108,864 allowed \
(WLHN_READ_LIMIT=64G raises the limit)
    """
    most = read_limit() // GROWTH[form]
    if size > most:
        what = form if form in ("attributes", "features", "columns") else f"bytes of {form}"
        raise InputError(f"{where}: {size:,} {what}, more than the {most:,} allowed ({_raise_to(size, form)})")


def check_unpacked(where: str, unpacked: int, packed: int) -> None:
    """Refuse what unpacks to far more than any real data set does."""
    if unpacked > read_limit() // GROWTH["compressed data"] and unpacked > BOMB_RATIO * packed:
        raise InputError(
            f"{where}: {packed:,} bytes unpack to {unpacked:,} or more; allowed are {BOMB_RATIO} times as many "
            f"({_raise_to(unpacked, 'compressed data')})"
        )


def _raise_to(size: int, form: Form) -> str:
    needed = -(-size * GROWTH[form] // UNITS["G"])
    return f"{VARIABLE}={max(needed, 1)}G raises the limit"


STEP = 1 << 16  # compressed bytes at a time: with LZMA one step can grow seven thousandfold
BLOCK = 1 << 24
SUBFOLDERS = ("raw", "mapping", "split", "split/scaffold", "splits")  # of the layouts that have any

BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError)


class Archive(AbstractContextManager["Archive"]):
    """Read-only view of a folder or zip: `names` are the plain file names, `open` gives their bytes.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("1\\n2\\n")
    >>> with Archive(folder) as files, files.open("a.txt") as stream:
    ...     files.names, [block for block in line_blocks(stream)]
    (('a.txt',), [b'1\\n2\\n'])
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._zip: zipfile.ZipFile | None = None
        if self.path.is_dir():
            refuse_links(self.path)
            self._entries = {p.name: p.name for p in sorted(self.path.iterdir()) if p.is_file()}
        else:
            with broken_as_input_error(str(self.path)):
                self._zip = zipfile.ZipFile(self.path)
            self._entries = safe_entries(self._zip, self.path)

    def __exit__(self, *error: object) -> None:
        if self._zip is not None:
            self._zip.close()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def where(self, name: str) -> str:
        """How an error names this file."""
        return f"{self.path}: {name}" if self._zip is not None else str(self.path / name)

    @contextmanager
    def open(self, name: str) -> Iterator[BufferedIOBase]:
        """The bytes of a file; damage found while reading becomes an `InputError` that names it."""
        with broken_as_input_error(self.where(name)):
            if self._zip is None:
                with (self.path / name).open("rb") as stream:
                    yield stream
            else:
                with self._zip.open(self._entries[name]) as entry:
                    yield cast(BufferedIOBase, entry)


class _GuardedGzip(gzip.GzipFile):
    """A gzip stream that stops where only a bomb goes on."""

    def __init__(self, packed: IO[bytes], path: Path) -> None:
        super().__init__(fileobj=packed)
        self._path, self._packed, self._unpacked = path, path.stat().st_size, 0

    def read(self, size: int | None = -1) -> bytes:
        return self._count(super().read(STEP if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        return self._count(super().read1(size))

    def _count(self, step: bytes) -> bytes:
        self._unpacked += len(step)
        check_unpacked(str(self._path), self._unpacked, self._packed)
        return step


def bar_options(progress: bool) -> dict[str, Any]:
    """What all bars of readers share: they are on standard error, gone when done, and not there unless wanted."""
    from rich.console import Console

    return {"disable": not progress, "transient": True, "console": Console(stderr=True)}


@contextmanager
def open_gz(path: Path, *, progress: bool = False) -> Iterator[BufferedIOBase]:
    """The bytes of a gzipped file as a stream; with a bar over its compressed bytes."""
    from rich.progress import open as open_with_bar

    bar = open_with_bar(path, "rb", description=path.name, **bar_options(progress))
    with broken_as_input_error(str(path)), bar as packed, _GuardedGzip(packed, path) as stream:
        yield stream


@contextmanager
def open_plain_or_gz(path: Path) -> Iterator[BufferedIOBase]:
    """The bytes of a file, unpacked where its name ends in .gz."""
    if path.suffix == ".gz":
        with open_gz(path) as stream:
            yield stream
    else:
        with path.open("rb") as plain:
            yield plain


def read_whole(path: Path, form: Form) -> bytes:
    """A text file, gzipped or not, that will be held as a whole: no more of it than the limit allows."""
    if path.suffix != ".gz":
        check_text(str(path), path.stat().st_size, form)
        return path.read_bytes()
    parts: list[bytes] = []
    size = 0
    with open_gz(path) as stream:
        while step := stream.read(STEP):
            parts.append(step)
            size += len(step)
            check_text(str(path), size, form)
    return b"".join(parts)


def refuse_links(folder: Path) -> None:
    """No file of a data set is a link to somewhere else: whoever made the folder would read what the user can read.

    >>> import os, tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> os.symlink("/etc/hostname", folder / "nodes.csv")
    >>> refuse_links(folder)
    Traceback (most recent call last):
    wlhn.errors.InputError: ...nodes.csv: a symbolic link that leads out of the folder; put the file itself there
    """
    inside = folder.resolve()
    for path in (folder, *(folder / name for name in SUBFOLDERS)):
        for entry in (path, *sorted(path.iterdir())) if path.is_dir() else ():
            if entry != folder and entry.is_symlink() and not entry.resolve().is_relative_to(inside):
                raise InputError(f"{entry}: a symbolic link that leads out of the folder; put the file itself there")


@contextmanager
def broken_as_input_error(where: str) -> Iterator[None]:
    """Whatever decompression raises for damaged bytes, as one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EINVAL and not isinstance(error, gzip.BadGzipFile):
            raise
        raise InputError(f"{where}: is broken ({error}); get the file again") from None
    except BROKEN as error:
        raise InputError(f"{where}: is broken or cut short ({error}); get the file again") from None


def line_blocks(stream: BufferedIOBase) -> Iterator[bytes]:
    """The bytes of a stream in large blocks of whole lines."""
    parts: list[bytes] = []
    size = 0
    while step := stream.read1(STEP):
        parts.append(step)
        size += len(step)
        if size >= BLOCK:
            whole, newline, rest = b"".join(parts).rpartition(b"\n")
            if newline:
                yield whole + newline
            parts, size = [rest], len(rest)
    if size:
        yield b"".join(parts)


def safe_entries(archive: zipfile.ZipFile, path: Path) -> dict[str, str]:
    """Plain file names → entries of a zip that points nowhere outside itself and is no bomb."""
    entries: dict[str, str] = {}
    for info in archive.infolist():
        name = info.filename
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or ":" in name.split("/")[0]:
            archive.close()
            raise InputError(
                f"{path}: entry '{name}' points outside the archive; names in it must be plain and relative"
            )
        if not info.is_dir() and not PurePosixPath(name).name.startswith("."):  # as macOS adds them
            entries[PurePosixPath(name).name] = name
    try:
        check_unpacked(str(path), sum(info.file_size for info in archive.infolist()), path.stat().st_size)
    except InputError:
        archive.close()
        raise
    return entries
