"""WLHN: equal to the paper's Algorithm 2, to itself node by node, and trained at every depth."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GINConv

from wlhn import Graphs, InputError
from wlhn.batching.colour_batch import ColourBatch, node_batch
from wlhn.batching.refined import make_quotient
from wlhn.hyperbolic import log0, reflect_through_zero
from wlhn.hyperbolic.polar import to_ball
from wlhn.models import WLHN
from wlhn.ops.level import Points

EDGES = np.array([[0, 1, 1, 2, 2, 0, 2, 3], [1, 0, 2, 1, 0, 2, 3, 2]])


def molecules(seed: int, count: int = 6, kind: str = "label", nodes: int = 9) -> tuple[Graphs, np.ndarray]:
    """Random sparse graphs with features of a kind: few distinct rows, degrees, or all rows distinct."""
    random = np.random.default_rng(seed)
    sizes = random.integers(2, nodes, count)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.concatenate(
        [start + random.integers(0, n, (2, n)) for start, n in zip(ptr[:-1], sizes, strict=True)], axis=1
    )
    graphs = Graphs.from_edges(np.concatenate([ends, ends[::-1]], axis=1), node_ptr=ptr)
    n = graphs.num_nodes
    x = {
        "label": lambda: np.eye(3)[random.integers(0, 3, n)],
        "degree": lambda: graphs.degree[:, None].astype(float),
        "continuous": lambda: random.normal(size=(n, 3)),
    }[kind]()
    return graphs, x


def per_node(model: WLHN, graphs: Graphs, x: np.ndarray, dtype: torch.dtype) -> ColourBatch:
    edges = torch.from_numpy(graphs.edge_index.astype(np.int64))
    features = torch.from_numpy(x).to(dtype)
    return node_batch(features, edges, torch.from_numpy(graphs.graph_of_node), None, len(model.layers))


def colours(graphs: Graphs, x: np.ndarray, layers: int, dtype: torch.dtype, nodes: bool = False) -> ColourBatch:
    numbers = {torch.float32: np.float32, torch.float64: np.float64}[dtype]
    return make_quotient(graphs, x.astype(numbers), layers, nodes=nodes).batch(np.arange(len(graphs)))


def awake(model: nn.Module) -> nn.Module:
    """Biases and norms away from their plain start, so that no test passes by symmetry."""
    generator = torch.Generator().manual_seed(5)
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.rand(parameter.shape, generator=generator).to(parameter)
    return model


class Rolled(WLHN):
    """Colours point elsewhere."""

    def pointing(self, t: int, h: Tensor, weight: Tensor | None) -> Tensor:
        return super().pointing(t, h, weight).roll(1, dims=-1)


class RolledBelow(WLHN):
    """The same below the root."""

    def place(self, t: int, h: Tensor, *args: Any) -> Points:
        return super().place(t, h.roll(1, dims=-1), *args)


@pytest.mark.parametrize("subclass", [Rolled, RolledBelow])
def test_where_colours_point_can_be_overridden(subclass: type[WLHN]) -> None:
    graphs, x = molecules(3)
    plain = awake(WLHN(3, 2, hidden_channels=8, num_layers=3)).eval()
    model = subclass(3, 2, hidden_channels=8, num_layers=3).eval()
    model.load_state_dict(plain.state_dict())
    batch = colours(graphs, x, 3, torch.float32)
    found, usual = list(model.levels(batch)), list(plain.levels(batch))
    for t, level in enumerate(batch.levels, start=1):
        (above, _), (z, h), (z_plain, h_plain) = found[t - 1], found[t], usual[t]
        placed = model.place(t, h, above, level.parent, level.child_ptr, level.weight)
        assert torch.equal(z.r, placed.r)
        assert torch.equal(z.e, placed.e)
        assert torch.allclose(h, h_plain, atol=1e-6)
        assert not torch.allclose(z.e, z_plain.e, atol=1e-2)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("kind", ["label", "degree", "continuous"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lengths": "fixed"},
        {"lengths": "fixed", "readout": "all", "learn_tau": True},
        {"readout": "steps", "lengths": "tanh", "learn_tau": True},
        {"directions": "whitened"},
        {"level": "node"},
        {"length_floor": 0.5},
        {"lengths": "first-release"},
        {"lengths": "tanh", "learn_tau": True, "tau_per_depth": True},
    ],
    ids=str,
)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
def test_quotient_equals_per_node(kind: str, options: dict, train: bool, dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    x_width = {"label": 3, "degree": 1, "continuous": 3}[kind]
    for count in (1, 6):
        graphs, x = molecules(count, count=count, kind=kind)
        model = (
            awake(WLHN(x_width, 2, hidden_channels=8, num_layers=3, learn_epsilon=True, **options))
            .to(dtype)
            .train(train)
        )
        twin = WLHN(x_width, 2, hidden_channels=8, num_layers=3, learn_epsilon=True, **options).to(dtype).train(train)
        twin.load_state_dict(model.state_dict())
        batch = colours(graphs, x, 3, dtype, nodes=True)
        assert kind == "continuous" or batch.num_rows[0] < graphs.num_nodes  # there is something to share
        results = model.run_on_colours(batch), twin.run_on_colours(per_node(twin, graphs, x, dtype))
        torch.testing.assert_close(*results, rtol=tolerance, atol=tolerance)
        for result in results:
            (result * torch.linspace(-1, 1, result.numel(), dtype=dtype).reshape(result.shape)).sum().backward()
        scale = max(float(p.grad.abs().max()) for p in twin.parameters())
        for (name, a), b in zip(model.named_parameters(), twin.parameters(), strict=True):
            assert float((a.grad - b.grad).abs().max()) <= tolerance * scale, name
        for (name, a), b in zip(model.named_buffers(), twin.buffers(), strict=True):
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance, msg=name)


def reflect(center: Tensor, z: Tensor) -> Tensor:
    """The inversion of the ball that swaps `center` and 0."""
    a = center / (center @ center)
    return a + (a @ a - 1) / ((z - a) @ (z - a)) * (z - a)


@pytest.mark.parametrize("lengths", ["fixed", "log", "first-release"])
def test_steps_are_what_inversions_bring_to_the_origin(lengths: str) -> None:
    """The readout `steps`: the parent in the origin, its own parent in direction w, then log_0 of the child."""
    torch.manual_seed(0)
    graphs, x = molecules(1, kind="continuous")
    model = awake(WLHN(3, 2, hidden_channels=8, num_layers=3, readout="steps", lengths=lengths)).double().eval()
    batch = per_node(model, graphs, x, torch.float64)
    steps = model.rows(batch).reshape(graphs.num_nodes, 4, 8)
    points = [to_ball(z.r, z.e) for z, _ in model.levels(batch)]
    root, w = torch.zeros(8, dtype=torch.float64), -torch.ones(8, dtype=torch.float64) / math.sqrt(8)
    for v in range(graphs.num_nodes):
        path = [root, *(level[v] for level in points)]
        torch.testing.assert_close(log0(path[1]), steps[v, 0])
        for t in range(1, 4):
            before, here, after = path[t - 1 : t + 2]
            child, parent = reflect(here, after), reflect(here, before) if before.any() else here
            torch.testing.assert_close(log0(reflect_through_zero(child, parent, w)), steps[v, t], rtol=1e-7, atol=1e-9)


def test_all_steps_count_alike() -> None:
    torch.manual_seed(0)
    graphs, x = molecules(1, kind="continuous")
    model = awake(WLHN(3, 2, hidden_channels=8, num_layers=9, readout="steps", tau=2.0, lengths="fixed")).eval()
    steps = model.rows(per_node(model, graphs, x, torch.float32)).reshape(-1, 10, 8)
    torch.testing.assert_close(steps.norm(dim=2), torch.ones(graphs.num_nodes, 10))


def algorithm_2(model: WLHN, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    """WLHN as the paper writes it: PyG's GIN layers, inversions of the ball, log_0, sum, perceptron."""
    d, tau = model.layers[0].lin1.out_features, float(model.tau)
    w = -torch.ones(d, dtype=x.dtype) / math.sqrt(d)
    hs = [torch.relu(model.encoder(x))]
    for layer in model.layers:
        mlp = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.BatchNorm1d(d), nn.Linear(d, d), nn.ReLU())
        conv = GINConv(mlp, eps=float(layer.epsilon)).to(x.dtype).train(model.training)
        for ours, theirs in ((layer.lin1, mlp[0]), (layer.norm, mlp[2]), (layer.lin2, mlp[3])):
            theirs.load_state_dict(ours.state_dict())
        hs.append(conv(hs[-1], edge_index))
    points = []
    for v in range(len(x)):
        path = [torch.zeros(d, dtype=x.dtype), math.tanh(tau / 2) * hs[0][v] / hs[0][v].norm()]
        for h in hs[1:]:
            z_b, z_a = path[-2:]
            u = reflect(z_a, z_b)
            q = u / u.norm() - w
            a = h[v] / h[v].norm()
            path.append(reflect(z_a, math.tanh(tau / 2) * (a - 2 * (q @ a) / (q @ q) * q)))
        points.append(torch.atanh(path[-1].norm()) * path[-1] / path[-1].norm())
    total = torch.zeros(int(batch.max()) + 1, d, dtype=x.dtype).index_add(0, batch, torch.stack(points))
    return model.head(total)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("layers", [1, 3, 5])
