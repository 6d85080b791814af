"""Data that come with the installation or are generated: no network, no data root needed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from wlhn.errors import InputError


def mutag_folder() -> Path:
    """The folder of MUTAG in TU format inside the installed grakel package (found, not imported).

    >>> mutag_folder().name
    'MUTAG'
    """
    spec = importlib.util.find_spec("grakel")
    if spec is None or spec.origin is None:
        raise InputError("MUTAG: the package grakel carries it and is not installed, expected `pip install grakel`")
    return Path(spec.origin).parent / "tests" / "data" / "MUTAG"
