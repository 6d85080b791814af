"""Models that tell in- from out-neighbours: the same by colours, by nodes and by dense matrices."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from wlhn.batching.collator import Collator, run_model
from wlhn.batching.colour_batch import node_batch
from wlhn.data.dataset import Dataset
from wlhn.data.vocabulary import Vocabulary
from wlhn.errors import InputError
from wlhn.files import write_json
from wlhn.graphs import Graphs
from wlhn.hierarchy import refine
from wlhn.models.registry import build_model, model_class
from wlhn.options.training import InputOptions
from wlhn.runs.run_folder import read_vocabulary
from wlhn.training.settings import Settings


def directed_set(edge_label: bool = False) -> Dataset:
    """Two random directed graphs, with few labels, so that colours are shared."""
    rng = np.random.default_rng(3)
    source = np.concatenate([rng.integers(0, 12, 20), 12 + rng.integers(0, 8, 9)])
    target = np.concatenate([rng.integers(0, 12, 20), 12 + rng.integers(0, 8, 9)])
    graphs = Graphs.from_edges(
        np.stack([source, target]),
        node_ptr=[0, 12, 20],
        node_label=rng.integers(0, 2, 20),
        edge_label=rng.integers(0, 2, 29) if edge_label else None,
    )
    return Dataset("directed", graphs, np.array([0, 1]), "graph", "classification", inputs=("label",))


def built(name: str, vocabulary: Vocabulary) -> torch.nn.Module:
    torch.manual_seed(0)
    options = model_class(name).Options(hidden_channels=8, num_layers=2)
    return build_model(name, options, vocabulary.in_channels, 2, "node", vocabulary.edge_channels).eval()


@pytest.mark.parametrize("labelled", [False, True])
def test_colours_and_nodes_agree(labelled: bool) -> None:
    dataset = directed_set(labelled)
    vocabulary = Vocabulary.fit(dataset, InputOptions(edge_features=labelled, directed=True))
    encoded, model = vocabulary.encode(dataset.graphs), built("wlhn", vocabulary)
    index = np.arange(2)
    by_colours, by_nodes = (Collator(encoded, each, depth=2, level="node").batch(index) for each in (True, False))
    assert by_colours.num_rows[-1] <= dataset.graphs.num_nodes
    torch.testing.assert_close(run_model(model, by_colours), run_model(model, by_nodes), rtol=1e-4, atol=1e-5)


def test_messages_are_those_of_dense_matrices() -> None:
    """Σ over in-neighbours of relu(h + a), and over out-neighbours of relu(h + b)."""
    dataset = directed_set()
    vocabulary = Vocabulary.fit(dataset, InputOptions(directed=True))
    encoded, model = vocabulary.encode(dataset.graphs), built("wlhn", vocabulary)
    graphs = encoded.graphs
    inputs = torch.from_numpy(encoded.x), torch.from_numpy(graphs.edge_index.astype(np.int64))
    batch = node_batch(*inputs, None, torch.from_numpy(graphs.edge_attr), 2)
    (_, h0), (_, h1), _ = model.levels(batch)
    adjacency = torch.zeros(20, 20)  # [to, from]
    source, target = dataset.graphs.edge_index
    np.add.at(adjacency.numpy(), (target, source), 1)
    a, b = model.layers[0].edge_encoder.embedding.weight
    total = h0 + adjacency @ torch.relu(h0 + a) + adjacency.mT @ torch.relu(h0 + b)
    torch.testing.assert_close(h1, model.layers[0].of_sums(total), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["wlhn", "gin", "gat"])
def test_turning_all_edges_round_is_swapping_the_two_kinds(name: str) -> None:
    dataset = directed_set()
    source, target = dataset.graphs.edge_index
    turned = Graphs.from_edges(np.stack([target, source]), node_ptr=[0, 12, 20], node_label=dataset.graphs.node_label)
    vocabulary = Vocabulary.fit(dataset, InputOptions(directed=True))
    model = built(name, vocabulary)

    def outputs(graphs: Graphs) -> torch.Tensor:
        return run_model(model, Collator(vocabulary.encode(graphs), False, level="node").batch(np.arange(2)))

    with torch.no_grad():
        before, other = outputs(dataset.graphs), outputs(turned)
        for module in model.modules():
            if isinstance(module, torch.nn.Embedding):
                module.weight.copy_(module.weight.flip(0))
        torch.testing.assert_close(outputs(turned), before, rtol=0, atol=1e-5)
    assert (before - other).abs().max() > 1e-4  # ten times what the comparison above lets pass


def test_models_and_refinement_tell_the_same_nodes_apart() -> None:
    dataset = directed_set()
    encoded = Vocabulary.fit(dataset, InputOptions(directed=True)).encode(dataset.graphs)
    ours = refine(encoded.graphs, 2, encoded.x, True)
    theirs = refine(dataset.graphs, 2, dataset.graphs.node_label, directed=True)
    pairs = {(a, b) for a, b in zip(ours.colours[-1].tolist(), theirs.colours[-1].tolist(), strict=True)}
    assert len(pairs) == ours.num_colours[-1] == theirs.num_colours[-1]


def test_what_has_no_use_is_refused() -> None:
    dataset = directed_set()
    source, target = dataset.graphs.edge_index
    both = Graphs.from_edges(np.stack([np.r_[source, target], np.r_[target, source]]), node_label=np.zeros(20, int))
    with pytest.raises(InputError, match="every edge stands there in both directions; leave `directed` out"):
        Vocabulary.fit(replace(dataset, graphs=both, y=np.zeros(1, int)), InputOptions(directed=True))
    with pytest.raises(InputError, match="GCN does not use features of edges; leave edge_features and directed out"):
        built("gcn", Vocabulary.fit(dataset, InputOptions(directed=True)))


@pytest.mark.parametrize("labelled", [False, True])
def test_a_run_remembers_it(labelled: bool, tmp_path: Path) -> None:
    settings = Settings.of("wlhn", directed=True, edge_features=labelled)
    vocabulary = Vocabulary.fit(directed_set(labelled), InputOptions(edge_features=labelled, directed=True))
    write_json(tmp_path / "vocabulary.json", vocabulary.to_json())
    assert read_vocabulary(tmp_path / "vocabulary.json", settings) == vocabulary
    with pytest.raises(InputError, match="directed"):
        read_vocabulary(tmp_path / "vocabulary.json", settings.but({"directed": False}))
