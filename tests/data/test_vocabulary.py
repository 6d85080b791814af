"""What was not there in training becomes nothing, and is counted; a loss leaves out what is unknown."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from baseline_graphs import SEES_EDGES

from wlhn.batching.collator import Collator, run_model
from wlhn.data import Dataset, as_dataset
from wlhn.data.memory import graphs_in_memory
from wlhn.data.vocabulary import Columns, Vocabulary
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.models.registry import build_model
from wlhn.options.training import InputOptions
from wlhn.runs.run_folder import read_vocabulary
from wlhn.training.loss import loss
from wlhn.training.settings import Settings

EDGES = [[0, 1, 1, 2], [1, 0, 2, 1]]


def path(**given: object) -> Dataset:
    return as_dataset(Graphs.from_edges(EDGES, **given))


def test_a_model_sees_labels_and_numbers_of_edges_beside_each_other() -> None:
    options = InputOptions(edge_features=True, standardise=False)
    given = path(edge_label=[0, 0, 4, 4], edge_attr=np.array([[0.5], [0.5], [1.5], [np.nan]]))
    fitted = Vocabulary.fit(given, options)
    seen = fitted.encode(given.graphs).graphs.edge_attr
    assert seen is not None
    np.testing.assert_allclose(np.unique(seen[:, :3], axis=0), [[0, 1, 0.8333333], [0, 1, 1.5], [1, 0, 0.5]], rtol=1e-6)
    new = fitted.encode(path(edge_label=[4, 4, 7, 7], edge_attr=np.full((4, 1), 2.0)).graphs)
    assert new.unseen_edges == 2
    assert kept(fitted) == fitted
    with pytest.raises(InputError, match="graphs have no edge labels; those that the model was trained on had them"):
        fitted.encode(path(edge_attr=np.full((4, 1), 2.0)).graphs)
    categories = Vocabulary.fit(path(edge_label=[0, 0, 4, 4], edge_attr=np.array([[1], [1], [2], [2]])), options)
    assert categories.edge_channels == (2, 2)


@pytest.mark.parametrize("beside", [(), ("label",)])
def test_unseen_categories_of_several_columns_are_counted(beside: tuple[str, ...]) -> None:
    def graph(first: str, second: str) -> nx.Graph:
        made = nx.path_graph(len(first))
        values = {"kind": dict(enumerate(first)), "ring": dict(enumerate(second)), "mass": dict.fromkeys(made, 1.5)}
        for name, each in values.items():
            nx.set_node_attributes(made, each, name)
            nx.set_edge_attributes(made, {(u, v): each[u] for u, v in made.edges}, name)
        for name in beside:
            nx.set_node_attributes(made, "C", name)
        return made

    known = as_dataset([graph("abc", "xyx")])
    fitted = Vocabulary.fit(known, InputOptions(edge_features=True, inputs="both" if beside else "given"))
    new, _ = graphs_in_memory([graph("abd", "xzw"), graph("ab", "yx")], known.columns)
    encoded = fitted.encode(new)
    assert (encoded.unseen_nodes, encoded.unseen_edges) == (2, 2)
    assert kept(fitted) == fitted


def test_unseen_labels_categories_and_edges_are_counted() -> None:
    fitted = Vocabulary.fit(path(node_label=[1, 5, 5], edge_label=[0, 0, 4, 4]), InputOptions(edge_features=True))
    new = fitted.encode(path(node_label=[5, 3, 9], edge_label=[4, 4, 2, 2]).graphs)
    assert new.x.tolist() == [[0, 1], [0, 0], [0, 0]]
    assert (new.unseen_nodes, new.unseen_edges) == (2, 2)
    assert new.graphs.edge_attr is not None
    assert sorted(new.graphs.edge_attr[:, 0].tolist()) == [-1, -1, 1, 1]
    categories = Vocabulary.fit(path(x=np.array([[3, 0], [3, 1], [8, 1]])))
    assert categories.in_channels == (2, 2)
    beside = Vocabulary.fit(path(node_label=[1, 5, 6], x=np.array([[3, 0], [3, 1], [8, 1]])))
    assert beside.in_channels == (3, 2, 2)  # a label beside categories makes no numbers of them
    assert beside.encode(path(node_label=[9, 5, 6], x=np.array([[3, 0], [3, 1], [8, 1]])).graphs).unseen_nodes == 1
    assert kept(beside) == beside
    again = categories.encode(path(x=np.array([[8, 0], [4, 0], [3, -2]])).graphs)
    assert again.x.tolist() == [[1, 0], [-1, 0], [0, -1]]
    assert again.unseen_nodes == 2
    top = Vocabulary.fit(path(), InputOptions(degree="onehot"))
    assert top.encode(Graphs.from_edges([[0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2]])).unseen_nodes == 1


@pytest.mark.parametrize("name", SEES_EDGES)
def test_models_take_unknown_categories_of_nodes_and_edges(name: str) -> None:
    data = path(x=np.array([[3, 0], [3, 1], [8, 1]]), edge_attr=np.array([[0], [0], [4], [4]]))
    fitted = Vocabulary.fit(data, InputOptions(edge_features=True))
    options = Settings.of(name, hidden_channels=8, num_layers=2).options
    model = build_model(name, options, fitted.in_channels, 2, "graph", fitted.edge_channels).eval()
    unknown = replace(data.graphs, x=np.full((3, 2), 77), edge_attr=np.full((4, 1), 77))
    outputs = run_model(
        model, Collator(fitted.encode(unknown), hasattr(model, "run_on_colours"), 2).batch(np.array([0]))
    )
    assert outputs.isfinite().all()


def test_other_columns_than_in_training_are_refused() -> None:
    fitted = Vocabulary.fit(path(x=np.zeros((3, 2), np.float32)))
    with pytest.raises(InputError, match="expected 2 columns"):
        fitted.encode(path(x=np.zeros((3, 4), np.float32)).graphs)
    with pytest.raises(InputError, match="no node input 'x'"):
        fitted.encode(path().graphs)
    with pytest.raises(InputError, match="neither labels nor features"):
        Vocabulary.fit(path(), InputOptions(edge_features=True))


def test_unknown_targets_do_not_count() -> None:
    outputs = torch.randn(4, 3, requires_grad=True)
    y = torch.tensor([[1.0, 0.0, torch.nan], [torch.nan] * 3, [0.0, torch.nan, 1.0], [1.0, 1.0, 0.0]])
    known = ~torch.isnan(y)
    for task, each in (("binary", torch.nn.BCEWithLogitsLoss()), ("regression", torch.nn.MSELoss())):
        value = loss(task, outputs, y)
        torch.testing.assert_close(value, each(outputs[known], y[known]))
        (grad,) = torch.autograd.grad(value, outputs)
        assert grad.isfinite().all()
        assert (grad[~known] == 0).all()


def read(document: dict[str, Any], **settings: Any) -> Vocabulary:
    """A vocabulary as the folder of a run with these settings gives it back."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "vocabulary.json").write_text(json.dumps(document))
        return read_vocabulary(path, Settings.of(**settings))


