"""A protocol for choices on ogbg-molhiv that uses neither its test molecules nor its few validation molecules.

The molecules to train on are split once more as OGB split all of them: those of frequent scaffolds are trained on,
those of rare scaffolds, a fifth, are held out. Molecules that RDKit no longer reads are left out. Wants WLHN_DATA.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from rdkit import Chem, rdBase

from wlhn.data import Dataset, Split
from wlhn.data.readers.molecules import scaffold_split
from wlhn.evaluation.protocols import Protocol, register_protocol


def inner_scaffolds(dataset: Dataset, seed: int) -> list[Split]:
    table = pd.read_csv(Path(os.environ["WLHN_DATA"]) / "ogb/ogbg_molhiv/mapping/mol.csv.gz")
    with rdBase.BlockLogs():
        train = np.array([k for k in dataset.splits[0].train if Chem.MolFromSmiles(table.smiles[k]) is not None])
    inner = scaffold_split(table.smiles[train].tolist(), ratios=(0.8, 0.0))
    return [Split(train[inner.train], train[inner.test], np.empty(0, int))]


register_protocol(Protocol("inner-scaffolds", "the training molecules, split by scaffold again", inner_scaffolds))
