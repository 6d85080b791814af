"""Whitened directions: siblings spread over the sphere instead of crowding in one orthant.

ReLU features share an orthant, so the directions they give lie close together. Here the features of a level are
decorrelated first (x = L⁻¹(h − μ), with L Lᵀ the covariance over the level's nodes), freed of their part along w, and
leaned away from the parent by a fixed cosine a: ĥ = √(1 − a²) x̂ − a w. Then ĥ·w = −a, so children still leave at more
than a right angle from the parent. Statistics over batches in training, running ones in evaluation, as in BatchNorm.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from wlhn.ops.sums import Everyone, alone


class Whitening(nn.Module):
    """Features to unit directions, decorrelated over the rows of a level.

    >>> directions = Whitening(4)(torch.rand(10, 4), None)
    >>> bool(torch.allclose(directions.sum(1) / 2, torch.tensor(0.3)))  # −ĥ·w = a
    True
    """

    running_mean: Tensor
    running_covariance: Tensor
    everyone: Everyone = staticmethod(alone)  # whose rows count

    def __init__(self, channels: int, lean: float = 0.3, momentum: float = 0.1, shrinkage: float = 1e-3) -> None:
        super().__init__()
        self.lean, self.momentum, self.shrinkage = lean, momentum, shrinkage
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_covariance", torch.eye(channels))

    def forward(self, h: Tensor, weight: Tensor | None) -> Tensor:
        d, dtype = h.shape[1], h.dtype
        h = h.double()  # covariances of few colours are close to singular
        if self.training:
            share = torch.ones_like(h[:, 0]) if weight is None else weight.to(h.dtype)
            share = share / self.everyone(share.sum())
            mean = self.everyone(share @ h)
            centred = h - mean
            covariance = self.everyone(centred.T @ (share[:, None] * centred))
            with torch.no_grad():
                self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
                self.running_covariance.lerp_(covariance.to(self.running_mean.dtype), self.momentum)
        else:
            centred, covariance = h - self.running_mean, self.running_covariance.double()
        # Directions that hardly vary would be noise blown up: shrink towards a multiple of the identity.
        ridge = self.shrinkage * covariance.diagonal().mean() + 1e-8
        factor = torch.linalg.cholesky(covariance + ridge * torch.eye(d, dtype=h.dtype, device=h.device))
        x = torch.linalg.solve_triangular(factor, centred.T, upper=False).T.to(dtype)
        x = x - x.mean(1, keepdim=True)  # orthogonal to w
        still = (x * x).sum(1, keepdim=True) < 1e-12  # a level of one colour has no spread: straight away
        x = x / torch.where(still, 1.0, x).norm(dim=1, keepdim=True)
        away = 1 / math.sqrt(d)  # −w
        return torch.where(still, away, math.sqrt(1 - self.lean**2) * x + self.lean * away)
