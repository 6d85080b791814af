"""The first layer of a model: numbers through a Linear, categories through embeddings.

Dropout on features is part of it, because only the layer knows which numbers are worth a draw: where it passes over
zeros, those that are left; of categories, the ones among the zeros of their one-hot rows.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary

from wlhn.batching.colour_batch import Counts
from wlhn.errors import InputError
from wlhn.loops import parallel
from wlhn.nn.dropout import Dropout
from wlhn.ops.sums import product

Channels = int | tuple[int, ...]  # so many numbers, or categorical columns of these sizes


def input_encoder(in_channels: Channels, channels: int, dropout: float = 0.0) -> nn.Module:
    """A Linear for `in_channels` numbers, or the sum of one embedding for each categorical column of these sizes.

    In training, `dropout` is the share of features that are set to zero, the others 1/(1 − dropout) times as large.
    """
    if isinstance(in_channels, int):
        return PassingZeros(in_channels, channels, dropout)
    return CategoryEncoder(in_channels, channels, dropout)


WIDE, FULL = 256, 0.2  # columns from which, and share of other numbers up to which, zeros are worth passing over


class PassingZeros(nn.Linear):
    """A Linear that passes over the zeros of wide rows, as bags of words have: twenty times as fast where 99 % are.

    >>> x = torch.zeros(3, 500)
    >>> x[1, 7] = 1.0
    >>> layer = PassingZeros(500, 2)
    >>> torch.equal(layer(x)[1], layer.bias + layer.weight[:, 7])
    True
    """

    def __init__(self, in_channels: int, channels: int, dropout: float = 0.0) -> None:
        super().__init__(in_channels, channels)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        rows = nonzero_entries(x)
        if rows is None:
            return super().forward(self.dropout(x))
        if self.training and self.dropout.p:
            left = self.dropout(rows.value).numpy()
            rows = Counts.from_rows(rows.ptr.numpy(), rows.index.numpy(), left, x.shape[1])
        return product(rows, self.weight.mT.contiguous()) + self.bias


def nonzero_entries(x: Tensor) -> Counts | None:
    """The rows of a tensor without their zeros, where there are enough of these; None elsewhere.

    They are kept as long as the tensor, and as long as it does not change: a batch of whole graphs comes every epoch.
    """
    if x.ndim != 2 or x.shape[1] < WIDE or x.requires_grad or not parallel.compiled_for(x):
        return None
    version, entries = _entries.get(x, (None, None))
    if version != x._version:
        values = x.detach().numpy()
        entries = None
        if np.count_nonzero(values) <= FULL * values.size:
            from scipy.sparse import csr_array

            rows = csr_array(values)
            entries = Counts.from_rows(rows.indptr, rows.indices, rows.data, x.shape[1])
        _entries[x] = x._version, entries
    return entries


_entries = WeakTensorKeyDictionary()


class CategoryEncoder(nn.Module):
    """Σ over columns of an embedding of the category (as OGB encodes atoms and bonds); −1, unknown, adds nothing.

    >>> CategoryEncoder((3, 2), channels=4)(torch.tensor([[2, 0], [1, 1]])).shape
    torch.Size([2, 4])
    """

    start: Tensor
    size: Tensor

    def __init__(self, sizes: tuple[int, ...], channels: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.sizes, self.dropout = sizes, Dropout(dropout)
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
            raise InputError(f"x, column {column}: categories must be 0 to {self.sizes[column] - 1}")
        unknown = x < 0
        rows = self.embedding(torch.where(unknown, 0, x) + self.start)
        if self.training and self.dropout.p:
            rows = rows * self.dropout(torch.ones_like(rows[..., :1]))  # as one-hot rows would lose their ones
        return (rows.masked_fill(unknown[..., None], 0) if unknown.any() else rows).sum(-2)


def check_width(x: Tensor, in_channels: Channels) -> None:
    """Features as wide as the model was made for, or an `InputError`."""
    width = in_channels if isinstance(in_channels, int) else len(in_channels)
    if x.ndim != 2 or x.shape[1] != width:
        raise InputError(f"x: expected {width} features for each node, found shape {tuple(x.shape)}")
