"""Was the arithmetic sound? How far out points lie, how many rows are dead, which range of floats is used, and where
the first NaN arose, if one did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from wlhn.batching.colour_batch import ColourBatch
from wlhn.errors import InputError
from wlhn.nn.capabilities import HasPoints, networks_of


@dataclass(frozen=True)
class Numerics:
    """The numerical report of a run, over training items at its end (of machines, validation items)."""

    largest_radius: float | None  # hyperbolic distance from the root; None for models without points
    dead_rows: float | None  # share of nodes whose features are all zero at some depth
    smallest_value: float  # the least absolute value above 0 that a layer gave
    largest_value: float
    first_nan: str | None = None  # epoch, batch and place


@torch.no_grad()
def numerical_report(model: nn.Module, batches: Iterable[Any], first_nan: str | None = None) -> Numerics:
    """The report of a trained model on some batches."""
    low, high, radius, dead, rows = torch.inf, 0.0, 0.0, 0.0, 0.0

    def watch(name: str, output: Tensor) -> None:
        nonlocal low, high
        size = output.abs()
        size = size[torch.isfinite(size) & (size > 0)]
        if len(size):
            low, high = min(low, float(size.min())), max(high, float(size.max()))

    model.eval()
    for batch in batches:
        with watching(model, watch):
            batch.outputs(model)
        for network in networks_of(model):
            if not isinstance(network, HasPoints):
                continue
            inputs: ColourBatch = batch.inputs
            weights = [inputs.weight, *(level.weight for level in inputs.levels)]
            for (z, h), weight in zip(network.levels(inputs), weights, strict=True):
                share = torch.ones(len(h)) if weight is None else weight.to(h.dtype)
                radius = max(radius, float(z.r.max()))
                dead += float(share[(h == 0).all(dim=1)].sum())
                rows += float(share.sum())
    if not rows:
        return Numerics(None, None, _finite(low), high, first_nan)
    return Numerics(_finite(radius), dead / rows, _finite(low), high, first_nan)


def check_finite(outputs: Tensor, what: str, items: Sequence[int]) -> None:
    """Answers for items are finite numbers, or an `InputError` names the first item whose answer is not."""
    known = torch.isfinite(outputs).all(dim=1)
    if not bool(known.all()):
        raise InputError(
            f"{what} {items[int((~known).nonzero()[0])]}: the model's answer is not a finite number; look for features "
            "far beyond those of the training items, or standardise them"
        )


def first_nan(model: nn.Module, batch: Any) -> str:
    """The first part of a model to give something that is not a finite number for a batch."""
    for name, parameter in model.named_parameters():
        if not torch.isfinite(parameter).all():
            return f"parameter {name}"
    found: list[str] = []

    def watch(name: str, output: Tensor) -> None:
        if not torch.isfinite(output).all():
            found.append(name)

    with torch.no_grad(), watching(model, watch):
        batch.outputs(model)
    return f"output of {found[0]}" if found else "the loss"


@contextmanager
def watching(model: nn.Module, watch: Callable[[str, Tensor], None]) -> Iterator[None]:
    """Call watch(name, output) for each module of a model, innermost first, while the block runs."""

    def hook(name: str) -> Callable[..., None]:
        def see(module: nn.Module, inputs: Any, output: Any) -> None:
            first = output[0] if isinstance(output, tuple) else output  # of a layer with its points, the features
            if isinstance(first, Tensor):
                watch(name, first)

        return see

    handles = [module.register_forward_hook(hook(name or "the model")) for name, module in model.named_modules()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _finite(value: float) -> float:
    return value if value < torch.inf else 0.0