def kept(vocabulary: Vocabulary, **settings: Any) -> Vocabulary:
    return read(vocabulary.to_json(), edge_features=vocabulary.edges is not None, **settings)


def test_numbers_are_standardised_over_the_training_nodes_but_flags_stay() -> None:
    x = np.array([[1000.0, 0.0, 5.0], [3000.0, 1.0, 5.0], [2000.0, 0.0, 5.0]], np.float32)
    fitted = Vocabulary.fit(path(x=x), InputOptions(standardise=True))
    seen = fitted.encode(path(x=x).graphs).x
    np.testing.assert_allclose(seen[:, 0].mean(), 0, atol=1e-6)
    np.testing.assert_allclose(seen[:, 0].std(), 1, rtol=1e-6)
    assert seen[:, 1:].tolist() == x[:, 1:].tolist()
    assert kept(fitted) == fitted


def test_missing_numbers_are_the_training_mean_with_an_indicator() -> None:
    """Against the same by hand; a gap where training had none is filled and counted."""
    x = np.array([[1.0, 5.0, np.nan], [3.0, 7.0, 4.0], [np.nan, 9.0, 6.0]], np.float32)
    for standardise in (False, True):
        fitted = Vocabulary.fit(path(x=x), InputOptions(standardise=standardise))
        by_hand = np.array([[1, 5, 5, 0, 1], [3, 7, 4, 0, 0], [2, 9, 6, 1, 0]], np.float32)
        again = Vocabulary.fit(path(x=by_hand), InputOptions(standardise=standardise))
        np.testing.assert_allclose(fitted.encode(path(x=x).graphs).x, again.encode(path(x=by_hand).graphs).x)
        assert fitted.in_channels == 5
        assert kept(fitted) == fitted
    new = fitted.encode(path(x=np.array([[1.0, np.nan, 4.0]] * 3, np.float32)).graphs)
    assert np.isfinite(new.x).all()
    assert new.unseen_nodes == 3


