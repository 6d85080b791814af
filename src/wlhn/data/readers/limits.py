"""How much memory reading may take: one limit for everything that grows while it is read.

A compressed file unpacks, text becomes cells, XML becomes objects: a small file can fill a machine. What would pass the
limit is refused in one sentence before, or while, it grows. The limit is 4 GiB, or what WLHN_READ_LIMIT says ("16G").
"""

from __future__ import annotations

import os
from typing import Literal

from wlhn.errors import InputError

VARIABLE = "WLHN_READ_LIMIT"
DEFAULT = 4 << 30
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

Form = Literal["compressed data", "table", "graph file", "SMILES", "attributes", "features", "columns"]
# Bytes of memory for a byte of text (of the last three, for one of them), measured on the worst text and rounded up.
GROWTH: dict[Form, int] = {
    "compressed data": 16,  # an edge of four bytes, as two numbers that are sorted
    "table": 20,
    "graph file": 64,
    "SMILES": 200_000,  # not memory: RDKit's time for fused rings grows with the square of their number
    "attributes": 100,  # of all nodes or edges, given or not
    "features": 8,
    "columns": 200_000,  # not memory but time: each is looked at
}
BOMB_RATIO = 100  # COLLAB, the best packed real set, has 35


def read_limit() -> int:
    """The limit in bytes.

    >>> read_limit() // 2**30
    4
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return DEFAULT
    number, unit = (given[:-1], UNITS[given[-1].upper()]) if given[-1].upper() in UNITS else (given, 1)
    if not number.isascii() or not number.isdigit():
        raise InputError(f"{VARIABLE}={given}: must be a size such as 500M or 16G")
    return int(number) * unit


def check_text(where: str, size: int, form: Form) -> None:
    """Refuse text, or so many things, that would grow beyond the limit.

    >>> check_text("g.gml", 2**30, "graph file")
    Traceback (most recent call last):
    wlhn.errors.InputError: g.gml: 1,073,741,824 bytes of graph file, more than the 67,108,864 allowed \
(WLHN_READ_LIMIT=64G raises the limit)
    """
    most = read_limit() // GROWTH[form]
    if size > most:
        what = form if form in ("attributes", "features", "columns") else f"bytes of {form}"
        raise InputError(f"{where}: {size:,} {what}, more than the {most:,} allowed ({_raise_to(size, form)})")


def check_unpacked(where: str, unpacked: int, packed: int) -> None:
    """Refuse what unpacks to far more than any real data set does."""
    if unpacked > read_limit() // GROWTH["compressed data"] and unpacked > BOMB_RATIO * packed:
        raise InputError(
            f"{where}: {packed:,} bytes unpack to {unpacked:,} or more; allowed are {BOMB_RATIO} times as many "
            f"({_raise_to(unpacked, 'compressed data')})"
        )


def _raise_to(size: int, form: Form) -> str:
    needed = -(-size * GROWTH[form] // UNITS["G"])
    return f"{VARIABLE}={max(needed, 1)}G raises the limit"
