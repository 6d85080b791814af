"""Molecules from a table of SMILES, with OGB's features, by RDKit; and the scaffold split.

OGB defines 9 features of an atom and 3 of a bond, all categories. RDKit's rules change: that of 2026 refuses seven
molecules of ogbg-molhiv that older ones read, so read OGB's own sets from their raw files. A molecule that RDKit
refuses is an error that names its line, or is left out and listed (`skip_invalid`).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset, Skipped
from wlhn.data.readers.archive import bar_options
from wlhn.data.readers.encode import encode_split, encode_targets, labelled_only
from wlhn.data.readers.limits import check_text
from wlhn.data.readers.ogb import ATOM_CATEGORIES
from wlhn.data.readers.table_notes import table_notes
from wlhn.data.readers.tables import DEFAULTS, ReadOptions, Table, read_table
from wlhn.data.readers.values import named, shown
from wlhn.data.splits import Split
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.words import counted


def read_smiles(path: str | Path, options: ReadOptions = DEFAULTS) -> Dataset:
    """A table of molecules: a column of SMILES, targets (all other columns unless one is called so), perhaps ids.

    The split is that of a column "split", or the scaffold split, 80/10/10, unless most molecules share a scaffold (as
    those without rings do), so that it would leave few to learn from: then there is none.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "drinks.csv"
    >>> _ = path.write_text("smiles,pleasant\\nO,1\\nCCO,1\\nCO,0\\n")
    >>> read_smiles(path)
    Dataset(drinks, graph classification, Graphs(3 graphs, 6 nodes, 6 directed edges))
    """
    path = Path(path)
    if any(importlib.util.find_spec(package) is None for package in ("rdkit", "ogb")):
        raise InputError(
            f"{path}: SMILES need the packages rdkit and ogb; install them with `pip install 'wlhn[molecules]'`"
        )
    table = read_table(path, options, expected=("target",), named=("smiles", "split", "id"), rest="target")
    options.check_roles(table.frame)
    table.check_no_features()
    if not table.names("smiles"):
        raise InputError(f"{path}: {_no_smiles(table)}")
    smiles = table.frame[table.names("smiles")[0]]
    graphs, kept, why = _featurise(smiles.tolist(), path, options)
    ids = _ids(table)
    skipped = tuple(Skipped(k, k if ids is None else ids[k], reason) for k, reason in why.items())
    if ids is None and skipped:
        ids = list(range(len(smiles)))  # positions in the table
    table = replace(table, frame=table.frame.iloc[kept])
    targets = encode_targets(table, options)
    split = encode_split(table, targets)
    notes = [*_listed(skipped), *table_notes([table])]
    if not split:
        by_scaffold = labelled_only(scaffold_split(smiles.iloc[kept].tolist()), targets)
        if 2 * len(by_scaffold.train) >= by_scaffold.size and len(by_scaffold.valid) and len(by_scaffold.test):
            split = (by_scaffold,)
        else:
            notes.append("not split by scaffold: molecules without rings share one, so some part would have too few")
    names = None if ids is None else [ids[k] for k in kept.tolist()]
    read = {"columns": table.columns, "splits": split, "skipped": skipped}
    name = path.name.partition(".")[0]
    return targets.dataset(name, graphs, "graph", *notes, categories=ATOM_CATEGORIES, graph_ids=names, **read)


def _ids(table: Table) -> list[Any] | None:
    """The users' names of the molecules, if all have one."""
    ids = table.names("id")
    return table.frame[ids[0]].tolist() if ids and not table.frame[ids[0]].isna().any() else None


def _listed(skipped: Sequence[Skipped]) -> tuple[str, ...]:
    if not skipped:
        return ()
    first = ", ".join(f"{shown(s.id)} (line {s.position + 2})" for s in skipped[:5])
    more = f" and {len(skipped) - 5:,} more" if len(skipped) > 5 else ""
    which = "that RDKit refuses was" if len(skipped) == 1 else "that RDKit refuses were"
    return (f"{counted(len(skipped), 'molecule')} {which} skipped: {first}{more}",)


