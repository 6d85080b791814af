"""Parts add up to the whole, exactly; for a linear head they are its weights; the order of colours is nothing."""

import pytest
import torch
from torch import nn

from wlhn.hyperbolic import exp0, log0
from wlhn.inspection.attribution import contributions, mean_gradient
from wlhn.nn.heads import EuclideanHead, HyperbolicHead


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [EuclideanHead, HyperbolicHead])
@pytest.mark.parametrize("size", [0.0, 0.02, 30.0])
def test_parts_add_up_to_the_output(kind: type[nn.Module], seed: int, size: float) -> None:
    torch.manual_seed(seed)
    head, rows, count = kind(16, 3), size * torch.randn(20, 16), torch.randint(1, 9, (20,))
    each, there, base = contributions(head, rows, count)
    assert (each.sum(0) + base - there).abs().max() < 1e-6 * (1 + there.abs().max())
    h = (rows * count[:, None]).sum(0, keepdim=True)
    torch.testing.assert_close(there.float(), head.eval()(h)[0], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(base.float(), head(torch.zeros_like(h))[0], atol=1e-5, rtol=1e-5)
    gradient, *_ = mean_gradient(head, h[0])  # adds up by itself: nothing much is left to make good
    torch.testing.assert_close((gradient @ h[0].double()).float(), (there - base).float(), atol=1e-4, rtol=1e-5)
    order = torch.randperm(20)
    torch.testing.assert_close(contributions(head, rows[order], count[order])[0], each[order], atol=1e-3, rtol=1e-3)


def test_a_linear_head_gives_its_weights_and_a_relu_network_the_integral() -> None:
    torch.manual_seed(0)
    linear = nn.Linear(5, 2)
    rows, count = torch.randn(7, 5), torch.arange(1, 8)
    expected = (rows.double() * count[:, None]) @ linear.weight.double().T
    torch.testing.assert_close(contributions(linear, rows, count)[0], expected, atol=1e-5, rtol=1e-5)
    head, h = EuclideanHead(5, 2).double(), 4 * torch.randn(5, dtype=torch.float64)
    alpha = ((torch.arange(20_000) + 0.5) / 20_000)[:, None]
    at = (alpha * h).requires_grad_(True)
    plain = torch.stack([torch.autograd.grad(head(at)[:, k].sum(), at)[0].mean(0) for k in range(2)])
    torch.testing.assert_close(mean_gradient(head, h)[0], plain, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("size", [1e-3, 0.5, 1e3, 1e4])
def test_a_hyperbolic_head_keeps_its_digits(size: float) -> None:
    """In float32 as in float64, however long the sum; and for short ones, as in the ball."""
    torch.manual_seed(0)
    head, h = HyperbolicHead(16, 3).eval(), size * torch.nn.functional.normalize(torch.randn(50, 16))
    with torch.no_grad():
        for point in (head.lin1.bias, head.lin2.bias, head.out.point):
            point.copy_(0.05 * torch.randn_like(point))
        short, exact = head(h), head.double()(h.double())
        torch.testing.assert_close(short.double(), exact, rtol=1e-5, atol=1e-5 * max(size, 1))
        if size < 1:
            z = exp0(h.double())
            for layer in (head.lin1, head.lin2):
                z = exp0(torch.relu(log0(layer(z))))
            torch.testing.assert_close(exact, head.out(z), rtol=1e-10, atol=1e-10)
