"""Options of models and training on the command line: each is a field of `Settings` and keeps its default."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from wlhn.errors import InputError


def _option(help_text: str, default: str = "") -> typer.models.OptionInfo:
    return typer.Option(help=help_text, show_default=default or False)


Model = Annotated[str, typer.Option("--model", help="A registered model: wlhn, gin, …")]
HiddenChannels = Annotated[int | None, _option("Width of the layers, dimension of the ball.", "64")]
NumLayers = Annotated[int | None, _option("Rounds of message passing.", "3")]
Dropout = Annotated[float | None, _option("Dropout in the head.", "0.0")]
Head = Annotated[str | None, _option("euclidean or hyperbolic.", "euclidean")]
EdgeFeatures = Annotated[bool | None, _option("Whether the model sees labels or features of edges.", "False")]
Tau = Annotated[float | None, _option("Length of the tree's edges (wlhn).", "1.0")]
Directions = Annotated[str | None, _option("relu or whitened (wlhn).", "relu")]
Readout = Annotated[str | None, _option("hyperbolic, both or all (wlhn).", "hyperbolic")]
LearningRate = Annotated[float | None, _option("Step size of the optimizer.", "0.001")]
Optimizer = Annotated[str | None, _option("adam or riemannian-adam.", "adam")]
WeightDecay = Annotated[float | None, _option("L2 penalty.", "0.0")]
BatchSize = Annotated[int | None, _option("Graphs in a batch.", "128")]
Epochs = Annotated[int | None, _option("Epochs at most.", "300")]
Patience = Annotated[int | None, _option("Epochs without improvement on the validation items.", "50")]
Degree = Annotated[str | None, _option("How degrees enter: scalar, onehot or log.", "scalar")]
Standardise = Annotated[bool | None, _option("Whether numeric features get mean 0 and deviation 1.", "True")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Any setting by its name, as often as wanted; those without a flag are monitor; learn_tau, learn_epsilon, "
        "frozen_encoder (wlhn); attention_heads (gat); aggregation (graphsage); hops (mixhop); curvature, "
        "learn_curvature, attention, local_aggregation (hgcn-…); latent (geom-gcn); anchor_sets, anchor_hops (pgnn); "
        "sort_nodes (dgcnn); clusters (diffpool); sum_first (structure-agnostic); svm_penalty (wl-svm); trees "
        "(morgan-forest, neighbourhood-trees).",
    ),
]
Out = Annotated[Path, typer.Option("--out", help="The file to write.")]
Grid = Annotated[str, typer.Option("--grid", help="lean, paper, or a JSON file of settings to choose from.")]
Splits = Annotated[
    int | None,
    typer.Option("--splits", min=1, help="Only the first splits; the results say so.", show_default="all"),
]
FinalRuns = Annotated[
    int | None, typer.Option("--final-runs", min=1, help="Final runs on each split.", show_default="as the protocol")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Try jobs again that failed.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Local processes at work; numbers do not depend on it.", show_default="1"),
]
ExecutorKind = Annotated[
    str, typer.Option("--executor", help="Who does the jobs: local processes, or a ray cluster (as many as its CPUs).")
]
Address = Annotated[
    str | None,
    typer.Option("--address", help="Of the Ray cluster, HOST:PORT.", show_default="one found here, else a new one"),
]


def set_beside(flags: Mapping[str, Any], texts: list[str] | None) -> dict[str, Any]:
    """The settings that `--set` gives, none of which has a flag here that was used."""
    from wlhn.training.settings import parse_settings

    values = parse_settings(texts or [])
    for name in flags.keys() & values.keys():
        raise InputError(f"{name}: given by --{name.replace('_', '-')} and by --set, expected one of them")
    return values
