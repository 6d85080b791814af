"""Similarities of graphs and explicit features of them, from the tree of colours."""

from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.explicit import thermometer
from wlhn.kernels.features import WLFeatures
from wlhn.kernels.gram import depth_by_depth, normalise, oa_gram, self_similarity, wasserstein, wl_gram
from wlhn.kernels.subtree_kernels import OptimalAssignmentKernel, WLKernel
from wlhn.kernels.tree_wasserstein import TreeWasserstein

__all__ = [
    "ColourCounts",
    "OptimalAssignmentKernel",
    "TreeWasserstein",
    "WLFeatures",
    "WLKernel",
    "depth_by_depth",
    "normalise",
    "oa_gram",
    "self_similarity",
    "thermometer",
    "wasserstein",
    "wl_gram",
]
