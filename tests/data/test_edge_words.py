"""Words for the rows that a model sees of edges say what the source says of these edges."""

from pathlib import Path

import numpy as np
import pytest

from wlhn.data import load
from wlhn.data.dataset import Dataset
from wlhn.data.edge_words import edges_in_words
from wlhn.data.vocabulary import Vocabulary
from wlhn.options.training import InputOptions

EDGES = ("a,b,knows,0.5,3", "b,c,likes,,3", "c,a,likes,1.5,4.5", "c,d,knows,2,3")


@pytest.fixture
def club(tmp_path: Path) -> Dataset:
    (tmp_path / "nodes.csv").write_text("id,side\na,x\nb,y\nc,x\nd,y\n")
    (tmp_path / "edges.csv").write_text("\n".join(["source,target,kind,weight,since", *EDGES]) + "\n")
    return load(tmp_path, directed=True)


def as_written(line: str) -> str:
    """A line of the file in words."""
    _, _, kind, weight, since = line.split(",")
    return f" by {kind} weight {weight or 'missing'} since {since}"


@pytest.mark.parametrize("standardise", [False, True])
def test_labels_numbers_gaps_and_directions(club: Dataset, standardise: bool) -> None:
    seen = Vocabulary.fit(club, InputOptions(edge_features=True, directed=True, standardise=standardise))
    graphs = seen.encode(club.graphs).graphs
    assert graphs.edge_attr is not None
    words = edges_in_words(club, seen, graphs.edge_attr)
    names = np.array(["a", "b", "c", "d"])
    found = {(str(names[u]), str(names[v]), *pair) for (u, v), pair in zip(graphs.edge_index.T, words, strict=True)}
    expected = set()
    for line in EDGES:
        u, v = line.split(",")[:2]
        expected |= {(u, v, "← ", as_written(line)), (v, u, "→ ", as_written(line))}
    assert found == expected


def test_directions_alone(club: Dataset) -> None:
    seen = Vocabulary.fit(club, InputOptions(directed=True))
    assert edges_in_words(club, seen, np.array([[0], [1]])) == [("← ", ""), ("→ ", "")]


def test_categories_beside_numbers_and_numbers_without_names(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,side\na,x\nb,y\n")
    (tmp_path / "edges.csv").write_text("source,target,kind,tone,weight\na,b,knows,warm,0.5\nb,a,likes,cold,2\n")
    club = load(tmp_path, directed=True)
    seen = Vocabulary.fit(club, InputOptions(edge_features=True))
    rows = seen.encode(club.graphs).graphs.edge_attr
    assert rows is not None
    words = {after for _, after in edges_in_words(club, seen, rows)}
    assert {frozenset(word.split()) for word in words} == {
        frozenset(["by", "knows", "warm", "weight", "0.5"]),
        frozenset(["by", "likes", "cold", "weight", "2"]),
    }


def test_bonds_of_molecules(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles,y\nCC=O,1\nC#N,0\nc1ccccc1,1\nC/C=C/C=C,1\n")
    molecules = load(tmp_path / "m.csv")
    seen = Vocabulary.fit(molecules, InputOptions(edge_features=True))
    rows = seen.encode(molecules.graphs).graphs.edge_attr
    assert rows is not None
    words = {after for _, after in edges_in_words(molecules, seen, rows)}
    assert words >= {" by single", " by double", " by triple", " by aromatic conjugated", " by single conjugated"}
    assert any("E" in word.split() for word in words)
    assert edges_in_words(molecules, seen, np.array([[-1, 0, 0]])) == [("", " by unknown")]
