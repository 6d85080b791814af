"""The files of one data set, in a folder or a zip, read the same way and never unpacked.

A zip from elsewhere is not trusted: entries that point outside it and sizes that only a bomb has are refused before
anything is read, and reading goes in small steps, so that what a header lies about costs no memory.
"""

from __future__ import annotations

import errno
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from io import BufferedIOBase
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from wlhn.data.readers.limits import Form, check_text, check_unpacked
from wlhn.errors import InputError

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
