"""Compiled operations on rows against plain torch, values and gradients, at the extremes too."""

import pytest
import torch
from torch import Tensor

from wlhn.models.row_ops import combination, length_and_angle, length_and_angle_reference

LENGTHS = {torch.float32: (0.0, 1e-30, 1e-6, 1.0, 1e3, 1e30), torch.float64: (0.0, 1e-200, 1e-12, 1.0, 1e3, 1e200)}


def gradients(values: tuple[Tensor, ...], *inputs: Tensor) -> tuple[Tensor, ...]:
    """Of a sum of the values, each with a weight of its own."""
    random = torch.Generator().manual_seed(1)
    total = sum((value * torch.randn(value.shape, generator=random, dtype=value.dtype)).sum() for value in values)
    return torch.autograd.grad(total, inputs)


@pytest.mark.parametrize("dtype", LENGTHS, ids=str)
@pytest.mark.parametrize("vector", ["random", "opposite", "zero"])
def test_length_and_angle_as_in_torch(dtype: torch.dtype, vector: str) -> None:
    for size in LENGTHS[dtype]:
        v = torch.randn(300, 7, generator=torch.Generator().manual_seed(0), dtype=dtype)
        v = (size * v / v.norm(dim=1, keepdim=True)).requires_grad_()
        e = {"random": torch.randn(7, dtype=dtype), "opposite": -v[3] / (size or 1), "zero": torch.zeros(7)}[vector]
        e = e.detach().to(dtype).clone().requires_grad_()
        ours, expected = length_and_angle(v, e), length_and_angle_reference(v, e)
        torch.testing.assert_close(ours, expected)
        # a row's gradient is as large as 1/n: compared in its own units
        found, wanted = gradients(ours, v, e), gradients(expected, v, e)
        n = expected[0].detach()
        torch.testing.assert_close(found[0] * n, wanted[0] * n, rtol=1e-4, atol=1e-5 * max(1, size))
        torch.testing.assert_close(found[1], wanted[1], rtol=1e-4, atol=1e-4)


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
