"""One level of DiffHypCon against the GIN MLP beside it: forward and backward, the same rows, one thread.

The level includes the parents' gather and the scatter of their gradients, two children for each parent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from wlhn.bench.timing import Measured, alternate
from wlhn.errors import InputError
from wlhn.loops.parallel import torch_threads
from wlhn.ops.level import Points, next_level, root_level


@dataclass(frozen=True)
class Construction(Measured):
    """Seconds of one forward and backward pass; ratios to the MLP, so less is better."""

    rows: int
    dimension: int
    seconds_compiled: float
    seconds_plain: float
    seconds_mlp: float

    @property
    def ratio_to_mlp(self) -> float:
        return self.seconds_compiled / self.seconds_mlp

    @property
    def plain_ratio_to_mlp(self) -> float:
        return self.seconds_plain / self.seconds_mlp


def construction(rows: int = 20_000, dimension: int = 64, repeats: int = 30, seed: int = 0) -> Construction:
    """Time the compiled level, the plain torch level, and Linear-ReLU-BatchNorm-Linear-ReLU."""
    if rows < 2 or rows % 2 or dimension < 1:
        raise InputError(f"rows and dimension: expected an even and a positive number, found {rows} and {dimension}")
    torch.manual_seed(seed)
    parent, child_ptr = torch.arange(rows) // 2, torch.arange(0, rows + 1, 2)
    h = torch.rand(rows, dimension, requires_grad=True)
    start = root_level(torch.rand(rows // 2, dimension), 1.0)
    middle = next_level(torch.rand(rows // 2, dimension), start, torch.arange(rows // 2), 1.0)
    above = Points(*(x.detach().requires_grad_() for x in middle))
    after = Points(torch.randn(rows), torch.randn(rows, dimension), torch.randn(rows, dimension))
    mlp = nn.Sequential(
        nn.Linear(dimension, dimension),
        nn.ReLU(),
        nn.BatchNorm1d(dimension),
        nn.Linear(dimension, dimension),
        nn.ReLU(),
    )

    def level(child_ptr: Tensor | None) -> Callable[[], object]:
        def run() -> object:
            out = next_level(h, above, parent, 1.0, child_ptr)
            return torch.autograd.grad(list(out), [h, *above], list(after))

        return run

    def layers() -> object:
        return torch.autograd.grad(mlp(h), [h, *mlp.parameters()], after.e)

    contestants = {"seconds_compiled": level(child_ptr), "seconds_plain": level(None), "seconds_mlp": layers}
    with torch_threads(1):
        return Construction(rows, dimension, **alternate(contestants, repeats, warm_up=2))
