"""Hierarchies on disk: one .npz file, plain arrays only.

Nothing in it is compressed, and arrays start at multiples of 64 bytes, so large ones are mapped into memory instead of
read: a hierarchy may be larger than that. Each array is checked once, against the zip's checksum.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wlhn.errors import InputError
from wlhn.files import replacing
from wlhn.hierarchy.checks import check_arrays

FORMAT = 1
MAPPED = 1 << 20  # bytes; smaller arrays are simply read
ALIGNMENT = 64
PADDING = 0xD935  # the kind of a zip header's extra field that only fills
LOCAL_HEADER, ZIP64 = 30, 20  # bytes


def save(path: str | os.PathLike[str], meta: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a hierarchy's numbers, texts and arrays, whole or not at all."""
    described = np.array(json.dumps({"format": FORMAT} | meta))
    with replacing(path) as draft, draft.open("wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in (arrays | {"meta": described}).items():
            _write(file, archive, f"{name}.npy", array)


def _write(file: BinaryIO, archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    entry = zipfile.ZipInfo(name)
    before = file.tell() + LOCAL_HEADER + len(name) + ZIP64 + 4
    padding = -before % ALIGNMENT
    entry.extra = struct.pack("<HH", PADDING, padding) + bytes(padding)
    with archive.open(entry, "w", force_zip64=True) as out:
        np.lib.format.write_array(out, np.asarray(array), allow_pickle=False)


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """(meta data and the names of nodes, arrays) that `save` wrote; anything else is an `InputError`."""
    with Path(path).open("rb") as raw:
        try:
            return _read(raw, Path(path))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        except Exception as error:  # whatever numpy, zip and JSON say of bytes they cannot make sense of
            raise InputError(f"{path}: not a hierarchy that wlhn wrote, or damaged") from error


def _read(raw: BinaryIO, path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    file: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(raw) as archive:
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            if name in file or entry.compress_type != zipfile.ZIP_STORED:
                raise InputError(f"{name}: must be there once, and not compressed")
            file[name] = _array(raw, archive, entry, path)
    meta = json.loads(str(file["meta"]))
    if meta["format"] != FORMAT:
        raise InputError(f"is in format {meta['format']}, and this version reads format {FORMAT}; make the file again")
    check_arrays(meta, file)
    meta["node_ids"] = decode_ids(file["node_ids"]) if "node_ids" in file else None
    return meta, file


def _array(raw: BinaryIO, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> NDArray[Any]:
    """An array of the file, mapped if it is large; its checksum is right."""
    with archive.open(entry) as stream:
        if entry.file_size < MAPPED:
            return np.load(io.BytesIO(stream.read()), allow_pickle=False)  # no more than is there
        while stream.read(MAPPED):  # the zip's own reader compares checksums at the end
            pass
    raw.seek(entry.header_offset + LOCAL_HEADER - 4)
    raw.seek(sum(struct.unpack("<HH", raw.read(4))), os.SEEK_CUR)  # name and extra field
    assert np.lib.format.read_magic(raw) == (1, 0)
    shape, _, dtype = np.lib.format.read_array_header_1_0(raw)
    return np.memmap(path, dtype, "r", raw.tell(), shape)


def encode_ids(names: Sequence[Any]) -> NDArray[Any]:
    """Names of nodes as an array of texts."""
    texts = []
    for name in names:
        try:
            texts.append(json.dumps(name, default=np.generic.item))  # numpy's numbers are numbers
        except TypeError:
            said = f"node {name!r}: only names made of text, numbers and tuples of them can be saved"
            raise InputError(said) from None
    return np.array(texts)


def decode_ids(texts: NDArray[Any]) -> list[Any]:
    """The names that `encode_ids` was given."""

    def tuples(value: Any) -> Any:
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    return [tuples(json.loads(text)) for text in texts.tolist()]
