"""Distance-preserving representations of nodes and graphs."""

from wlhn.embeddings import Quality, TreeEmbedding, diffhypcon, quality, sala, sarkar, sarkar_points
from wlhn.errors import InputError
from wlhn.graphs import Graphs, as_graphs
from wlhn.hierarchy import Assignment, Hierarchy, Tree, assign, refine, wl_distance
from wlhn.hyperbolic import poincare_distance

__all__ = [
    "Assignment",
    "Graphs",
    "Hierarchy",
    "InputError",
    "Quality",
    "Tree",
    "TreeEmbedding",
    "as_graphs",
    "assign",
    "diffhypcon",
    "poincare_distance",
    "quality",
    "refine",
    "sala",
    "sarkar",
    "sarkar_points",
    "wl_distance",
]
