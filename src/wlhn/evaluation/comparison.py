"""Is one model better than another on the same splits? Paired tests of two outcomes.

Folds share training items, so a plain t-test finds differences where there are none. The corrected resampled t-test
(Nadeau and Bengio, "Inference for the generalization error", 2003) widens the variance by 1/J + n_test/n_train;
Wilcoxon's signed ranks assume no distribution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wlhn.errors import InputError


@dataclass(frozen=True)
class Comparison:
    """The first outcome against the second, split by split (or, on a single split, run by run)."""

    difference: float  # mean of first − second
    better: int  # pairs where the first has the higher number
    worse: int
    wilcoxon_p: float
    corrected_t_p: float


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> Comparison:
    """Paired tests of two outcomes of `evaluate` on the same splits.

    >>> def outcome(*scores):
    ...     splits = [{"train": 90, "test": 10, "test_scores": [s]} for s in scores]
    ...     return {"data": "D", "metric": "accuracy", "splits_hash": "h", "splits": splits}
    >>> result = compare(outcome(0.9, 0.8, 0.85, 0.9, 0.7, 0.9), outcome(0.8, 0.75, 0.8, 0.8, 0.65, 0.85))
    >>> round(result.difference, 3), result.better, result.wilcoxon_p < 0.05
    (0.067, 6, True)
    """
    from scipy import stats

    for key in ("data", "metric", "splits_hash"):
        if first[key] != second[key]:
            raise InputError(f"compare: {key} is {first[key]} here and {second[key]} there, expected the same")
    a, b = _scores(first), _scores(second)
    if len(a) != len(b):
        raise InputError(f"compare: {len(a)} runs here and {len(b)} there, expected as many")
    gap = a - b
    if len(gap) < 2 or not gap.any():
        return Comparison(float(gap.mean()), int((gap > 0).sum()), int((gap < 0).sum()), 1.0, 1.0)
    wilcoxon = float(stats.wilcoxon(gap, zero_method="zsplit").pvalue)
    ratio = float(np.mean([split["test"] / split["train"] for split in first["splits"]]))
    error = math.sqrt((1 / len(gap) + ratio) * float(gap.var(ddof=1)))
    t_p = 2 * float(stats.t.sf(abs(gap.mean()) / error, df=len(gap) - 1)) if error else 0.0
    return Comparison(float(gap.mean()), int((gap > 0).sum()), int((gap < 0).sum()), wilcoxon, t_p)


def _scores(outcome: Mapping[str, Any]) -> Any:
    splits = outcome["splits"]
    if len(splits) == 1:
        return np.array(splits[0]["test_scores"])
    return np.array([np.mean(split["test_scores"]) for split in splits])
