"""The nearest of many points in hyperbolic space, exactly: every distance is computed, some rows at a time.

Points are in polar form, so those near the boundary are no worse than others.
"""

from __future__ import annotations

import torch
from torch import Tensor

from wlhn.errors import InputError
from wlhn.hyperbolic.polar import half_angle_distance

ROWS_AT_ONCE = 1 << 13


def distances_to(r: Tensor, e: Tensor, query_r: Tensor, query_e: Tensor) -> Tensor:
    """Distances (n,) of points (r (n,), e (n, d)) to one point (r (), e (d,)).

    >>> r, e = torch.tensor([1.0, 2.0]), torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    >>> distances_to(r, e, r[0], e[0]).round(decimals=4)
    tensor([0., 3.])
    """
    if len(r) != len(e):
        raise InputError(f"distances: expected a direction for each of {len(r)} points, found {len(e)}")
    parts = zip(r.split(ROWS_AT_ONCE), e.split(ROWS_AT_ONCE), strict=True)
    return torch.cat([half_angle_distance(a, query_r, (b - query_e).norm(dim=1) / 2) for a, b in parts])


def nearest(distance: Tensor, count: int) -> Tensor:
    """Positions of the smallest distances, smallest first, ties in the order of positions.

    >>> nearest(torch.tensor([3.0, 1.0, 2.0, 1.0]), count=3)
    tensor([1, 3, 2])
    """
    return torch.sort(distance, stable=True).indices[: max(count, 0)]
