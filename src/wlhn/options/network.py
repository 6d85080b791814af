"""The options that every network takes, whatever its layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wlhn.options.option import Options, option

HeadKind = Literal["euclidean", "hyperbolic", "linear"]


@dataclass(frozen=True)
class NetworkOptions(Options):
    """The size of a network and its head."""

    hidden_channels: int = option(64, "Width of the layers; for hyperbolic models also the dimension.", at_least=1)
    num_layers: int = option(3, "Message passing layers; T layers see T hops.", at_least=0)
    dropout: float = option(
        0.0, "Share of values that dropout sets to zero, in the head and where layers have it.", at_least=0, below=1
    )
    input_dropout: float = option(
        0.0,
        "Share of input features that dropout sets to zero: for bags of words and few training nodes.",
        at_least=0,
        below=1,
    )
    head: HeadKind = option(
        "euclidean",
        "The layers between a representation and the output: a perceptron, its hyperbolic counterpart, or none but "
        "the last.",
    )
