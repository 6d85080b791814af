"""What each colour adds to an output.

The readout is a sum, h_G = Σ_i n_i x_i over the colours i of a graph, so by integrated gradients along the ray from the
zero representation to h_G,

    output(h_G) − output(0) = Σ_i n_i x_i · g,        g = ∫₀¹ ∇output(α h_G) dα.

For a linear head g is its weights. For any other, g is integrated piece by piece (Gauss-Legendre): the two ends of a
piece say exactly what it must add up to, so a piece that misses it is halved until it doesn't. A ReLU network is linear
between kinks, so only the pieces around kinks shrink, and the division is exact up to rounding. What the model's own
rounding leaves (it computes in float32) is made good by the smallest change of g that does.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor, nn

TOLERANCE = 1e-7  # what a piece may miss, relative to the outputs and its length
SHORTEST = 1e-3  # shorter pieces, at kinks, are few and may miss as much as one of this length
ROUNDS, PIECES = 40, 1024  # a piece is never shorter than 2⁻⁴⁰; more pieces than this mean noise, not kinks
NODES, WEIGHTS = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(5))


def mean_gradient(head: nn.Module, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(∫₀¹ ∇output(α h) dα (outputs, width), output(h), output(0)), in float64, for a single representation h (width,).

    >>> linear = nn.Linear(3, 2)
    >>> gradient, there, base = mean_gradient(linear, torch.tensor([1.0, 2.0, 3.0]))
    >>> torch.allclose(gradient, linear.weight.double(), atol=1e-6)
    True
    """
    with torch.no_grad():
        own = h.to(next(head.parameters()).dtype)[None]  # alone, as rounding can depend on the company
        there, base = (head.eval()(row)[0].double() for row in (own, torch.zeros_like(own)))
    head = copy.deepcopy(head).double().requires_grad_(False)
    h = h.detach().double()

    def output(alpha: Tensor) -> Tensor:
        return head(alpha[:, None] * h)

    ends = output(torch.tensor([0.0, 1.0], dtype=torch.float64))
    scale = 1 + ends.abs().max()
    total = torch.zeros(ends.shape[1], len(h), dtype=torch.float64)
    start, width = torch.zeros(1, dtype=torch.float64), 1.0
    for round_ in range(ROUNDS + 1):
        at = start[:, None] + width * (1 + NODES) / 2  # (pieces, nodes)
        gradient = _gradients(head, at.reshape(-1, 1) * h).reshape(*at.shape, *total.shape)
        mean = (WEIGHTS[:, None, None] / 2 * gradient).sum(dim=1)  # (pieces, outputs, width)
        missed = (output(start + width) - output(start) - width * mean @ h).abs()
        done = (missed <= TOLERANCE * scale * max(width, SHORTEST)).all(dim=1)
        if round_ == ROUNDS or 2 * int((~done).sum()) > PIECES:
            done[:] = True
        total += width * mean[done].sum(dim=0)
        start, width = start[~done], width / 2
        start = torch.cat([start, start + width])
        if not len(start):
            break
    return total, there, base


def _gradients(head: nn.Module, at: Tensor) -> Tensor:
    """∇output at each row, (rows, outputs, width)."""
    at = at.requires_grad_(True)
    outputs = head(at)
    columns = [torch.autograd.grad(outputs[:, k].sum(), at, retain_graph=True)[0] for k in range(outputs.shape[1])]
    return torch.stack(columns, dim=1)


def contributions(
    head: nn.Module, rows: Tensor, count: Tensor, h: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """(what each colour adds to each output (colours, outputs), output(h_G), output(0)); n_i = count, x_i = rows.

    `h` is h_G as the model itself has summed it, where its rounding shall be kept.

    >>> head = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> each, there, base = contributions(head, torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([2, 1]))
    >>> bool((each.sum(0) + base - there).abs().max() < 1e-6)
    True
    """
    weighted = rows.detach().double() * count.double()[:, None]
    total = weighted.sum(dim=0)
    gradient, there, base = mean_gradient(head, total if h is None else h)
    missing = there - base - gradient @ total
    gradient = gradient + missing[:, None] * total / total.square().sum().clamp_min(1e-300)
    return weighted @ gradient.T, there, base
