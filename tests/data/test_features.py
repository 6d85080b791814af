"""What a model sees: by label, attributes or degree, with the same columns for other graphs."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from wlhn.data import encoding, features, load
from wlhn.data.features import Encoding, encoding_for
from wlhn.data.memory import as_dataset
from wlhn.errors import InputError
from wlhn.options.training import InputOptions


def test_labels_one_hot() -> None:
    mutag = load("MUTAG")
    x = features(mutag)
    assert x.shape == (3371, 7)
    assert (x.sum(axis=1) == 1).all()
    assert np.array_equal(x.argmax(axis=1), mutag.graphs.node_label)


def test_degree_in_three_ways() -> None:
    atlas = load("atlas")
    degree = atlas.graphs.degree
    assert np.array_equal(features(atlas)[:, 0], degree)
    np.testing.assert_allclose(features(atlas, degree="log")[:, 0], np.log(1 + degree), rtol=1e-6)
    assert np.array_equal(features(atlas, degree="onehot"), np.eye(7)[degree])


def test_degrees_by_default_are_as_wide_as_is_affordable() -> None:
    def form(leaves: int) -> Encoding:
        return encoding_for(as_dataset([nx.star_graph(leaves), nx.star_graph(2)], [0, 1]), InputOptions())

    assert (form(511).degree, form(511).max_degree, form(512).degree) == ("onehot", 511, "log")
    one = as_dataset(nx.star_graph(3), [0, 1, 0, 1], level="node")
    assert encoding_for(one, InputOptions()).degree == "scalar"
    assert encoding_for(one, InputOptions(degree="log")).degree == "log"


def test_an_encoding_means_the_same_on_other_graphs() -> None:
    mutag = load("MUTAG")
    fixed = encoding(mutag)
    part = mutag.select([3, 4, 5])
    assert np.array_equal(
        fixed.encode(part.graphs), fixed.encode(mutag.graphs)[np.isin(mutag.graphs.graph_of_node, [3, 4, 5])]
    )
    capped = encoding(load("atlas"), degree="onehot", max_degree=2)
    assert capped.encode(load("atlas").graphs).shape[1] == 3
    with pytest.raises(InputError, match="no node input 'label'"):
        fixed.encode(load("atlas").graphs)
    with pytest.raises(InputError, match="expected scalar, onehot or log"):
        features(load("atlas"), degree="cube")  # type: ignore[arg-type]


@pytest.mark.dataset("ENZYMES", "PROTEINS")
def test_the_papers_inputs(data_root: Path) -> None:
    enzymes, proteins = (load(name, data_root=data_root) for name in ("ENZYMES", "PROTEINS"))
    assert np.array_equal(features(enzymes), enzymes.graphs.x)
    assert features(enzymes, inputs=("label", "x")).shape[1] == 3 + 18
    assert features(proteins).shape[1] == 3
    assert features(proteins, inputs=("label", "x")).shape[1] == 4
