"""Whether a matrix fits into memory, said before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from wlhn.errors import InputError

FEATURES_INSTEAD = "take explicit features (WLFeatures, --kind features) with a linear machine, or fewer graphs"


def zeros(rows: int, columns: int) -> NDArray[Any]:
    """A matrix of float64, or an `InputError` with advice.

    >>> zeros(10**7, 10**7)
    Traceback (most recent call last):
    wlhn.errors.InputError: a matrix of 10,000,000 × 10,000,000 numbers takes 800,000.0 GB and ... GB of memory are...
    """
    check_fits(rows, columns)
    return np.zeros((rows, columns))


def check_fits(rows: int, columns: int, advice: str = FEATURES_INSTEAD) -> None:
    """Whether there is memory for so many numbers of float64."""
    needed, free = 8 * rows * columns, psutil.virtual_memory().available
    if needed > free:
        raise InputError(
            f"a matrix of {rows:,} × {columns:,} numbers takes {needed / 1e9:,.1f} GB and {free / 1e9:,.1f} GB of "
            f"memory are free: {advice}"
        )
