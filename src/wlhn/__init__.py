"""Distance-preserving representations of nodes and graphs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wlhn.embeddings.combinatorial import sala, sarkar, sarkar_points
    from wlhn.embeddings.diffhypcon import diffhypcon
    from wlhn.embeddings.embedding import TreeEmbedding
    from wlhn.embeddings.quality import Quality, quality
    from wlhn.errors import InputError
    from wlhn.estimators import GraphClassifier, GraphEmbedder, GraphRegressor, NodeClassifier, NodeRegressor
    from wlhn.graphs import Graphs, as_graphs
    from wlhn.hierarchy import Assignment, Hierarchy, Tree, assign, colour_names, refine, wl_distance
    from wlhn.hyperbolic import poincare_distance
    from wlhn.kernels import OptimalAssignmentKernel, TreeWasserstein, WLFeatures, WLKernel

# Where the public names live. They are imported when first used: torch takes seconds, and `wlhn --version` needs none.
_HOMES = {
    "Assignment": "wlhn.hierarchy",
    "GraphClassifier": "wlhn.estimators",
    "GraphEmbedder": "wlhn.estimators",
    "GraphRegressor": "wlhn.estimators",
    "Graphs": "wlhn.graphs",
    "Hierarchy": "wlhn.hierarchy",
    "InputError": "wlhn.errors",
    "NodeClassifier": "wlhn.estimators",
    "NodeRegressor": "wlhn.estimators",
    "OptimalAssignmentKernel": "wlhn.kernels",
    "Quality": "wlhn.embeddings",
    "Tree": "wlhn.hierarchy",
    "TreeEmbedding": "wlhn.embeddings",
    "TreeWasserstein": "wlhn.kernels",
    "WLFeatures": "wlhn.kernels",
    "WLKernel": "wlhn.kernels",
    "as_graphs": "wlhn.graphs",
    "assign": "wlhn.hierarchy",
    "colour_names": "wlhn.hierarchy",
    "diffhypcon": "wlhn.embeddings",
    "poincare_distance": "wlhn.hyperbolic",
    "quality": "wlhn.embeddings",
    "refine": "wlhn.hierarchy",
    "sala": "wlhn.embeddings",
    "sarkar": "wlhn.embeddings",
    "sarkar_points": "wlhn.embeddings",
    "wl_distance": "wlhn.hierarchy",
}
__all__ = [
    "Assignment",
    "GraphClassifier",
    "GraphEmbedder",
    "GraphRegressor",
    "Graphs",
    "Hierarchy",
    "InputError",
    "NodeClassifier",
    "NodeRegressor",
    "OptimalAssignmentKernel",
    "Quality",
    "Tree",
    "TreeEmbedding",
    "TreeWasserstein",
    "WLFeatures",
    "WLKernel",
    "as_graphs",
    "assign",
    "colour_names",
    "diffhypcon",
    "poincare_distance",
    "quality",
    "refine",
    "sala",
    "sarkar",
    "sarkar_points",
    "wl_distance",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'wlhn' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
