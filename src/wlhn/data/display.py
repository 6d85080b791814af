"""What graphs, nodes and edges are called: by the user, or, atoms and labels, by their own names; bonds by order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.columns import labels_of
from wlhn.data.dataset import Dataset
from wlhn.data.readers.graph_files import GRAPH_FILES
from wlhn.data.readers.ogb import ATOM_CATEGORIES
from wlhn.errors import InputError


def graph_names(dataset: Dataset) -> Sequence[Any]:
    """The user's names of the graphs, or their positions."""
    return range(len(dataset.graphs)) if dataset.graph_ids is None else dataset.graph_ids


def graph_position(dataset: Dataset, name: str) -> int:
    """The position of the graph of this name (of a file, the ending may go); without names, the position itself.

    >>> from wlhn.data import load
    >>> graph_position(load("atlas"), "G7"), graph_position(load("MUTAG"), "12")
    (6, 12)
    """
    known = [str(known) for known in graph_names(dataset)]
    if name not in known:
        files = [full for full in known if PurePath(full).suffix in GRAPH_FILES and PurePath(full).stem == name]
        if len(files) > 1:
            raise InputError(f"{dataset.name}: graph {name!r} may be {' or '.join(files)}; give one of these names")
        name = files[0] if files else name
    for each in dataset.skipped:
        if name == str(each.id) and name not in known:
            raise InputError(f"{dataset.name}: graph {name!r} was skipped: {each.why}")
    return _find(f"{dataset.name}: no graph", known, name)


def node_position(dataset: Dataset, name: str) -> int:
    """The position of a node among all: its name, with the graph's name before it where there are several (G7/2).

    >>> from wlhn.data import load
    >>> node_position(load("karate"), "33"), node_position(load("MUTAG"), "1/0")
    (33, 17)
    """
    graph, within = 0, name
    if len(dataset.graphs) > 1:
        graph_name, slash, within = name.rpartition("/")
        if not slash:
            raise InputError(f"node {name}: must be GRAPH/NODE, as there are {len(dataset.graphs)} graphs")
        graph = graph_position(dataset, graph_name)
    ids = [str(known) for known in dataset.graphs.ids(graph)]
    return int(dataset.graphs.node_ptr[graph]) + _find(f"{dataset.name}: no node", ids, within)


def node_name(dataset: Dataset, node: int) -> str:
    """What `node_position` finds again."""
    graphs = dataset.graphs
    graph = int(np.searchsorted(graphs.node_ptr, node, side="right")) - 1
    within = node - int(graphs.node_ptr[graph])
    own = str(within if graphs.node_ids is None else graphs.node_ids[node])
    return own if len(graphs) == 1 else f"{graph_names(dataset)[graph]}/{own}"


def _find(what: str, known: Sequence[str], name: str) -> int:
    if name not in known:
        raise InputError(f"{what} {name!r}; there are {known[0]!r} … {known[-1]!r} ({len(known)})")
    return known.index(name)


# By atomic number from 1; the last stands for everything else.
ELEMENTS = """
H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc
Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi
Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og ?
"""
MUTAG_ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")  # as its README has them
MUTAG_BONDS = (1.5, 1.0, 2.0, 3.0)  # aromatic, single, double, triple
ATOM_WORDS = (0, 3, 4, 7, 8)  # of OGB's features: element, charge, hydrogens, aromatic, in a ring
NEUTRAL = 5  # the code of no charge
OTHER_CHARGE, OTHER_HYDROGENS = ATOM_CATEGORIES[3] - 1, ATOM_CATEGORIES[4] - 1  # codes of all that have none
OGB_BONDS = (1.0, 2.0, 3.0, 1.5, 1.0)


def node_names(dataset: Dataset) -> NDArray[Any]:
    """What to write on each node: its atom, its label, or nothing.

    >>> from wlhn.data import load
    >>> node_names(load("MUTAG"))[:3].tolist(), set(node_names(load("karate")).tolist())
    (['C', 'C', 'C'], {''})
    """
    graphs = dataset.graphs
    if has_ogb_atoms(dataset):
        assert graphs.x is not None
        symbols = np.array(ELEMENTS.split())
        return symbols[graphs.x[:, 0].astype(int).clip(0, len(symbols) - 1)]
    if graphs.node_label is None:
        return np.full(graphs.num_nodes, "")
    values, place = np.unique(graphs.node_label, return_inverse=True)
    known = MUTAG_ATOMS if dataset.name == "MUTAG" else labels_of(dataset.columns)
    told = ["missing" if value is None else str(value) for value in known]
    names = [told[v] if 0 <= v < len(told) else str(v) for v in values.tolist()]
    return np.array(names)[place]


