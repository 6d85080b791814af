"""One level of DiffHypCon: the compiled one is the readable one, and every degenerate case is defined."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from wlhn import InputError
from wlhn.hyperbolic.poincare import length
from wlhn.ops.level import Points, level_reference, next_level, norms, root_level, unit

D = 6
PARENTS = torch.tensor([0, 0, 0, 2, 3, 3])  # the second parent has no children
CHILD_PTR = torch.tensor([0, 3, 3, 4, 6])


def randoms(*shape: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def inputs(dtype: torch.dtype, r: float = 1.3, tau: Any = 1.4) -> list[Tensor]:
    h, e, u = randoms(6, D, seed=1, dtype=dtype), unit(randoms(4, D, seed=2)), unit(randoms(4, D, seed=3))
    values = [h, r * (1 + torch.arange(4.0)), e, u, torch.as_tensor(tau)]
    return [x.to(dtype).requires_grad_() for x in values]


def both(given: list[Tensor], look_back: bool = True) -> tuple[Any, Any]:
    """Outputs and all gradients, compiled and readable, for the same inputs and the same downstream gradient.

    Directions are unit vectors, whatever is done with them: off the sphere, two right formulas may differ.
    """
    h, r, e, u, tau = given
    results = []
    for child_ptr in (CHILD_PTR, None):
        out = next_level(h, Points(r, unit(e), unit(u)), PARENTS, tau, child_ptr, look_back)
        used = list(out if look_back else out[:2])
        weights = [randoms(*x.shape, seed=9, dtype=x.dtype) for x in used]
        total = sum((x * weight).sum() for x, weight in zip(used, weights, strict=True))
        results.append([*used, *torch.autograd.grad(total, given, allow_unused=True)])
    return results[0], results[1]


LENGTHS = [0.3, 1.4, 2.0, 1e-3, 5.0, 1.0]  # one for each row


@pytest.mark.parametrize("look_back", [True, False])
@pytest.mark.parametrize("r", [1e-3, 1.3, 40.0, 2000.0])
@pytest.mark.parametrize("tau", [1.4, LENGTHS], ids=["one length", "lengths"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_compiled_is_readable(dtype: torch.dtype, tau: Any, r: float, look_back: bool) -> None:
    tolerance = 1e-12 if dtype == torch.float64 else 2e-4  # near the origin much cancels
    for compiled, readable in zip(*both(inputs(dtype, r, tau), look_back), strict=True):
        scale = readable.abs().max().clamp_min(1)
        assert (compiled - readable).abs().max() <= tolerance * scale


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_length_is_equal_lengths_in_every_row(dtype: torch.dtype) -> None:
    one, rows = (both(inputs(dtype, tau=tau))[0] for tau in (1.4, [1.4] * 6))
    assert all(torch.equal(x, y) for x, y in zip(one[:-1], rows[:-1], strict=True))
    assert rows[-1].shape == (6,)
    assert torch.allclose(one[-1], rows[-1].sum())


@pytest.mark.parametrize("r", [1e-5, 1.3, 700.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_lengths_of_any_size(dtype: torch.dtype, r: float) -> None:
    given = inputs(dtype, r, [0.0, 1e-20, 50.0, 99.9, 300.0, 5000.0])
    out = assert_defined(given, exact=dtype == torch.float64)
    change = (out[0] - given[1][PARENTS]).abs()
    assert (change <= given[4] * (1 + 1e-5) + 1e-5 * given[1][PARENTS] + 2e-6).all()  # the triangle inequality
    assert torch.allclose(out[0][:2], given[1][PARENTS[:2]].clamp_min(1e-6), rtol=1e-5)
    assert torch.allclose(out[1][:2], unit(given[2])[PARENTS[:2]], atol=1e-5)


def test_lengths_are_one_or_one_for_each_row() -> None:
    above = root_level(randoms(4, D, seed=1), torch.rand(4))
    for place in (
        lambda tau: root_level(randoms(6, D, seed=1), tau),
        lambda tau: next_level(randoms(6, D, seed=1), above, PARENTS, tau, CHILD_PTR),
    ):
        with pytest.raises(InputError, match="tau: expected one length, or 6, one for each row, found shape"):
            place(torch.ones(5))


@pytest.mark.parametrize("sizes", [None, (4, 6, 7)], ids=["one length", "lengths"])
@pytest.mark.parametrize("child_ptr", [CHILD_PTR, None], ids=["compiled", "readable"])
def test_gradients_through_three_levels_are_those_of_finite_differences(
    child_ptr: Tensor | None, sizes: tuple[int, ...] | None
) -> None:
    one = torch.tensor(0.9, dtype=torch.float64, requires_grad=True)
    tau = [one] * 3 if sizes is None else [randoms(n, seed=n).abs().requires_grad_() for n in sizes]
    h = [randoms(n, D, seed=n).requires_grad_() for n in (4, 6, 7)]
    parent = torch.tensor([0, 1, 2, 3, 4, 5, 5])
    last_ptr = None if child_ptr is None else torch.tensor([0, 1, 2, 3, 4, 5, 7])

    def chain(h0: Tensor, h1: Tensor, h2: Tensor, t0: Tensor, t1: Tensor, t2: Tensor) -> tuple[Tensor, ...]:
        middle = next_level(h1, root_level(h0, t0), PARENTS, t1, child_ptr)
        return (*middle, *next_level(h2, middle, parent, t2, last_ptr))

    assert torch.autograd.gradcheck(chain, (*h, *tau))


@pytest.mark.parametrize("child_ptr", [torch.arange(33), None], ids=["compiled", "readable"])
@pytest.mark.parametrize(
    "tau", [1.0, 2 * math.asinh(1), 5.0, torch.linspace(0.6, 3.0, 32)], ids=["short", "tau*", "long", "each its own"]
)
def test_float32_at_depth_1000(tau: Any, child_ptr: Tensor | None) -> None:
    """Relative error of r and of directions below 1e-5, with finite gradients all the way up."""
    rows, parent = 32, torch.arange(32)
    first, features = randoms(rows, D, seed=4).abs(), randoms(1000, rows, D, seed=5).relu()
    h = features.float().requires_grad_()
    single, exact = root_level(first.float(), tau), root_level(first.float().double(), tau)
    for row in h:
        single = next_level(row, single, parent, tau, child_ptr)
        exact = next_level(row.detach().double(), exact, parent, tau, torch.arange(rows + 1))
    assert exact.r.min() > 200
    assert ((single.r - exact.r) / exact.r).abs().max() < 1e-5
    assert (single.e - exact.e).abs().max() < 1e-5
    assert (single.u - exact.u).abs().max() < 1e-5
    assert torch.autograd.grad((single.r.sum() + single.e.sum() + single.u.sum()), h)[0].isfinite().all()


def assert_defined(given: list[Tensor], exact: bool = True) -> list[Tensor]:
    compiled, readable = both(given)
    for x, y in zip(compiled, readable, strict=True):
        assert x.isfinite().all()
        assert y.isfinite().all()
        if exact:
            assert torch.allclose(x, y, rtol=1e-4, atol=1e-4 if x.dtype == torch.float32 else 1e-9)
    for direction in compiled[1:3]:
        assert torch.allclose(direction.norm(dim=-1), torch.ones(6, dtype=direction.dtype), atol=1e-5)
    return compiled


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


@DTYPES
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-45])
def test_dead_rows_go_straight_away_with_zero_gradient(dtype: torch.dtype, size: float) -> None:
    given = inputs(dtype)
    with torch.no_grad():
        given[0] *= size
        given[3].copy_(given[2])  # parents that came straight from the root
    r, e, u, grad_h, *_ = assert_defined(given)
    assert torch.allclose(r, given[1][PARENTS] + given[4])
    assert torch.allclose(e, given[2][PARENTS], atol=1e-6)
    assert torch.allclose(u, e, atol=1e-6)
    assert (grad_h == 0).all()


@DTYPES
@pytest.mark.parametrize("size", [1e-15, 1e15, 1e25, 1e37])
def test_rows_of_any_size_have_a_direction(dtype: torch.dtype, size: float) -> None:
    given = inputs(dtype)
    expected = both(given)[0][:3]
    with torch.no_grad():
        given[0] *= size
    for x, y in zip(assert_defined(given)[:3], expected, strict=True):
        assert torch.allclose(x, y, rtol=1e-5, atol=1e-5)


@DTYPES
@pytest.mark.parametrize("size", [0.0, 1e-45, 1e-30, 1.0, 1e15, 1e30])
def test_norms_of_any_size(dtype: torch.dtype, size: float) -> None:
    h = (size * randoms(5, D, seed=11)).to(dtype).requires_grad_()
    weight = randoms(5, seed=12, dtype=dtype)
    values, gradients = [], []
    for norm in (norms(h), length(h).squeeze(-1)):
        values.append(norm)
        gradients.append(torch.autograd.grad(norm, h, weight)[0])
    assert torch.allclose(*values, rtol=1e-6, atol=torch.finfo(dtype).tiny)
    assert gradients[0].isfinite().all()
    assert size == 1e-45 or torch.allclose(*gradients, rtol=1e-5, atol=1e-6)  # too few digits to have a direction
    assert size > 0 or (gradients[0] == 0).all()
    assert size != 1 or torch.allclose(values[0], h.norm(dim=1))


def test_nan_is_seen_and_not_taken_for_dead() -> None:
    given = inputs(torch.float32)
    with torch.no_grad():
        given[0][0, 0] = torch.nan
    for result in both(given):
        assert result[0][0].isnan()
        assert result[0][1:].isfinite().all()


@DTYPES
def test_u_on_w_needs_no_reflection(dtype: torch.dtype) -> None:
    given = inputs(dtype)
    with torch.no_grad():
        given[3].fill_(-1 / math.sqrt(D))
    r, e, _, grad_h, *_ = assert_defined(given)
    straight = level_reference(given[0].detach(), Points(given[1], given[2], given[3]), PARENTS, given[4])
    assert torch.allclose(r, straight.r)
    assert torch.allclose(e, straight.e)
    assert grad_h.abs().sum() > 0


@DTYPES
def test_rows_on_the_line_through_parent_and_root(dtype: torch.dtype) -> None:
    given = inputs(dtype)
    with torch.no_grad():
        given[3].copy_(given[2])
        given[0].fill_(2.0)  # a = −w, so y = −u = −e: straight away
        given[0][3:] = -2.0  # a = w, so y = e: straight towards the root, and for r < τ beyond it
        given[1][3] = 0.5
    r, e, *_ = assert_defined(given)
    tau = given[4].item()
    assert r.tolist() == pytest.approx(
        [given[1][0].item() + tau] * 3 + [given[1][2].item() - tau] + [tau - 0.5] * 2, rel=1e-4
    )
    assert torch.allclose(e[4:], -given[2][PARENTS[4:]], atol=1e-5)


@DTYPES
def test_landing_on_the_root(dtype: torch.dtype) -> None:
    """A child of a child of the root that walks straight back, and its own children."""
    tau = torch.tensor(1.4, dtype=dtype, requires_grad=True)
    back = torch.full((4, D), -1.0, dtype=dtype, requires_grad=True)
    parent, ptr = torch.arange(4), torch.arange(5)
    for child_ptr in (ptr, None):
        first = root_level(randoms(4, D, seed=7, dtype=dtype).requires_grad_(), tau)
        landed = next_level(back, first, parent, tau, child_ptr)
        assert (landed.r < 2e-3).all()
        for direction in (landed.e, landed.u):
            assert torch.allclose(direction.norm(dim=-1), torch.ones(4, dtype=dtype))
        onwards = next_level(randoms(4, D, seed=8, dtype=dtype).requires_grad_(), landed, parent, tau, child_ptr)
        assert torch.allclose(onwards.r, tau.expand(4), atol=2e-3)
        total = onwards.r.sum() + onwards.e.sum() + onwards.u.sum() + landed.e.sum()
        assert all(
            g.isfinite().all() for g in torch.autograd.grad(total, [tau, back], allow_unused=True) if g is not None
        )


def test_levels_without_rows() -> None:
    above = root_level(randoms(2, D, seed=1), 1.0)
    out = next_level(torch.empty(0, D, dtype=torch.float64), above, PARENTS[:0], 1.0, torch.tensor([0, 0, 0]))
    assert [tuple(x.shape) for x in out] == [(0,), (0, D), (0, D)]


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = both(inputs(torch.float64))[0]
    monkeypatch.setattr("wlhn.loops.parallel.SMALL", 1)
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        together = both(inputs(torch.float64))[0]
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(x, y) for x, y in zip(alone, together, strict=True))
