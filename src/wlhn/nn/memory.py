"""What a machine remembers of its training, checked when it comes from a file: shapes, types and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from wlhn.errors import InputError

NEEDED, OPTIONAL = ("x", "edge_index", "batch", "y", "task", "seed"), ("edge_attr", "rows")
SEEDS = 1 << 32  # scikit-learn's


def check_memory(
    memory: Mapping[str, Tensor], *, width: int, edge_width: int, outputs: int, level: str, tasks: tuple[str, ...]
) -> None:
    """The tensors of a machine that was fitted, or an `InputError` that names the one that cannot be."""
    if missing := [name for name in NEEDED if name not in memory]:
        raise InputError(f"{missing[0]}: is missing")
    if strange := sorted(memory.keys() - {*NEEDED, *OPTIONAL}):
        raise InputError(f"{strange[0]}: is not something that a machine remembers")
    x, edge_index, batch = memory["x"], memory["edge_index"], memory["batch"]
    nodes, edges = len(x) if x.ndim else 0, edge_index.shape[-1] if edge_index.ndim else 0
    _shaped("x", x, (nodes, width), (torch.float32, torch.int64))
    _shaped("edge_index", edge_index, (2, edges))
    _within("edge_index", edge_index, nodes)
    _shaped("batch", batch, (nodes,))
    _within("batch", batch, nodes)
    if not nodes or (batch.diff() < 0).any() or (batch[edge_index[0]] != batch[edge_index[1]]).any():
        raise InputError("batch: must rise from node to node, and be the same at both ends of an edge")
    for name, below in (("task", len(tasks)), ("seed", SEEDS)):
        _shaped(name, memory[name], ())
        _within(name, memory[name], below)
    items = nodes if level == "node" else int(batch[-1]) + 1
    if "edge_attr" in memory:
        _shaped("edge_attr", memory["edge_attr"], (edges, edge_width), (torch.float32, torch.int64))
    elif edge_width:
        raise InputError("edge_attr: is missing: the machine sees edges")
    if "rows" in memory:
        _shaped("rows", memory["rows"], (len(memory["rows"]) if memory["rows"].ndim else 0,))
        _within("rows", memory["rows"], items)
        items = len(memory["rows"])
    _check_targets(memory["y"], tasks[int(memory["task"])], items, outputs)


def _check_targets(y: Tensor, task: str, items: int, outputs: int) -> None:
    if task == "classification":
        _shaped("y", y, (items,))
        _within("y", y, outputs)
        return
    if y.shape not in ((items,), (items, outputs)) or y.numel() != items * outputs or not y.is_floating_point():
        raise InputError(f"y: must be {items} rows of {outputs} numbers, found {_found(y)}")
    known = y[~y.isnan()]
    if (~y.isnan()).reshape(items, -1).any(0).sum() < outputs or not bool(known.isfinite().all()):
        raise InputError("y: must have a finite number in each column")
    if task == "binary" and not bool(((known == 0) | (known == 1)).all()):
        raise InputError("y: must be 0, 1 or unknown")


def _shaped(name: str, tensor: Tensor, shape: tuple[int, ...], kinds: Any = (torch.int64,)) -> None:
    if tuple(tensor.shape) != shape or tensor.dtype not in kinds:
        raise InputError(f"{name}: must be {shape} of {' or '.join(map(str, kinds))}, found {_found(tensor)}")


def _within(name: str, tensor: Tensor, below: int) -> None:
    if tensor.numel() and not 0 <= int(tensor.min()) <= int(tensor.max()) < below:
        raise InputError(f"{name}: must be from 0 to {below - 1}, found {int(tensor.min())} to {int(tensor.max())}")


def _found(tensor: Tensor) -> str:
    return f"{tuple(tensor.shape)} of {tensor.dtype}"
