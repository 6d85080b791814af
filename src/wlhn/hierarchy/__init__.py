"""Colour refinement and the hierarchy it makes: integers, no geometry."""

from wlhn.hierarchy.assignment import Assignment, assign
from wlhn.hierarchy.hierarchy import Hierarchy, wl_distance
from wlhn.hierarchy.naming import colour_names
from wlhn.hierarchy.refinement import refine
from wlhn.hierarchy.tree import Tree

__all__ = ["Assignment", "Hierarchy", "Tree", "assign", "colour_names", "refine", "wl_distance"]
