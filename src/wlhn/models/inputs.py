"""The first layer of a model: numbers through a Linear, categories through embeddings."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from wlhn.errors import InputError

Channels = int | tuple[int, ...]  # so many numbers, or categorical columns of these sizes


def input_encoder(in_channels: Channels, channels: int) -> nn.Module:
    """A Linear for `in_channels` numbers, or the sum of one embedding for each categorical column of these sizes."""
    return nn.Linear(in_channels, channels) if isinstance(in_channels, int) else CategoryEncoder(in_channels, channels)


class CategoryEncoder(nn.Module):
    """Σ over columns of an embedding of the category (as OGB encodes atoms and bonds); −1, unknown, adds nothing.

    >>> CategoryEncoder((3, 2), channels=4)(torch.tensor([[2, 0], [1, 1]])).shape
    torch.Size([2, 4])
    """

    start: Tensor
    size: Tensor

    def __init__(self, sizes: tuple[int, ...], channels: int) -> None:
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Embedding(sum(sizes), channels)
        nn.init.xavier_uniform_(self.embedding.weight)
        self.register_buffer("start", torch.tensor([0, *sizes[:-1]]).cumsum(0), persistent=False)
        self.register_buffer("size", torch.tensor(sizes), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1] != len(self.sizes) or x.is_floating_point():
            raise InputError(f"x: expected {len(self.sizes)} integer columns, found {tuple(x.shape)} of {x.dtype}")
        beyond = (x < -1) | (x >= self.size)
        if beyond.any():
            column = int(beyond.any(0).int().argmax())
            raise InputError(f"x, column {column}: expected categories 0 to {self.sizes[column] - 1}")
        unknown = x < 0
        rows = self.embedding(torch.where(unknown, 0, x) + self.start)
        return (rows.masked_fill(unknown[..., None], 0) if unknown.any() else rows).sum(-2)


def check_width(x: Tensor, in_channels: Channels) -> None:
    """Features as wide as the model was made for, or an `InputError`."""
    width = in_channels if isinstance(in_channels, int) else len(in_channels)
    if x.ndim != 2 or x.shape[1] != width:
        raise InputError(f"x: expected {width} features for each node, found shape {tuple(x.shape)}")
