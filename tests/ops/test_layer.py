"""A whole layer as one operation is its two parts, one after the other: values, gradients, and in plain torch."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from wlhn.batching.colour_batch import ColourLevel, Counts
from wlhn.hyperbolic.lengths import edge_lengths
from wlhn.loops import parallel
from wlhn.ops.gin import Moments, Weights, gin
from wlhn.ops.layer import Below, Lengths, layer
from wlhn.ops.level import Points, next_level, norms, unit

ROWS, BEFORE, D = 40, 12, 5
RUNNING = Moments(torch.ones(4, dtype=torch.float64), torch.full((4,), 2.0, dtype=torch.float64), 0.0)


def colours(rows: int = ROWS, before: int = BEFORE) -> ColourLevel:
    random = np.random.default_rng(0)
    dense = random.integers(0, 3, (rows, before)) * (random.random((rows, before)) < 0.3)
    row, column = np.nonzero(dense)
    ptr, value = np.searchsorted(row, np.arange(rows + 1)), dense[row, column].astype(np.float32)
    parent = torch.arange(rows) * before // rows
    return ColourLevel(
        parent=parent,
        child_ptr=torch.searchsorted(parent, torch.arange(before + 1)),
        neighbours=Counts.from_rows(ptr, column.astype(np.int32), value, before),
        weight=torch.arange(1.0, rows + 1),
    )


def inputs(before: int = BEFORE) -> list[Tensor]:
    """x, ε, weights of a layer with 4 numbers between its Linears and D behind them, r, e, u and τ."""
    torch.manual_seed(0)
    shapes = [(before, D), (), (4, D), (4,), (4,), (4,), (D, 4), (D,), (before,), (before, D), (before, D), ()]
    given = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    given[8], given[11] = given[8].abs() + 1, given[11].abs() + 1
    return [tensor.requires_grad_() for tensor in given]


def log(norm: Tensor, tau: Tensor) -> Tensor:
    return edge_lengths(norm, tau, "log", 0.5)


def fused(
    here: ColourLevel, running: Moments | None, look_back: bool, lengths: Lengths | None, *given: Tensor
) -> list[Tensor]:
    x, epsilon, *weights, r, e, u, tau = given
    below = Below(Points(r, unit(e), unit(u)), tau, look_back, lengths)
    h, points, _ = layer(x, Weights(*weights), here, below, epsilon, running=running)
    return [h, *points[: 3 if look_back else 2]]


def one_by_one(
    here: ColourLevel, running: Moments | None, look_back: bool, lengths: Lengths | None, *given: Tensor
) -> list[Tensor]:
    x, epsilon, *weights, r, e, u, tau = given
    h, _ = gin(x, Weights(*weights), here, epsilon, running=running)
    tau = tau if lengths is None else lengths(norms(h), tau)
    points = next_level(h, Points(r, unit(e), unit(u)), here.parent, tau, here.child_ptr, look_back)
    return [h, *points[: 3 if look_back else 2]]


def results(operation: Callable[..., list[Tensor]], used: slice, *about: object) -> list[Tensor]:
    given = inputs()
    out = operation(colours(), *about, *given)[used]
    generator = torch.Generator().manual_seed(1)
    loss = sum((o * torch.randn(o.shape, generator=generator, dtype=o.dtype)).sum() for o in out)
    assert isinstance(loss, Tensor)
    found = torch.autograd.grad(loss, given, allow_unused=True)
    return [*out, *(torch.zeros_like(x) if grad is None else grad for x, grad in zip(given, found, strict=True))]


LAWS = {"one length": None, "lengths": log}
USED = {"all": slice(None), "features alone": slice(1), "points alone": slice(1, None), "r alone": slice(1, 2)}


@pytest.mark.parametrize("running", [None, RUNNING], ids=["moments", "running"])
@pytest.mark.parametrize("look_back", [True, False])
@pytest.mark.parametrize("used", USED)
@pytest.mark.parametrize("law", LAWS)
def test_fused_is_one_by_one_to_the_bit(law: str, used: str, look_back: bool, running: Moments | None) -> None:
    parts = (results(each, USED[used], running, look_back, LAWS[law]) for each in (fused, one_by_one))
    for a, b in zip(*parts, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("used", USED)
@pytest.mark.parametrize("law", LAWS)
def test_compiled_equals_plain_torch(law: str, used: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = results(fused, USED[used], None, True, LAWS[law])
    monkeypatch.setattr(parallel, "compiled_for", lambda tensor: False)
    for a, b in zip(compiled, results(fused, USED[used], None, True, LAWS[law]), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_gradients_are_those_of_finite_differences(law: str) -> None:
    about = colours(9, 4), None, True, LAWS[law]
    assert torch.autograd.gradcheck(lambda *given: tuple(fused(*about, *given)), inputs(4))


@pytest.mark.parametrize("law", LAWS)
def test_not_a_number_is_seen(law: str) -> None:
    given = inputs()
    with torch.no_grad():
        given[0][3, 2] = torch.nan
    h, r, *_ = fused(colours(), None, True, LAWS[law], *given)
    assert h.isnan().any()
    assert r.isnan().any()
