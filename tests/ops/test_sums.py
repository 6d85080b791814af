"""The compiled operations against plain torch, which other devices run: values and gradients."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wlhn import Graphs
from wlhn.batching.colour_batch import ColourLevel, Counts
from wlhn.batching.refined import make_quotient
from wlhn.loops import parallel
from wlhn.models import WLHN
from wlhn.nn.encoders import FULL, WIDE, PassingZeros, nonzero_entries
from wlhn.ops.gin import Moments, Weights, gin, gin_of_sums
from wlhn.ops.sums import product, tangent_sum


def counts(rows: int, columns: int, seed: int = 0) -> Counts:
    """A random sparse matrix with some empty rows."""
    random = np.random.default_rng(seed)
    dense = random.integers(0, 4, (rows, columns)) * (random.random((rows, columns)) < 0.3)
    dense[rows // 2] = 0
    row, column = np.nonzero(dense)
    ptr = np.searchsorted(row, np.arange(rows + 1))
    return Counts.from_rows(ptr, column.astype(np.int32), dense[row, column].astype(np.float32), columns)


def level(rows: int, before: int, weighted: bool) -> ColourLevel:
    parent = torch.arange(rows) * before // rows
    return ColourLevel(
        parent=parent,
        child_ptr=torch.searchsorted(parent, torch.arange(before + 1)),
        neighbours=counts(rows, before),
        weight=torch.arange(1.0, rows + 1) if weighted else None,
    )


def random(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def layer_weights() -> Weights:
    """Of a layer that is 4 wide between its two Linears and 3 behind them."""
    return Weights(random(4, D), random(4), random(4), random(4), random(3, 4), random(3))


def h_of(layer: tuple[Tensor, Moments]) -> Tensor:
    return layer[0]


N, M, D = 700, 300, 5
RUNNING = Moments(torch.ones(4, dtype=torch.float64), torch.full((4,), 2.0, dtype=torch.float64), 0.0)
CASES: dict[str, tuple[Callable[..., object], Callable[[], tuple[Tensor, ...]]]] = {
    "product": (lambda x: product(counts(N, M), x), lambda: (random(M, D),)),
    "tangent_sum": (lambda r, e: tangent_sum(counts(N, M), r, e), lambda: (random(M), random(M, D))),
    "gin": (
        lambda x, eps, *w: h_of(gin(x, Weights(*w), level(N, M, False), eps)),
        lambda: (random(M, D), random(), *layer_weights()),
    ),
    "gin weighted": (
        lambda x, eps, *w: h_of(gin(x, Weights(*w), level(N, M, True), eps)),
        lambda: (random(M, D), random(), *layer_weights()),
    ),
    "gin of sums": (
        lambda x, *w: h_of(gin_of_sums(x, Weights(*w), torch.arange(1.0, N + 1))),
        lambda: (random(N, D), *layer_weights()),
    ),
    "gin running": (
        lambda x, *w: h_of(gin_of_sums(x, Weights(*w), None, running=RUNNING)),
        lambda: (random(N, D), *layer_weights()),
    ),
}


@pytest.fixture
def plain_torch(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setattr(parallel, "compiled_for", lambda tensor: False)


def results(operation: Callable[..., object], inputs: tuple[Tensor, ...]) -> list[Tensor]:
    """Outputs, and the gradients of a fixed random mixture of them."""
    out = operation(*inputs)
    outputs = [out] if isinstance(out, Tensor) else list(out)
    generator = torch.Generator().manual_seed(1)
    loss = sum((o * torch.randn(o.shape, generator=generator, dtype=o.dtype)).sum() for o in outputs)
    return [*outputs, *torch.autograd.grad(loss, inputs)]


@pytest.mark.parametrize("name", CASES)
def test_compiled_equals_plain_torch(name: str, plain_torch: Callable[[], None]) -> None:
    torch.manual_seed(0)
    operation, make = CASES[name]
    inputs = make()
    compiled = results(operation, inputs)
    plain_torch()
    for a, b in zip(compiled, results(operation, inputs), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


def test_product_is_the_matrix_product() -> None:
    matrix, x = counts(6, 4), torch.randn(4, 3)
    dense = torch.zeros(6, 4)
    for i in range(6):
        for k in range(matrix.ptr[i], matrix.ptr[i + 1]):
            dense[i, matrix.index[k]] += matrix.value[k]
    torch.testing.assert_close(product(matrix, x), dense @ x)


@pytest.mark.parametrize("weighted", [False, True])
def test_gin_is_a_perceptron_with_batchnorm_of_the_nodes(weighted: bool) -> None:
    """On nodes, each colour as often as it weighs, PyTorch's own layers give the same, and the same moments."""
    torch.manual_seed(0)
    weights, here = layer_weights(), level(N, M, weighted)
    x = random(M, D)
    h, moments = gin(x, weights, here, eps=1e-5)
    times = torch.ones(N, dtype=torch.int64) if here.weight is None else here.weight.long()
    total = (x[here.parent] + product(here.neighbours, x)).repeat_interleave(times, 0)
    norm = nn.BatchNorm1d(4, momentum=1.0, dtype=torch.float64)
    norm.weight, norm.bias = nn.Parameter(weights.gamma), nn.Parameter(weights.beta)
    hidden = F.relu(F.linear(total, weights.w1, weights.b1))
    torch.testing.assert_close(h.repeat_interleave(times, 0), F.relu(F.linear(norm(hidden), weights.w2, weights.b2)))
    torch.testing.assert_close(moments.mean, norm.running_mean)
    torch.testing.assert_close(moments.var * moments.nodes / (moments.nodes - 1), norm.running_var)
    assert moments.nodes == times.sum()


