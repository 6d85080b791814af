"""Similarities of graphs and explicit features of them, from the tree of colours."""
