"""Calibrated outputs: scaled so that held-out items are the least surprising.

    s = argmin  n · loss(s z, y) + (log s)²/2

is the temperature of Guo et al. ("On calibration of modern neural networks", ICML 2017), as 1/s, for any task's loss.
The second term is a log-normal prior centred on 1. It keeps s finite where all of a few items are answered right, and
weighs nothing where items are many.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

Loss = Callable[[Tensor, Tensor], Tensor]  # (outputs, targets) → their mean loss
FURTHEST = 8.0  # from 1, as a logarithm


def calibration(outputs: Tensor, y: Tensor, loss: Loss) -> float:
    """The factor s for the outputs z of a model; unknown targets (NaN) do not count.

    >>> from torch.nn.functional import cross_entropy
    >>> z, y = torch.tensor([[0.0, 3.0]]).repeat(400, 1), torch.tensor([0] + [1] * 3).repeat(100)
    >>> sure_of_three_in_four = calibration(z, y, cross_entropy)
    >>> round(torch.softmax(sure_of_three_in_four * z, 1)[0, 1].item(), 2)
    0.75
    """
    from scipy.optimize import minimize_scalar

    known = y.numel() - int(torch.isnan(y).sum())

    def surprise(log_s: float) -> float:
        return known * float(loss(math.exp(log_s) * outputs, y)) + log_s**2 / 2

    best = minimize_scalar(surprise, bounds=(-FURTHEST, FURTHEST), method="bounded").x
    # Outputs near 0 have a second valley, at s near 1, where the prior is: see whether another one is deeper.
    near = min(np.linspace(-FURTHEST, FURTHEST, 17), key=surprise)
    if surprise(near) < surprise(best):
        beside = max(near - 1, -FURTHEST), min(near + 1, FURTHEST)
        inside = minimize_scalar(surprise, bounds=beside, method="bounded").x
        best = min(near, inside, key=surprise)  # `near` may be an end, which is not tried
    return math.exp(best)
