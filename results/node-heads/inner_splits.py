"""A protocol for choices that are made once for all splits: test nodes of a split are never looked at.

Of each published split, the validation nodes are held out, and a quarter of the training nodes stops the training.
"""

import numpy as np
from sklearn.model_selection import train_test_split

from wlhn.data import Dataset, Split
from wlhn.evaluation.protocols import Protocol, register_protocol


def inner_splits(dataset: Dataset, seed: int) -> list[Split]:
    splits = []
    for k, published in enumerate(dataset.splits):
        train, valid = train_test_split(published.train, test_size=0.25, random_state=k)
        splits.append(Split(np.sort(train), np.sort(valid), published.valid))
    return splits


register_protocol(Protocol("inner-splits", "the published splits without test nodes", inner_splits, final_runs=3))
