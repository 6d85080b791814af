"""The factor that makes held-out items least surprising, against trying thousands of factors."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from wlhn.models.machines.calibration import FURTHEST, calibration
from wlhn.training.loss import loss


def surprise(log_s: float, outputs: Tensor, y: Tensor, task: str) -> float:
    known = (~torch.isnan(y)).sum().item()
    return known * loss(task, float(np.exp(log_s)) * outputs, y).item() + log_s**2 / 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("task", ["classification", "binary", "regression"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_nothing_is_less_surprising(task: str, size: float, seed: int) -> None:
    """Also for outputs so small that the prior has a valley of its own."""
    draw = torch.Generator().manual_seed(seed)
    outputs = torch.randn(60, 3, generator=draw, dtype=torch.float64)
    y = (outputs + 0.3 * torch.randn(60, 3, generator=draw, dtype=torch.float64)) * 2
    y = {"classification": y.argmax(1), "binary": (y > 0).double(), "regression": y}[task]
    found = np.log(calibration(size * outputs, y, partial(loss, task)))
    tried = [surprise(log_s, size * outputs, y, task) for log_s in np.linspace(-8, 8, 1601)]
    assert surprise(found, size * outputs, y, task) <= min(tried) + 1e-6


def test_unknown_targets_do_not_count() -> None:
    outputs, y = torch.tensor([[2.0], [-1.0], [3.0]]), torch.tensor([[1.0], [0.0], [1.0]])
    more = torch.cat([outputs, torch.full((997, 1), 5.0)]), torch.cat([y, torch.full((997, 1), torch.nan)])
    alone, beside = (calibration(*given, partial(loss, "binary")) for given in ((outputs, y), more))
    assert alone == pytest.approx(beside, rel=1e-4)
    assert alone < 5  # all are right, but three are few


def test_the_factor_stays_in_the_range_that_a_folder_may_hold() -> None:
    """Outputs that are tiny and always right would have an even larger one."""
    y = torch.tensor([0, 1]).repeat(500)
    outputs = torch.stack([1.0 - 2 * y, 2.0 * y - 1], dim=1) * 3e-4
    assert 0.9 * np.exp(FURTHEST) < calibration(outputs, y, partial(loss, "classification")) <= np.exp(FURTHEST)
