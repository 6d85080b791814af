"""Graphs as flat arrays, from and to PyG, networkx, scipy and edge arrays."""

from wlhn.graphs.convert import as_graphs, to_networkx, to_pyg
from wlhn.graphs.graphs import Graphs

__all__ = ["Graphs", "as_graphs", "to_networkx", "to_pyg"]
