"""Morgan fingerprints with a random forest, the usual floor for molecules: RDKit's fingerprints, scikit-learn's forest.

Rogers & Hahn, "Extended-connectivity fingerprints", 2010. RDKit needs a molecule only for its bonds: what an atom and a
bond are at the start can be given. So the fingerprint is that of any graphs with features. Of OGB's atoms it takes
what RDKit itself takes (element, degree, charge, hydrogens, ring), and of its bonds the type; of others the whole row
and the degree. Two graphs then share bits just as their SMILES would.
"""

from __future__ import annotations

import importlib.util
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from wlhn.data.readers.ogb import ATOM_CATEGORIES
from wlhn.errors import InputError
from wlhn.nn.encoders import Channels
from wlhn.nn.machine import Inputs, Machine, MachineOptions
from wlhn.options.option import option
from wlhn.options.training import ClassWeightOptions

BITS = 2048
OGB_ATOM = [0, 2, 3, 4, 8]  # element, degree, charge, hydrogens, whether in a ring
OGB_BOND = [0]  # type


@dataclass(frozen=True)
class MorganForestOptions(ClassWeightOptions, MachineOptions):
    trees: int = option(500, "Trees of the forest.", at_least=1, below=100_000)


class MorganForest(Machine):
    """A random forest on Morgan fingerprints of radius `rounds` (RDKit).

    >>> import torch
    >>> model = MorganForest(in_channels=1, out_channels=2, rounds=2, trees=5)
    >>> edges, batch = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]]), torch.tensor([0, 0, 1, 1, 1])
    >>> model.fit(torch.ones(5, 1), edges, batch, None, y=torch.tensor([0, 1]), task="classification")
    >>> model(torch.ones(5, 1), edges, batch).argmax(1)
    tensor([0, 1])
    """

    Options = MorganForestOptions
    target_levels = ("graph",)
    sees_edges = True

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        if importlib.util.find_spec("rdkit") is None:
            raise InputError("morgan-forest: needs the package rdkit; install it with `pip install 'wlhn[molecules]'`")
        self.atom_columns = OGB_ATOM if _like_ogb(in_channels) else None
        self.bond_columns = OGB_BOND if self.atom_columns is not None else None

    def features(self, inputs: Inputs) -> NDArray[Any]:
        """Fingerprints (graphs, BITS) of zeros and ones."""
        from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

        generator = GetMorganGenerator(radius=self.options.rounds, fpSize=BITS)
        molecules = [self.molecule(inputs, nodes, edges) for nodes, edges in inputs.graphs()]
        return np.stack(
            [
                generator.GetFingerprintAsNumPy(graph, customAtomInvariants=atoms, customBondInvariants=bonds)
                for graph, atoms, bonds in molecules
            ]
        )

    def molecule(self, inputs: Inputs, nodes: slice, edges: NDArray[Any]) -> tuple[Any, list[int], list[int]]:
        """(a molecule of nameless atoms with the graph's bonds, what its atoms are, what its bonds are)."""
        from rdkit import Chem

        molecule = Chem.RWMol()
        for _ in range(nodes.start, nodes.stop):
            molecule.AddAtom(Chem.Atom(0))
        source, target = inputs.edge_index[:, edges] - nodes.start
        pairs = np.sort(np.stack([source, target]), axis=0)[:, source != target]
        pairs, first = np.unique(pairs, axis=1, return_index=True)
        for u, v in pairs.T.tolist():
            molecule.AddBond(u, v, Chem.BondType.SINGLE)
        bonds = [1] * len(first)
        if inputs.edge_attr is not None:
            bonds = _hashes(inputs.edge_attr[edges[source != target][first]], self.bond_columns)
        rows = inputs.x[nodes]
        if self.atom_columns is None:
            degree = np.bincount(pairs.ravel(), minlength=len(rows))
            rows = np.concatenate([rows, degree[:, None]], axis=1)
        return molecule, _hashes(rows, self.atom_columns), bonds

    def classifier(self, seed: int) -> Any:
        return RandomForestClassifier(self.options.trees, random_state=seed)

    def regressor(self, seed: int) -> Any:
        return RandomForestRegressor(self.options.trees, random_state=seed)


def _like_ogb(in_channels: Channels) -> bool:
    """Whether these are OGB's features of atoms: nine columns of categories, none with more than OGB has."""
    sizes = in_channels if isinstance(in_channels, tuple) else ()
    return len(sizes) == len(ATOM_CATEGORIES) and all(a <= b for a, b in zip(sizes, ATOM_CATEGORIES, strict=True))


def _hashes(rows: NDArray[Any], columns: list[int] | None) -> list[int]:
    """A 32-bit number for each row, the same everywhere."""
    chosen = np.ascontiguousarray(rows if columns is None else rows[:, columns])
    return [zlib.crc32(row.tobytes()) for row in chosen]