@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
def test_equals_algorithm_2(layers: int, tau: float, train: bool) -> None:
    torch.manual_seed(layers)
    graphs, x = molecules(3)
    model = awake(WLHN(3, 4, hidden_channels=6, num_layers=layers, tau=tau, lengths="fixed").double()).train(train)
    for linear in (model.encoder, *(layer.lin2 for layer in model.layers)):
        linear.bias.data += 2  # no dead rows: there the paper is silent
    edges, batch = torch.from_numpy(graphs.edge_index.astype(np.int64)), torch.from_numpy(graphs.graph_of_node)
    expected = algorithm_2(model, torch.from_numpy(x), edges, batch)
    torch.testing.assert_close(model(torch.from_numpy(x), edges, batch), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {"num_layers": 1},
        {"num_layers": 6, "learn_epsilon": True, "learn_tau": True},
        {"num_layers": 3, "directions": "whitened"},
        {"num_layers": 3, "readout": "all", "head": "hyperbolic"},
        {"num_layers": 3, "edge_channels": 2},
        {"num_layers": 3, "lengths": "log", "learn_tau": True, "tau_per_depth": True},
    ],
    ids=str,
)
def test_every_parameter_learns(options: dict) -> None:
    torch.manual_seed(1)
    graphs, x = molecules(1, count=12)
    graphs = graphs if "edge_channels" not in options else with_bonds(graphs)
    model = WLHN(3, 3, hidden_channels=16, **options)
    edge_attr = None if graphs.edge_attr is None else torch.from_numpy(graphs.edge_attr.astype(np.float32))
    edges, batch = torch.from_numpy(graphs.edge_index.astype(np.int64)), torch.from_numpy(graphs.graph_of_node)
    out = model(torch.from_numpy(x).float(), edges, batch, edge_attr)
    nn.functional.cross_entropy(out, torch.arange(12) % 3).backward()
    still = [name for name, p in model.named_parameters() if p.grad is None or not (p.grad != 0).any()]
    assert not still


