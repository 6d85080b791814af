"""Protocols for choices on ogbg-molhiv that use neither its test molecules nor its few validation molecules.

The molecules to train on are split once more by scaffold. `inner-scaffolds` does it as OGB split all of them: those of
frequent scaffolds are trained on, those of rare scaffolds, a fifth, are held out. `scaffold-folds` deals the scaffolds
out to four folds, each held out once; what more than 100 molecules share is always trained on. Molecules that RDKit no
longer reads are left out. Wants WLHN_DATA.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from rdkit import Chem, rdBase

from wlhn.data import Dataset, Split
from wlhn.data.readers.molecules import scaffold_groups, scaffold_split
from wlhn.evaluation.protocols import Protocol, register_protocol

FOLDS = 4
NONE = np.empty(0, int)


def inner_scaffolds(dataset: Dataset, seed: int) -> list[Split]:
    train, smiles = molecules_to_train_on(dataset)
    inner = scaffold_split(smiles, ratios=(0.8, 0.0))
    return [Split(train[inner.train], train[inner.test], NONE)]


def scaffold_folds(dataset: Dataset, seed: int) -> list[Split]:
    train, smiles = molecules_to_train_on(dataset)
    fold, drawn = np.full(len(train), -1), np.random.default_rng(seed)
    for group in scaffold_groups(smiles):
        if len(group) <= 100:
            fold[group] = drawn.integers(FOLDS)
    return [Split(train[fold != k], train[fold == k], NONE) for k in range(FOLDS)]


def molecules_to_train_on(dataset: Dataset) -> tuple[np.ndarray, list[str]]:
    """(positions in the data set, SMILES)."""
    table = pd.read_csv(Path(os.environ["WLHN_DATA"]) / "ogb/ogbg_molhiv/mapping/mol.csv.gz")
    with rdBase.BlockLogs():
        train = np.array([k for k in dataset.splits[0].train if Chem.MolFromSmiles(table.smiles[k]) is not None])
    return train, table.smiles[train].tolist()


register_protocol(Protocol("inner-scaffolds", "the training molecules, split by scaffold again", inner_scaffolds))
register_protocol(Protocol("scaffold-folds", "four folds of the training molecules, by scaffold", scaffold_folds))
