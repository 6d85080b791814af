"""The models one can ask for by name.

A model is a class `Model(in_channels, hidden_channels, num_layers, out_channels, *, level, head, dropout,
edge_channels, …)` whose further keywords are its `options`. One that eats "nodes" has PyG's
`forward(x, edge_index, batch=None, edge_attr=None)`; one that eats "colours" has also `run(ColourBatch)`, with the same
result. Classes are named, not imported, because PyG takes seconds to import and WLHN does without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from torch import nn

from wlhn.errors import InputError
from wlhn.models.settings import ModelSettings, changed, one_of

COMMON = ("model", "hidden_channels", "num_layers", "dropout", "head", "edge_features")


@dataclass(frozen=True)
class Registered:
    """Where a model's class lies, which batches it eats, and which of `ModelSettings`' options it takes."""

    place: str  # module:class
    eats: Literal["colours", "nodes"]
    about: str
    options: tuple[str, ...] = ()


MODELS: dict[str, Registered] = {
    "wlhn": Registered(
        "wlhn.models.wlhn:WLHN",
        "colours",
        "Weisfeiler-Leman Hyperbolic Network",
        ("tau", "learn_tau", "learn_epsilon", "directions", "readout", "frozen_encoder"),
    ),
    "gin": Registered("wlhn.models.gin:GIN", "nodes", "Graph Isomorphism Network (Xu et al. 2019)", ("learn_epsilon",)),
}


def registered(name: str) -> Registered:
    """The entry of a model, or an `InputError` that lists the known ones."""
    one_of("model", name, *MODELS)
    return MODELS[name]


def check_options(settings: ModelSettings) -> None:
    """No option is set that the model does not take: it would be ignored, and nobody told.

    >>> check_options(ModelSettings(model="gin", tau=2.0))
    Traceback (most recent call last):
    wlhn.errors.InputError: tau: gin takes no such option, expected learn_epsilon
    """
    known = registered(settings.model).options
    asked = {name for name in changed(settings) if name in ModelSettings.__dataclass_fields__}
    for name in sorted(asked - set(COMMON) - set(known)):
        raise InputError(f"{name}: {settings.model} takes no such option, expected {', '.join(known) or 'none'}")


def build_model(
    settings: ModelSettings,
    in_channels: int | tuple[int, ...],
    out_channels: int,
    level: Literal["graph", "node"] = "graph",
    edge_channels: int | tuple[int, ...] = 0,
) -> nn.Module:
    """The model that settings describe.

    >>> type(build_model(ModelSettings(), in_channels=7, out_channels=2)).__name__
    'WLHN'
    """
    entry = registered(settings.model)
    module, name = entry.place.split(":")
    model: nn.Module = getattr(import_module(module), name)(
        in_channels,
        settings.hidden_channels,
        settings.num_layers,
        out_channels,
        level=level,
        head=settings.head,
        dropout=settings.dropout,
        edge_channels=edge_channels,
        **{option: getattr(settings, option) for option in entry.options},
    )
    return model