def test_missing_numbers_of_edges_are_filled_too() -> None:
    attr = np.array([[1.0], [1.0], [np.nan], [np.nan]], np.float32)
    fitted = Vocabulary.fit(path(edge_attr=attr), InputOptions(edge_features=True))
    seen = fitted.encode(path(edge_attr=attr).graphs).graphs.edge_attr
    assert seen is not None
    assert sorted(seen.tolist()) == [[1, 0], [1, 0], [1, 1], [1, 1]]
    assert fitted.edge_channels == 2
    assert kept(fitted) == fitted


def test_complete_data_and_vocabularies_of_before_stay_what_they_were() -> None:
    x = np.array([[1.0, 5.0], [3.0, 7.0], [2.0, 9.0]], np.float32)
    fitted = Vocabulary.fit(path(x=x), InputOptions(standardise=False))
    assert fitted.encode(path(x=x).graphs).x.tolist() == x.tolist()
    document = fitted.to_json()
    del document["nodes"]["filling"], document["edge_filling"]
    before = read(document)
    assert before.encode(path(x=x).graphs).x.tolist() == x.tolist()
    with pytest.raises(InputError, match="row 0, column 1: a number is missing"):
        before.encode(path(x=np.array([[1.0, np.nan]] * 3, np.float32)).graphs)


@pytest.mark.parametrize("binning", ["none", "quantiles", "k-means"])
@pytest.mark.parametrize("gap", [2.0, np.nan])
def test_whole_numbers_are_numbers_where_training_had_fractions(binning: Any, gap: float) -> None:
    x = np.array([[0.5, 5.0], [3.0, gap], [2.5, 9.0]], np.float32)
    fitted = Vocabulary.fit(path(x=x), InputOptions(binning=binning, bins=2))
    whole = np.array([[1, 5], [3, 6], [2, 9]])
    expected = fitted.encode(path(x=whole.astype(np.float32)).graphs).x
    assert fitted.encode(Graphs.from_edges(EDGES, x=whole)).x.tolist() == expected.tolist()
    with pytest.raises(InputError, match="expected 2 columns as in training"):
        fitted.encode(Graphs.from_edges(EDGES, x=np.ones((3, 3), np.int64)))


def test_means_are_those_of_the_training_graphs_alone() -> None:
    two = Graphs.from_edges([[0, 1, 2, 3], [1, 0, 3, 2]], node_ptr=[0, 2, 4], x=[[1.0], [np.nan], [100.0], [100.0]])
    fitted = Vocabulary.fit(as_dataset(two).select([0]))
    assert fitted.encode(two).x.tolist() == [[1, 0], [1, 1], [100, 0], [100, 0]]


