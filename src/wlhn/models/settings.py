"""What one can say about a model, whichever it is. Each registered model names the options that it takes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from wlhn.errors import InputError


@dataclass(frozen=True)
class ModelSettings:
    """A model by name, its size, and its options; the models themselves say what an option means.

    >>> ModelSettings(num_layers=2).hidden_channels
    64
    >>> ModelSettings(dropout=1.5)
    Traceback (most recent call last):
    wlhn.errors.InputError: dropout: expected a share from 0 to below 1, found 1.5
    """

    model: str = "wlhn"
    hidden_channels: int = 64
    num_layers: int = 3
    dropout: float = 0.0
    head: Literal["euclidean", "hyperbolic"] = "euclidean"
    edge_features: bool = False  # whether the model sees labels or features of edges
    tau: float = 1.0
    learn_tau: bool = False
    learn_epsilon: bool = False
    directions: Literal["relu", "whitened"] = "relu"
    readout: Literal["hyperbolic", "both", "all"] = "hyperbolic"
    frozen_encoder: bool = False
    attention_heads: int = 4
    aggregation: Literal["mean", "max", "sum"] = "mean"
    hops: int = 2
    curvature: float = 1.0
    learn_curvature: bool = True
    attention: bool = False
    local_aggregation: bool = False
    latent: Literal["isomap", "poincare"] = "isomap"
    anchor_sets: int = 32
    anchor_hops: int = 0
    sort_nodes: int = 30
    clusters: int = 10
    sum_first: bool = False
    svm_penalty: float = 1.0
    trees: int = 500

    def __post_init__(self) -> None:
        positive(hidden_channels=self.hidden_channels, num_layers=self.num_layers, tau=self.tau)
        positive(attention_heads=self.attention_heads, curvature=self.curvature, anchor_sets=self.anchor_sets)
        positive(clusters=self.clusters, svm_penalty=self.svm_penalty, trees=self.trees)
        not_negative(hops=self.hops, anchor_hops=self.anchor_hops)
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout: expected a share from 0 to below 1, found {self.dropout}")
        one_of("head", self.head, "euclidean", "hyperbolic")
        one_of("directions", self.directions, "relu", "whitened")
        one_of("aggregation", self.aggregation, "mean", "max", "sum")
        one_of("latent", self.latent, "isomap", "poincare")
        one_of("readout", self.readout, "hyperbolic", "both", "all")


def positive(**values: float) -> None:
    """Each of these is above 0, or an `InputError` names it."""
    for name, value in values.items():
        if not 0 < value < float("inf"):
            raise InputError(f"{name}: expected a number above 0, found {value}")


def not_negative(**values: float) -> None:
    """Each of these is 0 or above, or an `InputError` names it."""
    for name, value in values.items():
        if not 0 <= value < float("inf"):
            raise InputError(f"{name}: expected 0 or more, found {value}")


def one_of(name: str, value: Any, *known: Any) -> None:
    """The value is a known one, or an `InputError` lists them."""
    if value not in known:
        raise InputError(f"{name}: expected {' or '.join(map(str, known))}, found {value!r}")


def changed(settings: Any) -> dict[str, Any]:
    """The fields of a settings dataclass that are not at their default.

    >>> changed(ModelSettings(tau=2.0))
    {'tau': 2.0}
    """
    return {f.name: getattr(settings, f.name) for f in fields(settings) if getattr(settings, f.name) != f.default}
