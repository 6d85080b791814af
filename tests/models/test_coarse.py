"""A linear machine that counts colours of a coarser tree as well: what scikit-learn says of both trees side by side."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.svm import LinearSVC

from wlhn import WLFeatures, refine
from wlhn.batching.collator import Collator
from wlhn.data import load
from wlhn.data.dataset import Dataset
from wlhn.data.vocabulary import Vocabulary
from wlhn.graphs import Graphs
from wlhn.models.machines.wl_linear import WLLinear
from wlhn.options.training import InputOptions
from wlhn.runs.run_folder import load_run
from wlhn.runs.train import train
from wlhn.training.settings import Settings

MUTAG = load("MUTAG")
TRAIN, NEW = np.arange(0, 188, 2), np.arange(1, 188, 2)
RANDOM = np.random.default_rng(0).integers(0, 3, MUTAG.graphs.num_nodes)
KINDS = ["several", "one", "numbers"]
UNKNOWN = 99


def dataset(kind: str) -> Dataset:
    """MUTAG with several categories of nodes (some unknown in new graphs), with one, or with its labels as 0/1
    numbers."""
    if kind == "numbers":
        return MUTAG
    label = MUTAG.graphs.node_label
    x = label[:, None] if kind == "one" else np.stack([label, MUTAG.graphs.degree, RANDOM], axis=1)
    if kind == "several":
        x[(np.arange(len(x)) % 5 < 2) & np.isin(MUTAG.graphs.graph_of_node, NEW), 1:] = UNKNOWN
    return replace(MUTAG, graphs=replace(MUTAG.graphs, x=x, node_label=None), inputs=("x",))


def coarser(graphs: Graphs, kind: str) -> Graphs:
    """What the coarser tree starts from, as labels."""
    label = graphs.x[:, 0] if kind == "several" else np.zeros(graphs.num_nodes, int)
    return replace(graphs, x=None, node_label=label)


def fitted(kind: str, edges: bool = False, **options: Any) -> tuple[WLLinear, Vocabulary]:
    data = dataset(kind).select(TRAIN)
    vocabulary = Vocabulary.fit(data, InputOptions(edge_features=edges))
    model = WLLinear(
        vocabulary.in_channels, 2, edge_channels=vocabulary.edge_channels, rounds=2, svm_penalty=10.0, **options
    )
    batch = Collator(vocabulary.encode(data.graphs), on_colours=True, depth=3).batch(np.arange(len(TRAIN)))
    model.fit_on_colours(batch, y=torch.from_numpy(data.y), task="classification")
    return model, vocabulary


def answers(model: WLLinear, vocabulary: Vocabulary, graphs: Graphs, on_colours: bool) -> torch.Tensor:
    batch = Collator(vocabulary.encode(graphs), on_colours, depth=3).batch(np.arange(len(graphs)))
    return model.run_on_colours(batch) if on_colours else model(batch.x, batch.edge_index, batch.batch, batch.edge_attr)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_linearsvc_on_the_features_of_both_trees(kind: str, edges: bool) -> None:
    known, new = (dataset(kind).graphs.select(part) for part in (TRAIN, NEW))
    given: dict[str, Any] = {"edge_labels": edges, "code": "thermometer", "min_graphs": 2, "normalise": True}
    fine = WLFeatures(depth=2, start="label" if kind == "numbers" else "features", **given)
    coarse = WLFeatures(depth=2, start="label", **given)
    fine.fit(known), coarse.fit(coarser(known, kind))
    rows, new_rows = (
        sparse.hstack([fine.transform(each), coarse.transform(coarser(each, kind))], format="csr") / np.sqrt(2)
        for each in (known, new)
    )
    machine = LinearSVC(C=10.0, random_state=0, max_iter=10_000).fit(rows, MUTAG.y[TRAIN])
    model, vocabulary = fitted(kind, edges, coarse=True)
    said = answers(model, vocabulary, new, on_colours=True).numpy()
    assert model.coefficient.shape == machine.coef_.shape
    np.testing.assert_allclose(said[:, 1] - said[:, 0], machine.decision_function(new_rows), atol=2e-2)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_colours_nodes_and_nodes_in_another_order_say_the_same(kind: str, edges: bool) -> None:
    model, vocabulary = fitted(kind, edges, coarse=True)
    new = dataset(kind).graphs.select(NEW)
    order = np.random.default_rng(2).permutation(new.num_nodes)
    other = new.permute(order[np.argsort(new.graph_of_node[order], kind="stable")])
    said = answers(model, vocabulary, new, on_colours=True)
    assert torch.equal(answers(model, vocabulary, new, on_colours=False), said)
    assert torch.equal(answers(model, vocabulary, other, on_colours=False), said)


@pytest.mark.parametrize("channels", [(7, 3), 2], ids=["categories", "numbers"])
def test_what_is_hidden_is_neither_unknown_nor_zero(channels: int | tuple[int, ...]) -> None:
    """Where that is all there is, nodes and copies have trees of the same shape, and no colour in common."""
    graphs, numeric = MUTAG.graphs, isinstance(channels, int)
    label = torch.from_numpy(graphs.node_label)
    x = torch.zeros(len(label), 2) if numeric else torch.stack([label, torch.full_like(label, -1)], dim=1)
    edges, batch = torch.from_numpy(graphs.edge_index).long(), torch.from_numpy(graphs.graph_of_node)
    model = WLLinear(channels, 2, rounds=2, min_graphs=1, coarse=True)
    model.fit(x, edges, batch, None, y=torch.from_numpy(MUTAG.y), task="classification")
    each = refine(graphs, 2, "uniform" if numeric else "label")
    assert model.fitted_tree.num_colours == [2 * n for n in each.num_colours]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_folder_answers_alike(kind: str, tmp_path: Path) -> None:
    data = dataset(kind)
    trained = train(data, Settings.of("wl-linear", rounds=2, coarse=True), tmp_path / "run").trained
    again = load_run(tmp_path / "run")
    for before, after in zip(trained.predict(data.graphs), again.predict(data.graphs), strict=True):
        assert np.array_equal(before.outputs, after.outputs)
