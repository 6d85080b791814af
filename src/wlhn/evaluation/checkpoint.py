"""The state of a training run in one file, written anew after each epoch: tensors, and the rest as JSON in its header.

One file, because two could disagree. It carries the identity of its run and a checksum: a checkpoint that is damaged or
belongs to another run counts as none, and training from the start gives the same numbers.
"""

from __future__ import annotations

import hashlib
import json
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
    contiguous = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(rest, allow_nan=False)
    header = {"identity": identity, "rest": text, "sha256": _digest(contiguous, identity, text)}
    with replacing(path) as draft:
        draft.write_bytes(save(contiguous, metadata=header))


def load_checkpoint(path: Path, identity: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """What `save_checkpoint` wrote for the same run, or None."""
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        whole = header["sha256"] == _digest(tensors, header["identity"], header["rest"])
        return (tensors, json.loads(header["rest"])) if whole and header["identity"] == identity else None
    except (OSError, SafetensorError, KeyError, ValueError):
        return None


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
        optimizer.state[parameters[int(k)]][name] = tensor if tensor.is_floating_point() else int(tensor)


def _digest(tensors: Mapping[str, Tensor], *texts: str) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].numpy().tobytes())
    return digest.hexdigest()
