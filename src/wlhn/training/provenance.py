"""Where a number comes from: code, machine, data."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from wlhn.data.dataset import Dataset
from wlhn.graphs import Graphs
from wlhn.options.portable import is_portable

PACKAGES = ("torch", "torch_geometric", "numpy", "scipy", "numba", "geoopt", "safetensors", "scikit-learn")
PORTABLE = "portable"  # how `instructions` ends where all libraries were held to a common level
COUNTED = ("torch", "numpy", "scipy", "numba", "scikit-learn")  # those that compute
FEATURES = ("fma", "avx2", "avx512f", "avx512_vnni", "amx_tile", "asimd", "sve")


@cache
def code_version() -> str:
    """`git describe` of a checkout, else the version of the package."""
    version = importlib.metadata.version("wlhn")
    source = Path(__file__).resolve().parents[3]
    if not (source / ".git").exists():
        return version
    command = ["git", "-C", str(source), "describe", "--always", "--dirty", "--tags"]
    try:
        described = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return version
    return f"{version}+{described}"


def environment() -> dict[str, Any]:
    """The machine and the versions that a run was made with."""
    import torch

    return {
        "wlhn": code_version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        **machine(),
        "processors": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
    }


@cache
def machine() -> dict[str, str]:
    """The processor's name as its maker has it, its instruction sets by which libraries choose their code, and those in
    use: what torch chose here, and whether all libraries were held to a common level.
    """
    import torch

    known = _cpuinfo().get("flags", _cpuinfo().get("Features", "")).split()
    level = PORTABLE if is_portable() else "as it is"
    return {
        "processor": _cpuinfo().get("model name") or platform.processor() or platform.machine(),
        "features": " ".join(name for name in FEATURES if name in known),
        "instructions": f"{torch.backends.cpu.get_cpu_capability()}, {level}",
    }


@cache
def _cpuinfo() -> dict[str, str]:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    except OSError:  # not Linux
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


@cache
def made_with() -> dict[str, str]:
    """All that the last digits of a number depend on, besides code, data and settings: processor and libraries.

    >>> sorted(made_with())
    ['features', 'instructions', 'numba', 'numpy', 'processor', 'scikit-learn', 'scipy', 'torch']
    """
    return machine() | {name: importlib.metadata.version(name) for name in COUNTED}


_known_hashes: WeakKeyDictionary[Dataset, str] = WeakKeyDictionary()


def data_hash(dataset: Dataset) -> str:
    """Twelve hex digits of the graphs and targets of a data set; of one and the same, computed once.

    >>> from wlhn.data import load
    >>> data_hash(load("MUTAG")) == data_hash(load("mutag"))
    True
    """
    if dataset not in _known_hashes:
        _known_hashes[dataset] = _data_hash(dataset)
    return _known_hashes[dataset]


def _data_hash(dataset: Dataset) -> str:
    digest = hashlib.sha256(repr([dataset.level, dataset.task, dataset.inputs, dataset.classes]).encode())
    for field in fields(Graphs):
        values = getattr(dataset.graphs, field.name)
        if values is not None and field.name != "node_ids":
            digest.update(field.name.encode())
            digest.update(np.ascontiguousarray(values).tobytes())
    digest.update(np.ascontiguousarray(dataset.y).tobytes())
    if dataset.training_x is not None:
        digest.update(np.ascontiguousarray(dataset.training_x).tobytes())
    return digest.hexdigest()[:12]


def file_hash(path: Path) -> str:
    """sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
