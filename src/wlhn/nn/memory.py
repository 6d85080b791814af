"""What a machine remembers of its training, checked when it comes from a file: shapes, types and ranges.

A machine (`wlhn.nn.machine`) remembers graphs and targets; a machine on the tree (`wlhn.nn.tree_machine`) remembers
colours, and numbers on these. Compiled loops use them as places in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from wlhn.errors import InputError
from wlhn.hierarchy.hierarchy import Signature
from wlhn.hierarchy.storage import check_arrays

TASKS = ("classification", "binary", "regression")
NEEDED, OPTIONAL = ("x", "edge_index", "batch", "y", "task", "seed"), ("edge_attr", "rows")
SEEDS = 1 << 32  # scikit-learn's
TREE = "tree."
VALUES = (torch.float32, torch.float64, torch.int64)  # what features of nodes and edges are


def check_graph_memory(memory: Mapping[str, Tensor], width: int, edge_width: int, *, outputs: int, level: str) -> None:
    """The tensors of a machine that was fitted, or an `InputError` that names the one that cannot be."""
    _named(memory, NEEDED, OPTIONAL)
    x, edge_index, batch = memory["x"], memory["edge_index"], memory["batch"]
    nodes, edges = len(x) if x.ndim else 0, edge_index.shape[-1] if edge_index.ndim else 0
    shaped("x", x, (nodes, width), (torch.float32, torch.int64))
    shaped("edge_index", edge_index, (2, edges))
    within("edge_index", edge_index, 0, nodes)
    shaped("batch", batch, (nodes,))
    within("batch", batch, 0, nodes)
    if not nodes or (batch.diff() < 0).any() or (batch[edge_index[0]] != batch[edge_index[1]]).any():
        raise InputError("batch: must rise from node to node, and be the same at both ends of an edge")
    for name, below in (("task", len(TASKS)), ("seed", SEEDS)):
        shaped(name, memory[name], ())
        within(name, memory[name], 0, below)
    items = nodes if level == "node" else int(batch[-1]) + 1
    if "edge_attr" in memory:
        shaped("edge_attr", memory["edge_attr"], (edges, edge_width), (torch.float32, torch.int64))
    elif edge_width:
        raise InputError("edge_attr: is missing: the machine sees edges")
    if "rows" in memory:
        shaped("rows", memory["rows"], (len(memory["rows"]) if memory["rows"].ndim else 0,))
        within("rows", memory["rows"], 0, items)
        items = len(memory["rows"])
    _check_targets(memory["y"], TASKS[int(memory["task"])], items, outputs)


def check_tree_memory(
    memory: Mapping[str, Tensor], width: int, edge_width: int, *, numbers: Iterable[str], rounds: int, outputs: int
) -> tuple[list[int], int]:
    """The tensors of a machine on the tree that was fitted, or an `InputError` that names the one that cannot be.

    Args:
        memory: what it remembers.
        width: features of a node.
        edge_width: features of an edge; 0 where it sees no edges.
        numbers: names of those that are its own to check.
        rounds: the depth of its tree.
        outputs: how many it has.

    Returns:
        (how many colours its tree has at each depth, how many classes it knows: 0 for other tasks)
    """
    for name in memory.keys() & {"task"}:  # which says whether there are classes
        within(name, shaped(name, memory[name], ()), 0, len(TASKS))
    classified = "task" in memory and TASKS[int(memory["task"])] == "classification"
    own = ("task", *(("classes",) if classified else ()), *numbers)
    _named(memory, chain(own, _tree_names(rounds, edge_width > 0)))
    classes = 0
    if classified:
        known = memory["classes"]
        classes = known.numel()
        within("classes", shaped("classes", known, (classes,)), 0, outputs)
        if classes < 2 or bool((known.diff() <= 0).any()):
            raise InputError("classes: must be two or more, rising")
    return _check_tree(memory, rounds, width, edge_width), classes


def _tree_names(rounds: int, labelled: bool) -> Iterator[str]:
    """One by one: a file may ask for more rounds than can be listed."""
    yield TREE + "initial_values"
    if labelled:
        yield TREE + "edge_values"
    for t in range(1, rounds + 1):
        yield from (f"{TREE}{name}_{t}" for name in ("parents", *Signature._fields))


def _check_tree(memory: Mapping[str, Tensor], rounds: int, width: int, edge_width: int) -> list[int]:
    tree = {name: tensor for name, tensor in memory.items() if name.startswith(TREE)}
    for name, tensor in tree.items():
        rows = len(tensor) if tensor.ndim else 0
        if name.endswith("_values"):
            shaped(name, tensor, (rows, edge_width if name == TREE + "edge_values" else width), VALUES)
        else:
            shaped(name, tensor, (rows,), (torch.int64 if name.startswith(TREE + "ptr_") else torch.int32,))
    arrays = {name.removeprefix(TREE): tensor.numpy() for name, tensor in tree.items()}
    colours = [len(arrays["initial_values"]), *(len(arrays[f"parents_{t}"]) for t in range(1, rounds + 1))]
    nodes = {f"colours_{t}": np.empty(0, np.int32) for t in range(rounds + 1)}  # of which the tree has none
    nodes |= {"node_ptr": np.zeros(1, np.int64), "parents_0": np.zeros(colours[0], np.int32)}
    try:
        check_arrays({"depth": rounds, "start": "given"}, arrays | nodes)
    except InputError as error:
        raise InputError(f"{TREE}{error}") from None
    return colours


def _check_targets(y: Tensor, task: str, items: int, outputs: int) -> None:
    if task == "classification":
        shaped("y", y, (items,))
        within("y", y, 0, outputs)
        return
    if y.shape not in ((items,), (items, outputs)) or y.numel() != items * outputs or not y.is_floating_point():
        raise InputError(f"y: must be {items} rows of {outputs} numbers, found {_found(y)}")
    known = y[~y.isnan()]
    if not len(known) or not bool(known.isfinite().all()):
        raise InputError("y: must be finite numbers or NaN (unknown), at least one of them known")
    if task == "binary" and not bool(((known == 0) | (known == 1)).all()):
        raise InputError("y: must be 0, 1 or unknown")


def shaped(name: str, tensor: Tensor, shape: tuple[int, ...], kinds: Any = (torch.int64,)) -> Tensor:
    """A tensor of this shape and one of these types, of finite numbers, or an `InputError`."""
    if tuple(tensor.shape) != shape or tensor.dtype not in kinds:
        raise InputError(f"{name}: must be {shape} of {' or '.join(map(str, kinds))}, found {_found(tensor)}")
    if not bool(tensor.isfinite().all()):
        raise InputError(f"{name}: must be finite numbers, found NaN or infinity")
    return tensor


def within(name: str, tensor: Tensor, least: int, below: int) -> None:
    """Integers from `least` up to, and without, `below`, or an `InputError`."""
    if tensor.numel() and not least <= int(tensor.min()) <= int(tensor.max()) < below:
        found = f"{int(tensor.min())} to {int(tensor.max())}"
        raise InputError(f"{name}: must be from {least} to {below - 1}, found {found}")


def _named(memory: Mapping[str, Tensor], needed: Iterable[str], optional: Iterable[str] = ()) -> None:
    """All that is needed is there, and nothing else."""
    known = set(optional)
    for name in needed:
        if name not in memory:
            raise InputError(f"{name}: is missing")
        known.add(name)
    if strange := sorted(memory.keys() - known):
        raise InputError(f"{strange[0]}: is not something that a machine remembers")


def _found(tensor: Tensor) -> str:
    return f"{tuple(tensor.shape)} of {tensor.dtype}"
