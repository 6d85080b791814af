"""Dropout on input features: the same law for rows of numbers, rows without their zeros, and categories."""

import pytest
import torch

from wlhn.models.registry import build_model, model_class
from wlhn.nn.encoders import WIDE, CategoryEncoder, PassingZeros, input_encoder, nonzero_entries

SHARE = 0.25


def bag_of_words(rows: int = 300, share: float = 0.05) -> torch.Tensor:
    random = torch.Generator().manual_seed(0)
    return (torch.rand(rows, WIDE, generator=random) < share).float()


@pytest.mark.parametrize("share", [0.05, 0.9])
def test_dropout_takes_a_share_of_the_features_and_makes_the_others_larger(share: float) -> None:
    torch.manual_seed(1)
    layer, x = PassingZeros(WIDE, WIDE, SHARE), bag_of_words(share=share)
    torch.nn.init.eye_(layer.weight)  # so that outputs are the features that are left
    torch.nn.init.zeros_(layer.bias)
    assert (nonzero_entries(x) is None) == (share > 0.5)
    left = layer(x)
    assert set(left.unique().tolist()) == {0.0, torch.tensor(1 / (1 - SHARE)).item()}
    assert not left[x == 0].any()
    assert (left[x == 1] == 0).float().mean().item() == pytest.approx(SHARE, abs=0.03)
    assert not torch.equal(left, layer(x)), "every pass draws anew"
    torch.testing.assert_close(layer.eval()(x), x)


def test_gradients_know_which_features_were_left() -> None:
    torch.manual_seed(1)
    layer, x = PassingZeros(WIDE, 1, SHARE), bag_of_words()
    torch.nn.init.ones_(layer.weight)
    outputs = layer(x)
    outputs.sum().backward()
    torch.testing.assert_close(layer.weight.grad.sum(), (outputs - layer.bias).sum())


def test_categories_are_dropped_as_their_one_hot_rows_would_be() -> None:
    torch.manual_seed(1)
    layer = CategoryEncoder((2, 3), 4, SHARE)
    x = torch.tensor([[1, 2]]).expand(2000, 2)
    first, second = layer.embedding.weight[1], layer.embedding.weight[4]
    outcomes = torch.stack([i * first + j * second for i in (0, 1) for j in (0, 1)]) / (1 - SHARE)
    outputs = layer(x)
    which = torch.cdist(outputs, outcomes).argmin(1)
    torch.testing.assert_close(outputs, outcomes[which])
    counts = torch.bincount(which, minlength=4) / 2000
    torch.testing.assert_close(counts, torch.tensor([1, 3, 3, 9]) / 16, atol=0.03, rtol=0)
    torch.testing.assert_close(layer.eval()(x)[0], first + second)


@pytest.mark.parametrize("channels", [5, (2, 3)])
def test_without_dropout_nothing_is_drawn(channels: int | tuple[int, ...]) -> None:
    before = torch.get_rng_state()
    layer = input_encoder(channels, 4)
    torch.set_rng_state(before)
    layer(torch.ones(3, 5) if channels == 5 else torch.ones(3, 2, dtype=torch.int64))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", ["wlhn", "gin", "gcn", "mlp"])
def test_networks_have_it_on_their_inputs(name: str) -> None:
    options = model_class(name).Options(hidden_channels=4, num_layers=0, input_dropout=0.5)
    model = build_model(name, options, in_channels=6, out_channels=2, level="node")
    assert model.encoder.dropout.p == 0.5