@pytest.mark.parametrize("binning", ["quantiles", "k-means"])
def test_numbers_in_bins_are_columns_of_0_and_1_that_similar_nodes_share(binning: Any) -> None:
    x = np.array([[0.0, 7.0], [0.1, 7.1], [5.0, 9.0]], np.float32)
    fitted = Vocabulary.fit(path(x=x), InputOptions(binning=binning, bins=2))
    seen = fitted.encode(path(x=x).graphs).x
    assert set(np.unique(seen)) == {0, 1}
    assert fitted.in_channels == seen.shape[1] == (4 if binning == "quantiles" else 2)
    assert seen[0].tolist() == seen[1].tolist() != seen[2].tolist()
    assert kept(fitted, binning=binning) == fitted
    with pytest.raises(InputError, match="with bins if, and only if"):
        kept(fitted)
    far = fitted.encode(path(x=np.array([[-9.0, -99.0], [9.0, 99.0], [np.nan, np.nan]], np.float32)).graphs)
    assert far.x[:2].tolist() == seen[[0, 2]].tolist()  # what lies beyond belongs to the last bin
    assert far.unseen_nodes == 1


def test_bins_are_those_of_the_training_graphs_alone() -> None:
    x = [[0.0], [1.0], [100.0], [101.0]]
    two = Graphs.from_edges([[0, 1, 2, 3], [1, 0, 3, 2]], node_ptr=[0, 2, 4], x=x)
    fitted = Vocabulary.fit(as_dataset(two).select([0]), InputOptions(binning="quantiles", bins=2))
    assert fitted.encode(two).x.tolist() == [[1, 0], [0, 1], [0, 1], [0, 1]]


def test_what_a_model_sees_of_nodes_can_be_chosen() -> None:
    data = path(x=np.array([[0.5], [0.25], [0.75]], np.float32), node_label=[1, 5, 5])
    widths = {"given": 3, "labels": 2, "features": 1, "both": 3, "degree": 3}
    for inputs, width in widths.items():
        options = InputOptions.from_json({"inputs": inputs, "standardise": False})
        assert Vocabulary.fit(data, options).in_channels == width
    with pytest.raises(InputError, match="no input 'label' that `inputs` asks for; they have x"):
        Vocabulary.fit(path(x=np.zeros((3, 2), np.float32)), InputOptions(inputs="labels"))
    for nothing, seen in ((path(), "given"), (data, "labels"), (path(x=np.zeros((3, 0), np.float32)), "given")):
        with pytest.raises(InputError, match="sees no numbers to put into bins; leave `binning` out"):
            Vocabulary.fit(nothing, InputOptions.from_json({"inputs": seen, "binning": "k-means"}))


def test_labels_beside_whole_numbers_as_earlier_versions_had_them_are_refused_with_what_to_do() -> None:
    data = replace(path(node_label=[0, 1, 1], x=np.array([[3], [5], [3]])), inputs=("label", "x"))
    now = Vocabulary.fit(data)
    assert now.encode(data.graphs).x.tolist() == [[0, 0], [1, 1], [1, 0]]
    earlier = replace(now, columns=Columns(3, None))
    with pytest.raises(InputError, match=r"of an earlier version.* they are categories now, so train it again"):
        earlier.encode(data.graphs)


def test_whole_numbers_on_a_later_day_are_numbers_if_they_were_in_training_labels_or_not() -> None:
    data = replace(path(node_label=[0, 1, 1], x=np.array([[3.0], [5.5], [3.0]])), inputs=("label", "x"))
    later = path(node_label=[0, 1, 1], x=np.array([[3], [5], [3]])).graphs
    fitted = Vocabulary.fit(data, InputOptions(standardise=False))
    assert fitted.encode(later).x.tolist() == [[1, 0, 3], [0, 1, 5], [0, 1, 3]]
