"""A model whose batches are spread over workers: statistics of a batch are those of all its parts.

Rows are weighed by their nodes and sums are added up before they are divided, so N workers with a part each take the
statistics that one worker with the whole batch takes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from wlhn.nn.gin_layer import Norm
from wlhn.nn.whitening import Whitening
from wlhn.ops.sums import Everyone


def normalise_together(model: nn.Module, everyone: Everyone) -> None:
    """Make all that a model takes from a batch as a whole, BatchNorm and whitening, count the rows of everyone.

    Names in its `state_dict` stay what they are.

    >>> model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    >>> normalise_together(model, everyone=lambda part: part)
    >>> type(model[1]).__name__, list(model.state_dict())[2:4]
    ('BatchNormTogether', ['1.weight', '1.bias'])
    """
    for module in list(model.modules()):
        if isinstance(module, Norm | Whitening):
            module.everyone = everyone
        if "allow_single_element" in vars(module):  # PyG's, which would leave the others waiting for a lonely node
            vars(module)["allow_single_element"] = False
        for name, child in module.named_children():
            if isinstance(child, nn.BatchNorm1d):
                setattr(module, name, BatchNormTogether(child, everyone))


class BatchNormTogether(nn.Module):
    """`nn.BatchNorm1d` over the rows of everyone, with its weights under its names."""

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def __init__(self, norm: nn.BatchNorm1d, everyone: Everyone) -> None:
        super().__init__()
        assert norm.momentum is not None
        self.eps, self.momentum, self.everyone = norm.eps, norm.momentum, everyone
        self.weight, self.bias = norm.weight, norm.bias
        for name, buffer in norm.named_buffers():
            self.register_buffer(name, buffer)

    def forward(self, x: Tensor) -> Tensor:
        mean, var = self.running_mean, self.running_var
        if self.training:
            count = self.everyone(torch.tensor(float(len(x)), dtype=x.dtype, device=x.device))
            if count > 1:  # a single node has no spread: running statistics serve it
                mean = self.everyone(x.sum(0)) / count
                var = self.everyone(((x - mean) ** 2).sum(0)) / count
                with torch.no_grad():
                    self.num_batches_tracked += 1
                    self.running_mean.lerp_(mean, self.momentum)
                    self.running_var.lerp_(var * count / (count - 1), self.momentum)
        return (x - mean) * torch.rsqrt(var + self.eps) * self.weight + self.bias
