"""Hierarchies on disk: one .npz file, plain arrays only."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from wlhn.errors import InputError
from wlhn.files import replacing
from wlhn.hierarchy.hierarchy import Hierarchy, Signature

FORMAT = 1


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
    with replacing(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, meta=np.array(json.dumps(meta)), **arrays)


def load(path: str | os.PathLike[str]) -> Hierarchy:
    """Read a hierarchy that `save` wrote; anything else is an `InputError`."""
    with Path(path).open("rb") as raw:
        try:
            return _read(raw)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        except Exception as error:  # whatever numpy, zip and JSON say of bytes they cannot make sense of
            raise InputError(f"{path}: not a hierarchy that wlhn wrote, or damaged") from error


def _read(raw: BinaryIO) -> Hierarchy:
    with np.load(raw, allow_pickle=False) as file:
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


def _encode_id(name: Any) -> str:
    try:
        return json.dumps(name, default=np.generic.item)  # numpy's numbers are numbers
    except TypeError:
        raise InputError(f"node {name!r}: only names made of text, numbers and tuples of them can be saved") from None


def _decode_id(text: str) -> Any:
    def tuples(value: Any) -> Any:
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    return tuples(json.loads(text))
