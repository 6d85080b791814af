"""A protocol: one split, half of the items to test on."""

import numpy as np

from wlhn.data import Dataset, Split
from wlhn.evaluation.protocols import Protocol


def halves(dataset: Dataset, seed: int) -> list[Split]:
    order = np.random.default_rng(seed).permutation(len(dataset))
    half, quarter = len(order) // 2, len(order) // 4
    return [Split(order[half:-quarter], order[-quarter:], order[:half])]


HALVES = Protocol("halves", "half of the items to test on", halves, final_runs=2)
