"""Hierarchies on disk: one .npz file, plain arrays only.

Nothing in it is compressed, and arrays start at multiples of 64 bytes, so large ones are mapped into memory instead of
read: a hierarchy may be larger than that. Each array is checked once, against the zip's checksum.

What comes from a file is not trusted. Compiled loops use colours, parents and offsets as places in memory, so each must
be in its range: one pass over the arrays, a piece at a time where they are mapped from a large file.
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

FORMAT = 1
MAPPED = 1 << 20  # bytes; smaller arrays are simply read
ALIGNMENT = 64
PADDING = 0xD935  # the kind of a zip header's extra field that only fills
LOCAL_HEADER, ZIP64 = 30, 20  # bytes
PIECE = 1 << 20  # rows that are checked at a time
STARTS = ("uniform", "degree", "label", "features", "categories", "given")
Arrays = dict[str, NDArray[Any]]


def check_arrays(meta: dict[str, Any], arrays: Arrays) -> None:
    """Every array of a hierarchy has its type, length and range, or an `InputError` names the one that has not."""
    depth, directed = meta.get("depth"), meta.get("directed", False)
    if type(depth) is not int or depth < 0 or meta.get("start") not in STARTS or type(directed) is not bool:
        raise InputError(f"meta: must have a depth of 0 or more, a known start and directed, found {str(meta)[:80]}")
    nodes = int(_offsets("node_ptr", _integers(arrays, "node_ptr"))[-1])
    colours = 1  # of the depth before; at first, the root
    for t in range(depth + 1):
        above, parent = colours, _integers(arrays, f"parents_{t}", None, colours)
        _rising(f"parents_{t}", parent)
        colours = len(parent)
        colour = _integers(arrays, f"colours_{t}", nodes, colours)
        if t == 0:
            _check_values("initial_values", arrays.get("initial_values"), colours)
            continue
        _check_descent(t, colour, parent, arrays[f"colours_{t - 1}"])
        _check_signature(t, arrays, colours, above, directed)
    if "edge_values" in arrays:
        _check_values("edge_values", arrays["edge_values"], None)
    if "node_ids" in arrays and arrays["node_ids"].shape != (nodes,):
        raise InputError(f"node_ids: must be {nodes}, one for each node, found shape {arrays['node_ids'].shape}")


def _check_descent(t: int, colour: NDArray[Any], parent: NDArray[Any], before: NDArray[Any]) -> None:
    for first in range(0, len(colour), PIECE):
        rows = slice(first, first + PIECE)
        if not np.array_equal(parent[colour[rows]], before[rows]):
            raise InputError(f"colours_{t}: a node's colour must descend from its colour at depth {t - 1}")


def _check_signature(t: int, arrays: Arrays, colours: int, above: int, directed: bool) -> None:
    colour = _integers(arrays, f"colour_{t}", None, above)
    _offsets(f"ptr_{t}", _integers(arrays, f"ptr_{t}", colours + 1), len(colour))
    labels = arrays["edge_values"].shape[0] if "edge_values" in arrays and arrays["edge_values"].ndim else 1
    _integers(arrays, f"edge_{t}", len(colour), 2 * labels if directed else labels)
    times = _integers(arrays, f"times_{t}", len(colour))
    if len(times) and times.min() < 1:
        raise InputError(f"times_{t}: must be 1 or more, found {times.min()}")


def _integers(arrays: Arrays, name: str, length: int | None = None, below: int | None = None) -> NDArray[Any]:
    """One row of so many integers from 0 up to, and without, `below`."""
    if name not in arrays:
        raise InputError(f"{name}: is missing")
    values = arrays[name]
    if values.ndim != 1 or values.dtype.kind != "i" or not values.dtype.isnative:
        raise InputError(f"{name}: must be one row of integers, found shape {values.shape} of {values.dtype}")
    if length is not None and len(values) != length:
        raise InputError(f"{name}: must be {length} numbers, found {len(values)}")
    if below is not None and len(values) and not 0 <= values.min() <= values.max() < below:
        raise InputError(f"{name}: must be numbers from 0 to {below - 1}, found {values.min()} to {values.max()}")
    return values


def _offsets(name: str, values: NDArray[Any], last: int | None = None) -> NDArray[Any]:
    if not len(values) or values[0] != 0 or (last is not None and values[-1] != last):
        raise InputError(f"{name}: must begin with 0 and end with the number of entries")
    _rising(name, values)
    return values


def _rising(name: str, values: NDArray[Any]) -> None:
    for first in range(0, max(len(values) - 1, 0), PIECE):
        piece = values[first : first + PIECE + 1]
        if (piece[1:] < piece[:-1]).any():
            raise InputError(f"{name}: must never fall")


def _check_values(name: str, values: NDArray[Any] | None, length: int | None) -> None:
    if values is None:
        raise InputError(f"{name}: is missing")
    if values.dtype.kind not in "biufUS" or not values.dtype.isnative or values.ndim not in (1, 2):
        raise InputError(f"{name}: must be rows of numbers or texts, found shape {values.shape} of {values.dtype}")
    if length is not None and len(values) != length:
        raise InputError(f"{name}: must be {length} rows, one for each colour, found {len(values)}")


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
    try:
        with Path(path).open("rb") as raw:
            return _read(raw, Path(path))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a file that Hierarchy.save wrote") from None
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