def names_as_seen(dataset: Dataset, inputs: tuple[str, ...]) -> NDArray[Any]:
    """What to call nodes in words about colours that start from these inputs: their names, if the colours know them;
    their degrees, if the colours know nothing else; or nothing.

    >>> from wlhn.data import load
    >>> names_as_seen(load("MUTAG"), ("label",))[:3].tolist(), names_as_seen(load("karate"), ())[:2].tolist()
    (['C', 'C', 'C'], ['degree 16', 'degree 9'])
    """
    if not inputs:
        values, place = np.unique(dataset.graphs.degree, return_inverse=True)
        return np.array([f"degree {degree}" for degree in values.tolist()], str)[place]
    if "x" in inputs and has_ogb_atoms(dataset):
        return _atoms_in_words(dataset)
    known = "label" in inputs or has_ogb_atoms(dataset)
    return node_names(dataset) if known else np.full(dataset.graphs.num_nodes, "")


def _atoms_in_words(dataset: Dataset) -> NDArray[Any]:
    """Atoms as chemists tell them apart: with hydrogens, charge, and whether they are aromatic or in a ring."""
    assert dataset.graphs.x is not None
    rows, place = np.unique(dataset.graphs.x[:, ATOM_WORDS].astype(int), axis=0, return_inverse=True)
    symbols, words = ELEMENTS.split(), []
    for element, charge, hydrogens, aromatic, ring in rows.tolist():
        where = "aromatic " if aromatic else "ring " if ring else ""
        held, charged = _hydrogens(hydrogens), _charge(charge)
        apart = " " * (held[-1:].isdigit() and charged[:1].isdigit())
        words.append(where + symbols[min(element, len(symbols) - 1)] + held + apart + charged)
    return np.array(words, str)[place.ravel()]


def _hydrogens(code: int) -> str:
    """
    >>> [_hydrogens(code) for code in (0, 1, 2, 9)]
    ['', 'H', 'H2', 'H?']
    """
    return "" if not code else "H" if code == 1 else "H?" if code >= OTHER_HYDROGENS else f"H{code}"


def _charge(code: int) -> str:
    """
    >>> [_charge(code) for code in (3, 4, 5, 6, 7, 11)]
    ['2−', '−', '', '+', '2+', '?']
    """
    if code >= OTHER_CHARGE:
        return "?"
    sign, size = "+" if code > NEUTRAL else "−", abs(code - NEUTRAL)
    return "" if not size else sign if size == 1 else f"{size}{sign}"


def node_columns(dataset: Dataset) -> dict[str, NDArray[Any]]:
    """Columns one can colour nodes by: the label, numeric attributes, the degree.

    >>> from wlhn.data import load
    >>> list(node_columns(load("MUTAG")))
    ['label', 'degree']
    """
    graphs = dataset.graphs
    columns: dict[str, NDArray[Any]] = {}
    names = node_names(dataset)
    if len(names) and names[0] != "":
        columns["label"] = names
    if graphs.x is not None and not has_ogb_atoms(dataset) and np.issubdtype(graphs.x.dtype, np.floating):
        numeric = [c.name for c in dataset.columns if c.role == "feature" and c.kind == "numeric" and not c.edge]
        titles = numeric if len(numeric) == graphs.x.shape[1] else [f"feature {k}" for k in range(graphs.x.shape[1])]
        columns |= {title: graphs.x[:, k] for k, title in enumerate(titles[:12])}
    return columns | {"degree": graphs.degree.astype(float)}


def bond_orders(dataset: Dataset) -> NDArray[np.float64]:
    """The order of each edge as a chemist draws it (1.5 is aromatic); 1 where edges are not bonds."""
    graphs = dataset.graphs
    if dataset.name == "MUTAG" and graphs.edge_label is not None:
        return np.array(MUTAG_BONDS)[graphs.edge_label.clip(0, len(MUTAG_BONDS) - 1)]
    if has_ogb_atoms(dataset) and graphs.edge_attr is not None:
        return np.array(OGB_BONDS)[graphs.edge_attr[:, 0].astype(int).clip(0, len(OGB_BONDS) - 1)]
    return np.ones(graphs.num_edges)


def has_ogb_atoms(dataset: Dataset) -> bool:
    """Whether features of nodes are OGB's of atoms, and those of edges, if any, of bonds."""
    return dataset.categories == ATOM_CATEGORIES and dataset.graphs.x is not None
