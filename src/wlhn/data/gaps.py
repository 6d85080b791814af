"""Numbers that are missing: filled by the mean of the training data, with a column that says where.

The mean alone would hide that something was missing, and that it is missing often says something. So for each column
that had gaps in training a 0/1 column, 1 at a gap, stands behind all others. A column without gaps in training has
none, so that models of complete data stay what they were; a gap in it later is filled and counted as never seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.errors import InputError


@dataclass(frozen=True)
class Filling:
    """What stands in for missing numbers, column by column; fixed on the training data.

    >>> nothing = float("nan")
    >>> filling = Filling.of(np.array([[1.0, 5.0], [3.0, nothing]]))
    >>> filling.fill(np.array([[nothing, nothing]]))[0].tolist()
    [[2.0, 5.0, 1.0]]
    """

    means: tuple[float, ...]  # of each column
    gaps: tuple[int, ...]  # columns that had gaps in training

    @staticmethod
    def of(values: NDArray[Any]) -> Filling | None:
        """The filling of (rows, columns) numbers; none of categories, which have a category for gaps."""
        if not np.issubdtype(values.dtype, np.floating):
            return None
        known = ~np.isnan(values)
        count = np.maximum(known.sum(axis=0), 1)
        means = np.where(known, values, 0).sum(axis=0, dtype=np.float64) / count
        return Filling(tuple(means.tolist()), tuple(np.flatnonzero(~known.all(axis=0)).tolist()))

    def fill(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """((rows, columns + gaps) numbers without gaps, which rows had a gap where training had none)."""
        if values.ndim != 2 or values.shape[1] != len(self.means):
            raise InputError(f"features: expected {len(self.means)} columns as in training, found shape {values.shape}")
        missing = np.isnan(values)
        if not self.gaps and not missing.any():
            return values, np.zeros(len(values), bool)
        filled = np.where(missing, np.array(self.means), values).astype(values.dtype)
        new = np.delete(missing, self.gaps, axis=1).any(axis=1)
        return np.concatenate([filled, missing[:, self.gaps].astype(values.dtype)], axis=1), new


def fill(filling: Filling | None, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """What `Filling.fill` gives; without one, the values themselves, in which nothing may be missing."""
    if filling is not None:  # of whole numbers too, which graphs of a later day may have
        return filling.fill(values)
    if np.issubdtype(values.dtype, np.floating) and np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0]
        raise InputError(
            f"features, row {row}, column {column}: a number is missing, and this model has no means to fill it "
            "with; give the number, or train again"
        )
    return values, np.zeros(len(values), bool)
