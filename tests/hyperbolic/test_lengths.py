"""Edge lengths from features: the laws they are named after, at any size, with gradients."""

import math
from typing import Any

import mpmath
import pytest
import torch

from wlhn import InputError
from wlhn.hyperbolic.lengths import CLIP, STAR, beside_parent, edge_lengths
from wlhn.ops.level import norms

LAWS = ["tanh", "log", "clipped"]
EXACT = {
    "tanh": lambda n, tau: 2 * mpmath.atanh(mpmath.tanh(tau / 2) * mpmath.tanh(n)),
    "log": lambda n, tau: tau * mpmath.log(1 + n),
    "clipped": lambda n, tau: 2 * mpmath.atanh(mpmath.tanh(tau / 2) * min(n, mpmath.mpf(CLIP))),
}
NORMS = [0.0, 1e-30, 1e-12, 1e-3, 0.4, 0.9, 3.0, 20.0, 60.0, 1e3, 1e30]
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("tau", [1e-3, 1.0, STAR, 30.0, 150.0])
@DTYPES
def test_lengths_are_those_of_arbitrary_precision(law: Any, tau: float, dtype: torch.dtype) -> None:
    h = torch.tensor([[0.6 * n, 0.0, -0.8 * n] for n in NORMS], dtype=dtype)
    ours = edge_lengths(norms(h), tau, law)
    rounded = torch.tensor(tau, dtype=dtype).item()
    with mpmath.workdps(500):
        sizes = [mpmath.sqrt(sum(mpmath.mpf(x) ** 2 for x in row)) for row in h.tolist()]
        exact = [float(EXACT[law](min(n, mpmath.mpf(500)) if law == "tanh" else n, mpmath.mpf(rounded))) for n in sizes]
    assert ours.tolist() == pytest.approx(exact, rel=5e-13 if dtype == torch.float64 else 3e-5, abs=0)


@pytest.mark.parametrize("law", ["fixed", *LAWS])
def test_gradients_are_those_of_finite_differences(law: Any) -> None:
    h = torch.tensor([[0.1, 0.2, 0.3], [0.5, 0.5, 0.0], [2.0, 1.0, 0.0], [4.0, 8.0, 1.0]], dtype=torch.float64)
    tau = torch.tensor(1.3, dtype=torch.float64)
    inputs = h.requires_grad_(), tau.requires_grad_()
    assert torch.autograd.gradcheck(lambda h, tau: edge_lengths(norms(h), tau, law, floor=0.2), inputs)


@pytest.mark.parametrize("law", LAWS)
@DTYPES
def test_zero_rows_have_gradient_zero_and_no_row_a_wrong_one(law: Any, dtype: torch.dtype) -> None:
    sizes = torch.tensor([0.0, 1e-45, 1e-30, 1.0, 50.0, 1e30], dtype=dtype)
    h = (sizes[:, None] * torch.tensor([1.0, 2.0], dtype=dtype)).requires_grad_()
    tau = torch.tensor(1.3, dtype=dtype, requires_grad=True)
    grad_h, grad_tau = torch.autograd.grad(edge_lengths(norms(h), tau, law).sum(), [h, tau])
    assert (grad_h[0] == 0).all()
    assert grad_h.isfinite().all()
    assert grad_tau.isfinite()
    slope = {"tanh": 2 * math.tanh(0.65), "log": 1.3, "clipped": 2 * math.tanh(0.65)}[law]
    assert grad_h[2].norm().item() == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("law", LAWS)
def test_lengths_grow_with_the_features_from_the_floor_on(law: Any) -> None:
    h = torch.linspace(0, 0.99, 50, dtype=torch.float64)[:, None]
    above = edge_lengths(norms(h), 1.3, law, floor=STAR)
    assert (above.diff() > 0).all()
    assert above[0] == STAR
    assert torch.allclose(above, STAR + edge_lengths(norms(h), 1.3, law))


def test_a_clipped_child_lies_where_the_first_release_puts_it() -> None:
    h = torch.tensor([[0.3, 0.4], [3.0, 4.0]], dtype=torch.float64)
    point = math.tanh(0.7) * torch.tensor([[0.3, 0.4], [0.6 * 0.996, 0.8 * 0.996]], dtype=torch.float64)
    radius = torch.tanh(edge_lengths(norms(h), 1.4, "clipped") / 2)
    assert torch.allclose(radius[:, None] * h / h.norm(dim=1, keepdim=True), point, rtol=1e-14)


@pytest.mark.parametrize("d", [1, 2, 7])
def test_features_beside_the_parent_keep_their_angles_and_forget_the_last_coordinate(d: int) -> None:
    h = torch.randn(9, d, generator=torch.Generator().manual_seed(d), dtype=torch.float64, requires_grad=True)
    moved = beside_parent(h)
    assert torch.allclose(moved @ moved.mT, h[:, :-1] @ h[:, :-1].mT, atol=1e-14)
    assert moved.sum(1).abs().max() < 1e-14
    gradient = torch.autograd.grad(moved.square().sum(), h)[0]
    assert torch.allclose(gradient[:, :-1], 2 * h[:, :-1])
    assert (gradient[:, -1] == 0).all()


def test_bad_laws_are_named() -> None:
    with pytest.raises(InputError, match="lengths: must be fixed, tanh, log or clipped, found 'exp'"):
        edge_lengths(norms(torch.ones(1, 1)), 1.0, "exp")  # type: ignore[arg-type]
    for floor in (-1.0, math.nan):
        with pytest.raises(InputError, match="floor: must be 0 or more"):
            edge_lengths(norms(torch.ones(1, 1)), 1.0, "log", floor)