def test_lengths_are_what_their_law_says() -> None:
    torch.manual_seed(5)
    graphs, x = molecules(2, count=4)
    batch = colours(graphs, x, 3, torch.float64)
    size: dict[str, Any] = {"hidden_channels": 8, "num_layers": 3}
    plain = awake(WLHN(3, 2, **size, lengths="fixed", tau=0.7).double()).eval()
    each = WLHN(3, 2, **size, lengths="fixed", tau=0.2, learn_tau=True, tau_per_depth=True, length_floor=0.5)
    each = each.double().eval()
    each.load_state_dict(plain.state_dict() | {"raw_tau": each.raw_tau})
    torch.testing.assert_close(each.run_on_colours(batch), plain.run_on_colours(batch))  # 0.5 + 0.2 at every depth
    clipped = lambda n: 2 * torch.atanh(math.tanh(0.5) * n.clamp(max=0.996))  # noqa: E731
    for law, length in (("log", torch.log1p), ("clipped", clipped)):
        model = awake(WLHN(3, 2, **size, lengths=law).double()).eval()
        z, h = next(iter(model.levels(batch)))
        torch.testing.assert_close(z.r, length(h.norm(dim=1)))


def test_frozen_encoder_trains_the_head_alone() -> None:
    model = WLHN(3, 2, hidden_channels=4, num_layers=2, frozen_encoder=True)
    assert {name.split(".")[0] for name, p in model.named_parameters() if p.requires_grad} == {"head"}


