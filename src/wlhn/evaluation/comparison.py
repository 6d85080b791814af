"""Is one model better than another on the same splits? Paired tests of two outcomes.

Folds share training items, so a plain t-test finds differences where there are none. The corrected resampled t-test
(Nadeau and Bengio, "Inference for the generalization error", 2003) widens the variance by 1/J + n_test/n_train;
Wilcoxon's signed ranks assume no distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.errors import InputError
from wlhn.evaluation.outcome import Outcome
from wlhn.training.metrics import METRICS
from wlhn.words import counted


@dataclass(frozen=True)
class Comparison:
    """The first outcome against the second, split by split (or, on a single split, run by run)."""

    difference: float  # mean of first − second
    better: int  # pairs where the first has the better score
    worse: int
    wilcoxon_p: float
    corrected_t_p: float


def compare(first: Outcome, second: Outcome) -> Comparison:
    """Paired tests of two outcomes on the same splits."""
    from scipy import stats

    gap, test_over_train = paired_differences(first, second)
    wilcoxon_p = 1.0
    if len(gap) > 1 and gap.any():
        wilcoxon_p = float(stats.wilcoxon(gap, zero_method="zsplit").pvalue)
    ahead = METRICS[first.metric].rank(1.0) * gap
    better, worse = int((ahead > 0).sum()), int((ahead < 0).sum())
    return Comparison(float(gap.mean()), better, worse, wilcoxon_p, corrected_t_p(gap, test_over_train))


def paired_differences(first: Outcome, second: Outcome) -> tuple[NDArray[Any], float]:
    """(differences split by split, the ratio of test to training items); refused for outcomes on other splits."""
    for what, here, there in (
        ("data", first.plan.data, second.plan.data),
        ("metric", first.metric, second.metric),
        ("splits_hash", first.plan.splits_hash, second.plan.splits_hash),
    ):
        if here != there:
            raise InputError(f"compare: {what} is {here} here and {there} there; compare outcomes on the same splits")
    a, b = _scores(first), _scores(second)
    if (len(first.splits), len(a)) != (len(second.splits), len(b)):
        here, there = (f"{counted(len(each.splits), 'split')} × {each.plan.final_runs}" for each in (first, second))
        raise InputError(f"compare: {here} runs here and {there} there; compare outcomes of the same extent")
    return a - b, float(np.mean([split.test / split.train for split in first.splits]))


def corrected_t_p(gap: NDArray[Any], test_over_train: float) -> float:
    """p of the corrected resampled t-test; 1 where there is no difference, or only one."""
    from scipy import stats

    if len(gap) < 2 or not gap.any():
        return 1.0
    error = math.sqrt((1 / len(gap) + test_over_train) * float(gap.var(ddof=1)))
    return 2 * float(stats.t.sf(abs(gap.mean()) / error, df=len(gap) - 1)) if error else 0.0


def _scores(outcome: Outcome) -> NDArray[Any]:
    if len(outcome.splits) == 1:
        return np.array(outcome.splits[0].test_scores)
    return np.array([np.mean(split.test_scores) for split in outcome.splits])
