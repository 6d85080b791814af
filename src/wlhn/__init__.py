"""The Weisfeiler-Leman tree of graphs: compare, embed, learn, explain."""

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
    "wlhn.embeddings": ("Quality", "TreeEmbedding", "diffhypcon", "quality", "sala", "sarkar", "sarkar_points"),
    "wlhn.errors": ("InputError",),
    "wlhn.estimators": ("GraphClassifier", "GraphEmbedder", "GraphRegressor", "NodeClassifier", "NodeRegressor"),
    "wlhn.graphs": ("Graphs", "as_graphs"),
    "wlhn.hierarchy": ("Assignment", "Hierarchy", "Tree", "assign", "colour_names", "refine", "wl_distance"),
    "wlhn.hyperbolic": ("poincare_distance",),
    "wlhn.kernels": ("OptimalAssignmentKernel", "TreeWasserstein", "WLFeatures", "WLKernel"),
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
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'wlhn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
