"""Similarities of graphs and explicit features of them, from the tree of colours."""

from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.features import WLFeatures, thermometer
from wlhn.kernels.gram import compare_graphs, depth_by_depth, normalise, self_similarity
from wlhn.kernels.subtree_kernels import OptimalAssignmentKernel, WLKernel
from wlhn.kernels.tree_wasserstein import TreeWasserstein

__all__ = [
    "ColourCounts",
    "OptimalAssignmentKernel",
    "TreeWasserstein",
    "WLFeatures",
    "WLKernel",
    "compare_graphs",
    "depth_by_depth",
    "normalise",
    "self_similarity",
    "thermometer",
]
