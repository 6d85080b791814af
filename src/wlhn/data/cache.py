"""Parsed data sets on disk: read once, memory-mapped after that.

An entry is a folder of .npy arrays and an entry.json that is written last and holds the sha256 of each array. Its name
is the hash of everything the result depends on: the bytes of the source files, the reader with its options, and the
version of this form. So an entry is never out of date; and one that is damaged in any way is read anew from the source.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.data.splits import PARTS, Split
from wlhn.documents import from_json, to_json
from wlhn.errors import BusyError
from wlhn.files import only_writer, replacing, write_json
from wlhn.graphs import Graphs

VERSION = 3
PATIENCE = 600  # seconds that another process may take to read the same sources
PLAIN = [f.name for f in fields(Dataset) if f.name not in ("graphs", "y", "splits", "training_x")]  # no arrays
GRAPH_ARRAYS = tuple(f.name for f in fields(Graphs) if f.name != "node_ids")


def cache_root() -> Path:
    """The user's cache of this program: WLHN_CACHE, or the place the system has for such things."""
    return Path(os.environ.get("WLHN_CACHE") or platformdirs.user_cache_dir("wlhn"))


def cached(read: Callable[[], Dataset], *, sources: Iterable[Path], options: str) -> Dataset:
    """What `read` returns, from the cache where the same sources have been read with the same options before.

    A cache that cannot be written is no reason to fail: the data set is there.
    """
    entry = cache_root() / "parsed" / _key(sources, options)
    if (found := _found(entry)) is not None:
        return found
    with ExitStack() as stack:
        with suppress(OSError, BusyError):  # a second reader of the same sources waits for what the first one writes
            stack.enter_context(only_writer(entry, wait=PATIENCE))
            if (found := _found(entry)) is not None:
                return found
        dataset = read()
        try:
            save_entry(entry, dataset)
            return load_entry(entry)
        except (OSError, TypeError):
            return dataset


def _found(entry: Path) -> Dataset | None:
    """What an entry holds; None if it is not there, or not what was written."""
    try:
        return load_entry(entry)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save_entry(entry: Path, dataset: Dataset) -> None:
    """Write a data set; the entry is valid only once its entry.json stands there."""
    graphs = {name: getattr(dataset.graphs, name) for name in GRAPH_ARRAYS}
    splits = {f"{part}_{k}": getattr(split, part) for k, split in enumerate(dataset.splits) for part in PARTS}
    arrays = {name: array for name, array in ({"y": dataset.y} | graphs | splits).items() if array is not None}
    document = {name: to_json(getattr(dataset, name)) for name in PLAIN}
    document |= {"version": VERSION, "node_ids": dataset.graphs.node_ids, "splits": len(dataset.splits)}
    json.dumps(document, allow_nan=False)  # ids that JSON cannot hold fail before anything is written
    for name, array in arrays.items():
        with replacing(entry / f"{name}.npy") as draft, draft.open("wb") as out:
            np.save(out, np.ascontiguousarray(array), allow_pickle=False)
    document["arrays"] = {name: _digest(entry / f"{name}.npy") for name in arrays}
    document["sha256"] = _document_digest(document)
    write_json(entry / "entry.json", document)


def load_entry(entry: Path) -> Dataset:
    """Read an entry; anything that is not as it was written raises an error."""
    document = json.loads((entry / "entry.json").read_bytes())
    if document.pop("sha256") != _document_digest(document) or document["version"] != VERSION:
        raise ValueError(f"{entry}: entry.json is not what was written")
    arrays: dict[str, NDArray[Any]] = {}
    for name, digest in document["arrays"].items():
        path = entry / f"{name}.npy"
        if _digest(path) != digest:
            raise ValueError(f"{path}: not what was written")
        arrays[name] = np.load(path, mmap_mode="c", allow_pickle=False)
    graph_arrays: dict[str, Any] = {name: arrays.get(name) for name in GRAPH_ARRAYS}
    return from_json(
        Dataset,
        document,
        entry,
        graphs=Graphs(**graph_arrays, node_ids=document["node_ids"]),
        y=arrays["y"],
        graph_ids=document["graph_ids"],
        splits=tuple(Split(*(arrays[f"{part}_{k}"] for part in PARTS)) for k in range(document["splits"])),
    )


def _key(sources: Iterable[Path], options: str) -> str:
    content = [(path.name, _digest(path)) for path in sources]
    return hashlib.sha256(json.dumps([VERSION, options, content]).encode()).hexdigest()[:32]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _document_digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