def _no_smiles(table: Table) -> str:
    """That a column of SMILES is missing, and which one looks like it."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():  # we name what RDKit refuses ourselves
        for name in table.frame.columns:
            cells = [cell for cell in table.frame[name].dropna().tolist()[:20] if isinstance(cell, str)]
            read = [len(cell) <= 500 and Chem.MolFromSmiles(cell) is not None for cell in cells]
            if cells and sum(read) >= 0.8 * len(read):
                return f"no column is called smiles, but '{name}' looks like it (`--role {name}=smiles`)"
    told = "`--role NAME=smiles` for molecules, `--role NAME=from --role NAME=to` for edges"
    return f"no column of SMILES and no two of edges' ends are among {named(table.frame.columns)} ({told})"


def scaffold_split(smiles: Sequence[str], *, ratios: tuple[float, float] = (0.8, 0.1)) -> Split:
    """OGB's split: molecules by Bemis–Murcko scaffold, the largest sets first into train, then valid, then test.

    >>> scaffold_split(["c1ccccc1", "Cc1ccccc1", "C1CCCCC1", "CC", "CCO"], ratios=(0.4, 0.2)).train.tolist()
    [3, 4]
    """
    train_size, valid_size = ratios[0] * len(smiles), (ratios[0] + ratios[1]) * len(smiles)
    train: list[int] = []
    valid: list[int] = []
    test: list[int] = []
    for group in scaffold_groups(smiles):
        if len(train) + len(group) <= train_size:
            train += group
        elif len(train) + len(valid) + len(group) <= valid_size:
            valid += group
        else:
            test += group
    return Split(train, valid, test)


def scaffold_groups(smiles: Sequence[str]) -> list[list[int]]:
    """Positions of the molecules that share a Bemis–Murcko scaffold, the largest groups first.

    >>> scaffold_groups(["c1ccccc1", "Cc1ccccc1", "C1CCCCC1"])
    [[0, 1], [2]]
    """
    from rdkit import rdBase
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    members: dict[str, list[int]] = {}
    with rdBase.BlockLogs():
        for k, text in enumerate(smiles):
            members.setdefault(MurckoScaffoldSmiles(smiles=text, includeChirality=False), []).append(k)
    return sorted(members.values(), key=lambda group: (len(group), group[0]), reverse=True)


def _featurise(smiles: list[Any], path: Path, options: ReadOptions) -> tuple[Graphs, NDArray[np.int64], dict[int, str]]:
    """The molecules as graphs, small integers all along so that memory stays near the size of the result; the positions
    of those that were read; and why others were not.
    """
    from ogb.utils.features import atom_to_feature_vector, bond_to_feature_vector
    from rdkit import Chem, rdBase
    from rich.progress import track

    why: dict[int, str] = {}
    kept, sizes = [], []
    atoms: list[NDArray[np.int16]] = []
    bonds: list[NDArray[np.int16]] = []
    ends: list[NDArray[np.int32]] = []
    start = 0
    bar = track(enumerate(smiles), path.name, len(smiles), **bar_options(options.progress))
    with rdBase.BlockLogs():
        for k, text in bar:
            there, molecule, refused = f"{path}, line {k + 2}", None, "the cell is empty"
            if isinstance(text, str):
                check_text(there, len(text), "SMILES")
                molecule, refused = Chem.MolFromSmiles(text), f"RDKit refuses '{shown(text)}'"
            if molecule is None or molecule.GetNumAtoms() == 0:
                if not options.skip_invalid:
                    raise InputError(
                        f"{there}: must be SMILES of a molecule, {refused} (`--skip-invalid` leaves such lines out)"
                    )
                why[k] = refused
                continue
            kept.append(k)
            sizes.append(molecule.GetNumAtoms())
            atoms.append(np.array([atom_to_feature_vector(atom) for atom in molecule.GetAtoms()], np.int16))
            pairs = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
            features = [bond_to_feature_vector(bond) for bond in molecule.GetBonds()]
            ends.append(np.array(pairs, np.int32).reshape(-1, 2) + start)
            bonds.append(np.array(features, np.int16).reshape(-1, 3))
            start += sizes[-1]
    edges = np.concatenate([np.empty((0, 2), np.int32), *ends])
    graphs = Graphs.from_edges(
        np.stack([edges.ravel(), edges[:, ::-1].ravel()]),
        node_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        x=np.concatenate([np.empty((0, 9), np.int16), *atoms]),
        edge_attr=np.repeat(np.concatenate([np.empty((0, 3), np.int16), *bonds]), 2, axis=0),
    )
    return graphs, np.array(kept, np.int64), why
