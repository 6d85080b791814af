"""What is minimised, by task; and what outputs mean, by task.

Targets are those of `wlhn.data.Dataset`: class indices (−1 where unknown), 0/1 or numbers (NaN where unknown).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from wlhn.errors import InputError


def loss(task: str, outputs: Tensor, y: Tensor, weight: Tensor | None = None) -> Tensor:
    """Mean cross-entropy, binary cross-entropy over known labels, or squared error over known numbers.

    `weight` multiplies the terms of each class (`wlhn.training.balance`); the mean is over items, so that parts of a
    batch add up.

    >>> unknown = float("nan")
    >>> loss("binary", torch.zeros(2, 2), torch.tensor([[1.0, unknown], [0.0, 1.0]]))
    tensor(0.6931)
    """
    if task == "classification":
        if weight is None:
            return F.cross_entropy(outputs, y)
        return F.cross_entropy(outputs, y, weight=weight, reduction="none").mean()
    y = y.reshape(outputs.shape)
    known = ~torch.isnan(y)
    if weight is not None:
        terms = F.binary_cross_entropy_with_logits(outputs, torch.where(known, y, 0.0), reduction="none")
        return (terms * torch.where(y == 1, weight[1], weight[0]))[known].sum() / max(int(known.sum()), 1)
    error = F.binary_cross_entropy_with_logits if task == "binary" else F.mse_loss
    total = error(outputs[known], y[known], reduction="sum")
    return total / max(int(known.sum()), 1)


def num_known_targets(y: Tensor) -> int:
    """How many terms the mean of a loss has: all targets but unknown ones.

    >>> num_known_targets(torch.tensor([[1.0, float("nan")], [0.0, 1.0]])), num_known_targets(torch.tensor([2, 0, 1]))
    (3, 3)
    """
    return y.numel() - int(torch.isnan(y).sum())


def check_targets(task: str, y: NDArray[Any], out_channels: int) -> Tensor:
    """Targets as a tensor that fits a head of this width, or an `InputError` before any step is made.

    >>> check_targets("classification", np.array([0, 3]), out_channels=2)
    Traceback (most recent call last):
    wlhn.errors.InputError: item 1: class index must be 0 to 1, found 3
    """
    if task not in ("classification", "binary", "regression"):
        raise InputError(
            "the data have no targets to train on; name their column with `--role NAME=target` "
            "(a table of edges has none: put a nodes.csv with targets beside an edges.csv)"
        )
    if task == "classification":
        if y.ndim != 1 or not np.issubdtype(y.dtype, np.integer):
            raise InputError(f"targets: expected one class index for each item, found {y.dtype} of shape {y.shape}")
        beyond = np.flatnonzero((y < -1) | (y >= out_channels))
        if len(beyond):
            raise InputError(f"item {beyond[0]}: class index must be 0 to {out_channels - 1}, found {y[beyond[0]]}")
        return torch.from_numpy(np.array(y, dtype=np.int64))
    values = np.array(y, dtype=np.float32).reshape(len(y), -1)
    if values.shape[1] != out_channels:
        raise InputError(f"targets: expected {out_channels} for each item, found {values.shape[1]}")
    wrong = np.isinf(values) | ((task == "binary") & ~np.isnan(values) & (values != 0) & (values != 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        wanted = "0 or 1" if task == "binary" else "a finite number"
        raise InputError(f"item {row}, target {column}: expected {wanted}, found {values[row, column]}")
    return torch.from_numpy(values)


def probabilities(task: str, outputs: Tensor) -> Tensor:
    """Outputs as probabilities: of classes, or of each task's 1; numbers of a regression stay what they are.

    >>> probabilities("binary", torch.zeros(1, 2))
    tensor([[0.5000, 0.5000]])
    """
    match task:
        case "classification":
            return torch.softmax(outputs, dim=-1)
        case "binary":
            return torch.sigmoid(outputs)
    return outputs
