"""Compiled operations on rows against plain torch, values and gradients, at the extremes too."""

import pytest
import torch
from torch import Tensor

from wlhn.ops.rows import combination, length_and_angle, length_and_angle_reference

LENGTHS = {torch.float32: (0.0, 1e-30, 1e-6, 1.0, 1e3, 1e30), torch.float64: (0.0, 1e-200, 1e-12, 1.0, 1e3, 1e200)}


def gradients(values: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    """Of a sum of the values, each with a weight of its own."""
    weight = torch.randn(values.shape, generator=torch.Generator().manual_seed(1), dtype=values.dtype)
    return torch.autograd.grad((values * weight).sum(), inputs, retain_graph=True, materialize_grads=True)


@pytest.mark.parametrize("dtype", LENGTHS, ids=str)
@pytest.mark.parametrize("vector", ["random", "opposite", "zero"])
def test_length_and_angle_as_in_torch(dtype: torch.dtype, vector: str) -> None:
    random = torch.Generator().manual_seed(0)
    for size in LENGTHS[dtype]:
        v = torch.randn(7, 300, generator=random, dtype=dtype).mT  # not contiguous
        v = (size * v / v.norm(dim=1, keepdim=True)).requires_grad_()
        some = torch.randn(7, generator=random, dtype=dtype)
        e = {"random": some, "opposite": -v[3] / (size or 1), "zero": 0 * some}[vector].detach().clone()
        e.requires_grad_()
        ours, expected = length_and_angle(v, e), length_and_angle_reference(v, e)
        torch.testing.assert_close(ours, expected)
        n = expected[0].detach()
        for k, unit in ((0, 1.0), (1, n)):  # q's gradient is as large as 1/n: compared in units of that
            found, wanted = gradients(ours[k], v, e), gradients(expected[k], v, e)
            torch.testing.assert_close(found[0] * unit, wanted[0] * unit, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(found[1], wanted[1], rtol=1e-4, atol=1e-4)


def test_other_shapes_and_types_are_torchs() -> None:
    v, one, ten = torch.randn(4, 3), torch.ones(1), torch.full((1, 1), 10.0)
    torch.testing.assert_close(length_and_angle(v, one), length_and_angle_reference(v, one))
    torch.testing.assert_close(combination(ten, v, ten, one.expand(3)), 10 * v + 10)
    assert combination(ten.half(), v.half(), ten.half(), one.half().expand(3)).dtype == torch.half
    with pytest.raises(RuntimeError):
        combination(ten, v, ten, torch.ones(2))
    none = v[:0].requires_grad_()
    length_and_angle(none, torch.ones(3))[1].sum().backward()
    assert none.grad.shape == (0, 3)


def test_gradients_by_finite_differences() -> None:
    random = torch.Generator().manual_seed(2)
    v, a, c = (torch.randn(5, k, generator=random, dtype=torch.float64, requires_grad=True) for k in (3, 1, 1))
    b = torch.randn(3, generator=random, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(length_and_angle, (v, b))
    assert torch.autograd.gradcheck(combination, (a, v, c, b))


def test_rows_do_not_depend_on_threads() -> None:
    v = torch.randn(70_000, 64, generator=torch.Generator().manual_seed(3)).requires_grad_()
    e, a = torch.ones(64) / 8, torch.rand(70_000, 1)
    results, threads = [], torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            n, q = length_and_angle(v, e)
            out = combination(a * q, v, n, e)
            results.append([n, q, out, *torch.autograd.grad(out.square().sum(), v)])
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, two) for one, two in zip(*results, strict=True))
