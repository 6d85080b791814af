"""The state of a training run in one file, written anew every so often: tensors, and the rest as JSON in its header.

One file, because two could disagree; of several networks that are trained one after another, one file each. It carries
the identity of its run and a checksum: a checkpoint that is damaged or belongs to another run counts as none, and
training from the start gives the same numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor
from torch.optim import Optimizer

from wlhn.files import replacing


def save_checkpoint(path: Path, identity: str, tensors: Mapping[str, Tensor], rest: Mapping[str, Any]) -> None:
    """Write a checkpoint, whole or not at all."""
    packed, layout = _pack(tensors)
    text = json.dumps({"layout": layout, "rest": rest}, allow_nan=False)
    header = {"identity": identity, "text": text, "sha256": _digest(packed, identity, text)}
    with replacing(path) as draft:
        draft.write_bytes(save(packed, metadata=header))


def load_checkpoint(path: Path, identity: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """What `save_checkpoint` wrote for the same run, or None."""
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            packed = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if header["identity"] != identity or header["sha256"] != _digest(packed, identity, header["text"]):
            return None
        document = json.loads(header["text"])
        return _unpack(packed, document["layout"]), document["rest"]
    except (OSError, SafetensorError, KeyError, ValueError):
        return None


def network_checkpoint(path: Path, k: int) -> Path:
    """Where the k-th network of a run has its checkpoint: the first, and mostly the only one, in the run's own file."""
    return path.with_name(f"{path.name}-{k + 1}") if k else path


def remove_checkpoints(path: Path) -> None:
    """Remove the checkpoints of all networks of a run, its own file last: while that is there, others may be."""
    further = 1
    while network_checkpoint(path, further).exists():
        further += 1
    for k in reversed(range(further)):
        network_checkpoint(path, k).unlink(missing_ok=True)


Layout = dict[str, list[tuple[str, list[int]]]]  # by type: names and shapes in their order


def _pack(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], Layout]:
    """All tensors of a type end to end in one: a file of hundreds of small ones takes longer than a small epoch."""
    kinds: dict[str, list[str]] = {}
    for name, tensor in tensors.items():
        kinds.setdefault(str(tensor.dtype), []).append(name)
    packed = {
        kind: torch.cat([tensors[name].detach().cpu().reshape(-1) for name in names]) for kind, names in kinds.items()
    }
    return packed, {kind: [(name, list(tensors[name].shape)) for name in names] for kind, names in kinds.items()}


def _unpack(packed: Mapping[str, Tensor], layout: Layout) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for kind, parts in layout.items():
        sizes = [math.prod(shape) for _, shape in parts]
        for (name, shape), flat in zip(parts, packed[kind].split(sizes), strict=True):
            tensors[name] = flat.reshape(shape).clone()
    return tensors


def optimizer_tensors(optimizer: Optimizer) -> dict[str, Tensor]:
    """What an optimizer remembers of each parameter; counters of steps become tensors."""
    state = optimizer.state_dict()["state"]
    return {f"{k}.{name}": torch.as_tensor(value) for k, kept in state.items() for name, value in kept.items()}


def restore_optimizer(optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give back what `optimizer_tensors` took from an optimizer that was made in the same way."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for key, tensor in tensors.items():
        k, name = key.split(".", 1)
        # torch counts steps in float tensors and geoopt in integers, which `load_state_dict` would make floats
        place = "cpu" if name == "step" else parameters[int(k)].device
        optimizer.state[parameters[int(k)]][name] = tensor.to(place) if tensor.is_floating_point() else int(tensor)


def _digest(tensors: Mapping[str, Tensor], *texts: str) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].numpy().tobytes())
    return digest.hexdigest()
