"""A protocol for choices that are made once for all folds: test graphs of a fold are never looked at.

Of each published fold, the validation graphs are held out, and a tenth of the training graphs stops the training.
"""

import numpy as np
from sklearn.model_selection import train_test_split

from wlhn.data import Dataset, Split
from wlhn.evaluation.protocols import Protocol, register_protocol, ten_fold


def inner_folds(dataset: Dataset, seed: int) -> list[Split]:
    splits = []
    for k, fold in enumerate(ten_fold(dataset, seed)):
        train, valid = train_test_split(fold.train, test_size=0.1, random_state=k, stratify=dataset.y[fold.train])
        splits.append(Split(np.sort(train), np.sort(valid), fold.valid))
    return splits


register_protocol(Protocol("inner-folds", "the ten folds without their test graphs", inner_folds, final_runs=3))
