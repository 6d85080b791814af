"""The models one can ask for by name: ours, those that were registered here, and those of installed packages.

A model is a class as `wlhn.nn.model.Model` describes it. Ours are named, not imported, because PyG takes seconds to
import and WLHN does without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from wlhn.data.dataset import TargetLevel
from wlhn.errors import InputError
from wlhn.nn.model import Model
from wlhn.options.option import Options
from wlhn.plugins import Registry

MODELS: Registry[type[Model]] = Registry(
    "model",
    "wlhn.models",
    {
        "wlhn": "wlhn.models.wlhn:WLHN",
        "two-voices": "wlhn.models.two_voices:TwoVoices",
        "gin": "wlhn.models.gin:GIN",
        "gcn": "wlhn.models.gcn:GCN",
        "gat": "wlhn.models.gat:GAT",
        "graphsage": "wlhn.models.graphsage:GraphSAGE",
        "mixhop": "wlhn.models.mixhop:MixHop",
        "hgcn-poincare": "wlhn.models.hgcn:PoincareHGCN",
        "hgcn-hyperboloid": "wlhn.models.hgcn:HyperboloidHGCN",
        "geom-gcn": "wlhn.models.geom_gcn:GeomGCN",
        "pgnn": "wlhn.models.pgnn:PGNN",
        "dgcnn": "wlhn.models.dgcnn:DGCNN",
        "diffpool": "wlhn.models.diffpool:DiffPool",
        "ecc": "wlhn.models.ecc:ECC",
        "mlp": "wlhn.models.deep_sets:MLP",
        "structure-agnostic": "wlhn.models.deep_sets:StructureAgnostic",
        "wl-svm": "wlhn.models.machines.subtree:WLSVM",
        "wl-oa": "wlhn.models.machines.subtree:WLOA",
        "wl-wasserstein": "wlhn.models.machines.wl_wasserstein:WLWasserstein",
        "wl-linear": "wlhn.models.machines.wl_linear:WLLinear",
        "morgan-forest": "wlhn.models.machines.morgan_forest:MorganForest",
        "neighbourhood-trees": "wlhn.models.machines.neighbourhood_trees:NeighbourhoodTrees",
    },
)


def register_model(name: str) -> Callable[[type[Model]], type[Model]]:
    """A decorator that makes a model known by a name in this process.

    >>> @register_model("my-gin")
    ... class MyGIN(model_class("gin")):
    ...     '''GIN under another name.'''
    >>> model_class("my-gin").__name__
    'MyGIN'
    """

    def register(model: type[Model]) -> type[Model]:
        MODELS.register(name, model)
        return model

    return register


def model_class(name: str) -> type[Model]:
    """The class of a model, or an `InputError` that lists the known ones."""
    model = MODELS[name]
    for attribute in ("Options", "Training", "target_levels", "colour_levels"):
        if not hasattr(model, attribute):
            raise InputError(f"model '{name}' has no `{attribute}`; derive it from wlhn.nn.model.Model")
    return model


def build_model(
    name: str,
    options: Options,
    in_channels: int | tuple[int, ...],
    out_channels: int,
    level: TargetLevel = "graph",
    edge_channels: int | tuple[int, ...] = 0,
) -> nn.Module:
    """A model by name with its options and fresh weights.

    >>> wlhn = model_class("wlhn")
    >>> type(build_model("wlhn", wlhn.Options(), in_channels=7, out_channels=2)).__name__
    'WLHN'
    """
    model: Any = model_class(name)
    if level not in model.target_levels:
        raise InputError(f"model {name} predicts targets of {model.target_levels[0]}s; these belong to {level}s")
    built: nn.Module = model(in_channels, out_channels, level=level, edge_channels=edge_channels, **options.to_json())
    return built
