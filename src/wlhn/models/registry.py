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
    levels: tuple[Literal["graph", "node"], ...] = ("graph", "node")  # what it predicts


HGCN = ("curvature", "learn_curvature", "attention", "local_aggregation")

MODELS: dict[str, Registered] = {
    "wlhn": Registered(
        "wlhn.models.wlhn:WLHN",
        "colours",
        "Weisfeiler-Leman Hyperbolic Network",
        ("tau", "learn_tau", "learn_epsilon", "directions", "readout", "frozen_encoder"),
    ),
    "gin": Registered("wlhn.models.gin:GIN", "nodes", "Graph Isomorphism Network (Xu et al. 2019)", ("learn_epsilon",)),
    "gcn": Registered("wlhn.models.convolutions:GCN", "nodes", "graph convolutions (Kipf & Welling 2017)"),
    "gat": Registered(
        "wlhn.models.convolutions:GAT", "nodes", "graph attention (Veličković et al. 2018)", ("attention_heads",)
    ),
    "graphsage": Registered(
        "wlhn.models.convolutions:GraphSAGE", "nodes", "GraphSAGE (Hamilton et al. 2017)", ("aggregation",)
    ),
    "mixhop": Registered(
        "wlhn.models.convolutions:MixHop",
        "nodes",
        "mixed powers of the adjacency (Abu-El-Haija et al. 2019)",
        ("hops",),
    ),
    "hgcn-poincare": Registered(
        "wlhn.models.hgcn:PoincareHGCN", "nodes", "hyperbolic graph convolutions (Chami et al. 2019), ball", HGCN
    ),
    "hgcn-hyperboloid": Registered(
        "wlhn.models.hgcn:HyperboloidHGCN", "nodes", "hyperbolic graph convolutions, hyperboloid", HGCN
    ),
    "geom-gcn": Registered(
        "wlhn.models.geom_gcn:GeomGCN",
        "nodes",
        "neighbours by direction in a latent plane (Pei et al. 2020)",
        ("latent",),
        levels=("node",),
    ),
    "pgnn": Registered(
        "wlhn.models.pgnn:PGNN",
        "nodes",
        "positions from anchor sets (You et al. 2019)",
        ("anchor_sets", "anchor_hops"),
        levels=("node",),
    ),
    "dgcnn": Registered(
        "wlhn.models.dgcnn:DGCNN", "nodes", "sort pooling (Zhang et al. 2018)", ("sort_nodes",), levels=("graph",)
    ),
    "diffpool": Registered(
        "wlhn.models.diffpool:DiffPool", "nodes", "soft clusters (Ying et al. 2018)", ("clusters",), levels=("graph",)
    ),
    "ecc": Registered("wlhn.models.ecc:ECC", "nodes", "edge-conditioned convolutions (Simonovsky & Komodakis 2017)"),
    "mlp": Registered("wlhn.models.deep_sets:MLP", "nodes", "a perceptron on nodes, blind to edges"),
    "structure-agnostic": Registered(
        "wlhn.models.deep_sets:StructureAgnostic",
        "nodes",
        "the baseline of Errica et al. 2020, blind to edges",
        ("sum_first",),
        levels=("graph",),
    ),
    "wl-svm": Registered(
        "wlhn.models.wl_svm:WLSVM",
        "nodes",
        "WL subtree kernel (GraKeL) with an SVM",
        ("svm_penalty",),
        levels=("graph",),
    ),
    "morgan-forest": Registered(
        "wlhn.models.morgan_forest:MorganForest",
        "nodes",
        "Morgan fingerprints (RDKit) with a random forest",
        ("trees",),
        levels=("graph",),
    ),
    "neighbourhood-trees": Registered(
        "wlhn.models.neighbourhood_trees:NeighbourhoodTrees",
        "nodes",
        "boosted trees on statistics of the neighbourhood, for few features",
        ("trees",),
        levels=("node",),
    ),
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
    if level not in entry.levels:
        raise InputError(f"model {settings.model}: predicts {entry.levels[0]}s, the targets belong to {level}s")
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
