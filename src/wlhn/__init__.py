"""Distance-preserving representations of nodes and graphs."""

from wlhn.errors import InputError
from wlhn.graphs import Graphs, as_graphs
from wlhn.hierarchy import Hierarchy, Tree, assign, refine, wl_distance

__all__ = ["Graphs", "Hierarchy", "InputError", "Tree", "as_graphs", "assign", "refine", "wl_distance"]