def test_gradients_of_gin_are_those_of_finite_differences() -> None:
    torch.manual_seed(0)
    here, inputs = level(9, 4, True), (random(4, D), random(), *layer_weights())
    assert torch.autograd.gradcheck(lambda x, eps, *w: h_of(gin(x, Weights(*w), here, eps)), inputs)


def test_whole_model_in_plain_torch(plain_torch: Callable[[], None]) -> None:
    """What a CUDA device would run gives the same output and gradients."""
    torch.manual_seed(0)
    edges = np.random.default_rng(0).integers(0, 30, (2, 40))
    graphs = Graphs.from_edges(np.concatenate([edges, edges[::-1]], 1), num_nodes=30)
    batch = make_quotient(graphs, np.eye(2)[np.arange(30) % 2], 3).batch([0])
    model = WLHN(2, 4, hidden_channels=8, num_layers=3, learn_tau=True).double()
    compiled = results(lambda *_: model.run_on_colours(batch), tuple(model.parameters()))
    plain_torch()
    for a, b in zip(compiled, results(lambda *_: model.run_on_colours(batch), tuple(model.parameters())), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


def test_threads_change_nothing() -> None:
    """Sums run in fixed blocks, so one thread and four give the same bits."""
    torch.manual_seed(0)
    x = torch.randn(40_000, 16)
    one, zero = torch.eye(16), torch.zeros(16)
    weights = Weights(one, zero, torch.ones(16), zero, one, zero)  # products of numbers with 0 and 1 are exact
    wide = ColourLevel(
        parent=torch.arange(40_000), child_ptr=torch.arange(40_001), neighbours=_ring(40_000), weight=None
    )
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 4):
            torch.set_num_threads(threads)
            h, moments = gin(x, weights, wide)
            found.append((h, moments.mean, moments.var))
    finally:
        torch.set_num_threads(before)
    for one, four in zip(*found, strict=True):
        assert torch.equal(one, four)


def _ring(n: int) -> Counts:
    index = (np.arange(n)[:, None] + [1, n - 1]) % n
    return Counts.from_rows(np.arange(n + 1) * 2, index.ravel().astype(np.int32), np.ones(2 * n, np.float32), n)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5])
def test_a_linear_that_passes_over_zeros(share: float) -> None:
    random = torch.Generator().manual_seed(0)
    x = torch.randn(40, WIDE, generator=random) * (torch.rand(40, WIDE, generator=random) < share)
    ours, theirs = PassingZeros(WIDE, 5), nn.Linear(WIDE, 5)
    theirs.load_state_dict(ours.state_dict())
    weights = torch.randn(40, 5, generator=random)
    assert (nonzero_entries(x) is None) == (share > FULL)
    for _ in range(2):  # the second time from what is known of x
        for layer in (ours, theirs):
            layer.zero_grad()
            (layer(x) * weights).sum().backward()
        torch.testing.assert_close(ours(x), theirs(x))
        torch.testing.assert_close(ours.weight.grad, theirs.weight.grad)
        torch.testing.assert_close(ours.bias.grad, theirs.bias.grad)
    x[3, 4] += 7  # no longer what was known
    torch.testing.assert_close(ours(x), theirs(x))
    x.requires_grad_()
    ours(x).sum().backward()
    torch.testing.assert_close(x.grad[0], ours.weight.sum(0))