@pytest.mark.parametrize("lengths", ["fixed", "log"])
def test_gradient_of_the_whole_model(lengths: str) -> None:
    torch.manual_seed(2)
    graphs, x = molecules(2, count=2, nodes=5)
    learned: dict[str, Any] = {"learn_tau": True, "learn_epsilon": True}
    model = awake(WLHN(3, 2, hidden_channels=3, num_layers=2, lengths=lengths, **learned).double())
    batch = colours(graphs, x, 2, torch.float64)
    ours = {n: p.detach().clone().requires_grad_() for n, p in model.named_parameters() if not n.startswith("head.")}

    def run(*parameters: Tensor) -> Tensor:
        replaced = {f"model.{name}": p for name, p in zip(ours, parameters, strict=True)}
        return torch.func.functional_call(_Run(model), replaced, (batch,))

    assert torch.autograd.gradcheck(run, tuple(ours.values()), atol=1e-6, rtol=1e-4)


class _Run(nn.Module):
    def __init__(self, model: WLHN) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: ColourBatch) -> Tensor:
        return self.model.run_on_colours(batch)


def test_order_of_nodes_and_graphs_does_not_matter() -> None:
    torch.manual_seed(3)
    graphs, x = molecules(7)
    model = awake(WLHN(3, 2, hidden_channels=8, num_layers=3).double()).eval()
    quotient = make_quotient(graphs, x, 3)
    expected = model.run_on_colours(quotient.batch(np.arange(6)))
    random = np.random.default_rng(0)
    within = np.concatenate([random.permutation(np.arange(a, b)) for a, b in pairwise(graphs.node_ptr)])
    shuffled = make_quotient(graphs.permute(within), x[within], 3)
    torch.testing.assert_close(model.run_on_colours(shuffled.batch(np.arange(6))), expected)
    order = random.permutation(6)
    torch.testing.assert_close(model.run_on_colours(quotient.batch(order)), expected[order])
    alone = torch.cat([model.run_on_colours(quotient.batch([g])) for g in range(6)])
    torch.testing.assert_close(alone, expected)


def with_bonds(graphs: Graphs) -> Graphs:
    """The same graphs with two numbers on every edge, equal in both directions."""
    low, high = np.sort(graphs.edge_index, axis=0)
    kind = (low + high) % 3
    return Graphs.from_edges(graphs.edge_index, node_ptr=graphs.node_ptr, edge_attr=np.stack([kind, kind % 2], 1))


