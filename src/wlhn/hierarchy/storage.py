"""Hierarchies on disk: one .npz file, plain arrays only.

Nothing in it is compressed, and arrays start at multiples of 64 bytes, so large ones are mapped into memory instead of
read: a hierarchy may be larger than that. Each array is checked once, against the zip's checksum.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wlhn.errors import InputError
from wlhn.files import replacing
from wlhn.hierarchy.hierarchy import Hierarchy, Signature

FORMAT = 1
MAPPED = 1 << 20  # bytes; smaller arrays are simply read
ALIGNMENT = 64
PADDING = 0xD935  # the kind of a zip header's extra field that only fills
LOCAL_HEADER, ZIP64 = 30, 20  # bytes


def save(hierarchy: Hierarchy, path: str | os.PathLike[str]) -> None:
    """Write a hierarchy, whole or not at all."""
    meta = {"format": FORMAT, "depth": hierarchy.depth, "start": hierarchy.start}
    arrays: dict[str, Any] = {"node_ptr": hierarchy.node_ptr, "initial_values": hierarchy.initial_values}
    if hierarchy.edge_values is not None:
        arrays["edge_values"] = hierarchy.edge_values
    if hierarchy.node_ids is not None:
        arrays["node_ids"] = np.array([_encode_id(name) for name in hierarchy.node_ids])
    for t, (colour, parent) in enumerate(zip(hierarchy.colours, hierarchy.parents, strict=True)):
        arrays |= {f"colours_{t}": colour, f"parents_{t}": parent}
        if t:
            arrays |= {f"{name}_{t}": a for name, a in zip(Signature._fields, hierarchy.signature(t), strict=True)}
    arrays["meta"] = np.array(json.dumps(meta))
    with replacing(path) as draft, draft.open("wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            _write(file, archive, f"{name}.npy", array)


def _write(file: BinaryIO, archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    entry = zipfile.ZipInfo(name)
    before = file.tell() + LOCAL_HEADER + len(name) + ZIP64 + 4
    padding = -before % ALIGNMENT
    entry.extra = struct.pack("<HH", PADDING, padding) + bytes(padding)
    with archive.open(entry, "w", force_zip64=True) as out:
        np.lib.format.write_array(out, np.asarray(array), allow_pickle=False)


def load(path: str | os.PathLike[str]) -> Hierarchy:
    """Read a hierarchy that `save` wrote; anything else is an `InputError`."""
    with Path(path).open("rb") as raw:
        try:
            return _read(raw, Path(path))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        except Exception as error:  # whatever numpy, zip and JSON say of bytes they cannot make sense of
            raise InputError(f"{path}: not a hierarchy that wlhn wrote, or damaged") from error


def _read(raw: BinaryIO, path: Path) -> Hierarchy:
    with zipfile.ZipFile(raw) as archive:
        file = {entry.filename.removesuffix(".npy"): _array(raw, archive, entry, path) for entry in archive.infolist()}
    meta = json.loads(str(file["meta"]))
    if meta["format"] != FORMAT:
        raise InputError(f"written in format {meta['format']}, expected {FORMAT}")
    depths = range(meta["depth"] + 1)
    return Hierarchy(
        node_ptr=file["node_ptr"],
        colours=tuple(file[f"colours_{t}"] for t in depths),
        parents=tuple(file[f"parents_{t}"] for t in depths),
        start=meta["start"],
        initial_values=file["initial_values"],
        edge_values=file.get("edge_values"),
        node_ids=[_decode_id(text) for text in file["node_ids"].tolist()] if "node_ids" in file else None,
        _signatures={t: Signature(*(file[f"{n}_{t}"] for n in Signature._fields)) for t in depths[1:]},
    )


def _array(raw: BinaryIO, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> NDArray[Any]:
    """An array of the file, mapped if it is large; its checksum is right."""
    with archive.open(entry) as stream:
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size < MAPPED:
            return np.lib.format.read_array(stream, allow_pickle=False)
        while stream.read(MAPPED):  # the zip's own reader compares checksums at the end
            pass
    raw.seek(entry.header_offset + LOCAL_HEADER - 4)
    raw.seek(sum(struct.unpack("<HH", raw.read(4))), os.SEEK_CUR)  # name and extra field
    assert np.lib.format.read_magic(raw) == (1, 0)
    shape, _, dtype = np.lib.format.read_array_header_1_0(raw)
    return np.memmap(path, dtype, "r", raw.tell(), shape)


def _encode_id(name: Any) -> str:
    try:
        return json.dumps(name, default=np.generic.item)  # numpy's numbers are numbers
    except TypeError:
        raise InputError(f"node {name!r}: only names made of text, numbers and tuples of them can be saved") from None


def _decode_id(text: str) -> Any:
    def tuples(value: Any) -> Any:
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    return tuples(json.loads(text))
