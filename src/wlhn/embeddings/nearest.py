"""The nearest of many points in hyperbolic space, exactly: every distance is computed, some rows at a time.

Points are in polar form, so those near the boundary are no worse than others.
"""

from __future__ import annotations

import torch
from torch import Tensor

from wlhn.errors import InputError
from wlhn.hyperbolic.polar import half_angle_distance, polar_distance

ROWS_AT_ONCE = 1 << 16


def distances_to(r: Tensor, e: Tensor, query_r: Tensor, query_e: Tensor) -> Tensor:
    """Distances (n,) of points (r (n,), e (n, d)) to one point (r (), e (d,)).

    >>> r, e = torch.tensor([1.0, 2.0]), torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    >>> distances_to(r, e, r[0], e[0]).round(decimals=4)
    tensor([0., 3.])
    """
    parts = zip(r.split(ROWS_AT_ONCE), e.split(ROWS_AT_ONCE), strict=True)
    return torch.cat([half_angle_distance(a, query_r, (b - query_e).norm(dim=1) / 2) for a, b in parts])


def nearest(r: Tensor, e: Tensor, query_r: Tensor, query_e: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(positions, distances) of the nearest points, nearest first, ties in the order of positions.

    >>> r, e = torch.tensor([1.0, 2.0, 1.5]), torch.tensor([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    >>> nearest(r, e, r[0], e[0], count=2)[0]
    tensor([0, 2])
    """
    if len(r) != len(e):
        raise InputError(f"nearest: expected a direction for each of {len(r)} points, found {len(e)}")
    if not len(r) or count < 1:
        return torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=r.dtype)
    distance = distances_to(r, e, query_r, query_e)
    reach = distance.kthvalue(min(count, len(r))).values
    within = torch.nonzero(distance <= reach)[:, 0]
    chosen = within[torch.sort(distance[within], stable=True).indices[:count]]
    return chosen, polar_distance(r[chosen], e[chosen], query_r, query_e)