@pytest.mark.parametrize("edge_channels", [2, (3, 2)])
def test_bonds_count_in_colours_and_messages(edge_channels: int | tuple[int, int]) -> None:
    torch.manual_seed(4)
    plain, x = molecules(4)
    graphs = with_bonds(plain)
    attr = graphs.edge_attr if isinstance(edge_channels, tuple) else graphs.edge_attr.astype(np.float64)
    graphs = Graphs(**(vars(graphs) | {"edge_attr": attr}))
    model = awake(WLHN(3, 2, hidden_channels=8, num_layers=3, edge_channels=edge_channels).double())
    batch = make_quotient(graphs, x, 3, edges=True).batch(np.arange(6))
    edges = torch.from_numpy(graphs.edge_index.astype(np.int64))
    assert batch.num_rows[-1] < graphs.num_nodes
    per_node = model(torch.from_numpy(x), edges, torch.from_numpy(graphs.graph_of_node), torch.from_numpy(attr))
    torch.testing.assert_close(model.run_on_colours(batch), per_node)
    other = model(torch.from_numpy(x), edges, torch.from_numpy(graphs.graph_of_node), torch.from_numpy(attr).flip(0))
    assert not torch.allclose(other, per_node)


def test_fifty_layers_train_without_nan() -> None:
    torch.manual_seed(5)
    graphs, x = molecules(5, count=16)
    batch = make_quotient(graphs, x.astype(np.float32), 50).batch(np.arange(16))
    model, y = WLHN(3, 2, hidden_channels=16, num_layers=50), torch.arange(16) % 2
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model.run_on_colours(batch), y)
        loss.backward()
        assert all(torch.isfinite(p.grad).all() for p in model.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("tau", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("head", ["euclidean", "hyperbolic"])
def test_logits_are_finite_for_any_tau(tau: float, head: str) -> None:
    torch.manual_seed(6)
    graphs, x = molecules(6)
    batch = make_quotient(graphs, x.astype(np.float32), 8).batch(np.arange(6))
    model = WLHN(3, 2, hidden_channels=8, num_layers=8, tau=tau, head=head, learn_tau=True)
    out = model.run_on_colours(batch)
    out.sum().backward()
    assert torch.isfinite(out).all()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())
    assert model.tau.item() == pytest.approx(tau, rel=1e-5)


def test_graphs_without_edges_are_graphs() -> None:
    model = WLHN(2, 3, hidden_channels=4, num_layers=2)
    assert torch.isfinite(model(torch.rand(3, 2), torch.empty(2, 0, dtype=torch.int64))).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.rand(4, 2), torch.from_numpy(EDGES)), "x: expected 3 features"),
        ((torch.rand(3, 3), torch.from_numpy(EDGES)), "edge_index: expected nodes 0 to 2"),
        ((torch.full((4, 3), math.nan), torch.from_numpy(EDGES)), "x: features must be finite"),
        ((torch.empty(0, 3), torch.empty(2, 0, dtype=torch.int64)), "has no graph with nodes"),
        ((torch.rand(4, 3), torch.from_numpy(EDGES), torch.tensor([0, 0, 2, 2])), "graph 1 has no nodes"),
        ((torch.rand(4, 3), torch.from_numpy(EDGES), torch.tensor([0, 0, 0])), "batch: expected 4 entries"),
    ],
)
def test_bad_input_is_named(arguments: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        WLHN(3, 2, hidden_channels=4, num_layers=2)(*arguments)


@pytest.mark.parametrize(
    "options",
    [
        {"tau": -1.0},
        {"num_layers": -1},
        {"directions": "odd"},
        {"readout": "odd"},
        {"head": "odd"},
        {"out_channels": 0},
    ],
    ids=str,
)
def test_bad_options_are_named(options: dict) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        WLHN(**({"in_channels": 3, "hidden_channels": 4, "num_layers": 2, "out_channels": 2} | options))


def test_batches_refuse_nothing_and_empty_graphs() -> None:
    graphs = Graphs.from_edges(EDGES, node_ptr=[0, 4, 4])
    quotient = make_quotient(graphs, np.ones((4, 1), np.float32), 1)
    with pytest.raises(InputError, match="no graph"):
        quotient.batch([])
    with pytest.raises(InputError, match="graph 1: has no nodes"):
        quotient.batch([0, 1])
