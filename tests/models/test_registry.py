"""Every registered model keeps the promises of the registry: shapes, invariance, gradients, edges."""

import inspect

import numpy as np
import pytest
import torch
from baseline_graphs import LEARNED, SEES_EDGES
from tiny import tiny

from wlhn.batching.collator import Collator, run_model
from wlhn.data.vocabulary import Vocabulary
from wlhn.errors import InputError
from wlhn.models.registry import COMMON, MODELS, build_model, check_options
from wlhn.models.settings import ModelSettings
from wlhn.nn.network import Common
from wlhn.training.loss import loss

ALL = pytest.mark.parametrize("name", [name for name, level in LEARNED if level == "graph"])
LEVELS = pytest.mark.parametrize(("name", "level"), LEARNED)
x = torch.rand(7, 5, generator=torch.Generator().manual_seed(0))
edge_index = torch.tensor([[0, 1, 1, 2, 3, 4, 5, 6], [1, 0, 2, 1, 4, 3, 6, 5]])
batch = torch.tensor([0, 0, 0, 1, 1, 1, 1])


def model_of(name: str, **given: object) -> torch.nn.Module:
    torch.manual_seed(0)
    level = given.pop("level", "graph")
    channels = given.pop("edge_channels", 0)
    settings = ModelSettings(model=name, hidden_channels=16, num_layers=2, **given)
    return build_model(settings, 5, 3, level, channels).eval()


@LEVELS
@pytest.mark.parametrize("head", ["euclidean", "hyperbolic"])
def test_shapes_and_gradients(name: str, level: str, head: str) -> None:
    rows = {"graph": 2, "node": 7}[level]
    model = model_of(name, level=level, head=head).train()
    outputs = model(x, edge_index, batch)
    assert outputs.shape == (rows, 3)
    loss("classification", outputs, torch.arange(rows) % 3).backward()
    missing = [key for key, value in model.named_parameters() if value.grad is None or not value.grad.isfinite().all()]
    assert not missing


@ALL
def test_the_order_of_nodes_does_not_matter(name: str) -> None:
    model, order = model_of(name), torch.tensor([2, 0, 1, 6, 3, 5, 4])
    rank = torch.argsort(order)
    again = model(x[order], rank[edge_index], batch[order])
    torch.testing.assert_close(again, model(x, edge_index, batch), rtol=1e-4, atol=1e-5)


@ALL
def test_graphs_of_a_batch_do_not_see_each_other(name: str) -> None:
    model = model_of(name)
    alone = model(x[:3], edge_index[:, :4])
    torch.testing.assert_close(model(x, edge_index, batch)[:1], alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SEES_EDGES)
def test_edge_features_matter(name: str) -> None:
    model = model_of(name, edge_features=True, edge_channels=(3,))
    outputs = [model(x, edge_index, batch, torch.full((8, 1), k)) for k in (0, 1)]
    assert not torch.allclose(*outputs)


@LEVELS
def test_a_feed_gives_what_forward_gives(name: str, level: str) -> None:
    data = tiny(6)
    encoded = Vocabulary.fit(data).encode(data.graphs)
    model = build_model(ModelSettings(model=name, hidden_channels=8, num_layers=2), 3, 2, level).eval()
    index = np.array([4, 1, 2])
    part = data.graphs.select(index)
    rows = Vocabulary.fit(data).encode(part).x
    nodes = torch.from_numpy(rows), torch.from_numpy(part.edge_index.astype(np.int64))
    wanted = model(*nodes, torch.from_numpy(part.graph_of_node))
    fed = run(model, Feed(encoded, MODELS[name].eats, 2, level).batch(index))
    torch.testing.assert_close(fed, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_options_are_fields_and_arguments(name: str) -> None:
    taken = inspect.signature(type(model_of(name, level=MODELS[name].levels[0]))).parameters
    for option in MODELS[name].options:
        assert option in ModelSettings.__dataclass_fields__
        assert taken[option].default == ModelSettings.__dataclass_fields__[option].default
    for shared in ("level", "head", "dropout", "edge_channels"):
        assert shared in Common.__annotations__
        assert "common" in taken or taken[shared].kind is inspect.Parameter.KEYWORD_ONLY


def test_every_option_belongs_to_some_model() -> None:
    named = {option for entry in MODELS.values() for option in entry.options}
    assert named == set(ModelSettings.__dataclass_fields__) - set(COMMON)


def test_unknown_models_and_options_are_refused() -> None:
    with pytest.raises(InputError, match="model: expected wlhn or gin or"):
        build_model(ModelSettings(model="gnn"), 5, 3)
    with pytest.raises(InputError, match="readout: gin takes no such option"):
        check_options(ModelSettings(model="gin", readout="all"))
    for bad in ({"num_layers": 0}, {"tau": float("nan")}, {"head": "flat"}):
        with pytest.raises(InputError, match="expected"):
            ModelSettings(**bad)
