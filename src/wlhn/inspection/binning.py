"""Continuous features as groups of nodes: where hardly two nodes have the same features, no tree of colours grows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.data.display import node_columns, node_names
from wlhn.hierarchy import Hierarchy

ALONE = 0.25  # colours of depth 0 for each node from which on a tree has nothing to say
BINS = 4  # of each of at most two columns


def hangs_on_its_root(hierarchy: Hierarchy, dataset: Dataset) -> bool:
    """Whether features are so many different numbers that most colours of depth 0 have a node or two."""
    x = dataset.graphs.x
    continuous = "x" in dataset.inputs and x is not None and np.issubdtype(x.dtype, np.floating)
    return continuous and hierarchy.num_colours[0] > max(BINS**2, ALONE * hierarchy.num_nodes)


def grouped(dataset: Dataset) -> tuple[NDArray[Any], str]:
    """A name for each node, one of a few, and a sentence on how they were made: by labels where there are some, else by
    equally filled bins of the features, or of the two directions in which these differ most.

    >>> from wlhn.data import load
    >>> len(set(grouped(load("MUTAG"))[0].tolist()))
    7
    """
    why = "Hardly two nodes have the same features, so a tree of exact features would hang on its root:"
    if dataset.graphs.node_label is not None:
        return node_names(dataset), f"{why} this one is grown from labels alone."
    x = np.asarray(dataset.graphs.x, float)
    columns = {name: column for name, column in node_columns(dataset).items() if name != "degree"}
    if len(columns) == x.shape[1] <= 2:
        words = [_in_words(title, column) for title, column in columns.items()]
        by, joint = " and ".join(columns), ", "
    else:
        words = [_bins(column, mark)[0] for column, mark in zip(_components(x), ("ABCD", "1234"), strict=True)]
        by, joint = "the two directions in which features differ most (A to D and 1 to 4)", ""
    names = np.array([joint.join(parts) for parts in zip(*words, strict=True)])
    return names, f"{why} this one is grown from {by}, in {BINS} equally filled bins each."


def _components(x: NDArray[Any]) -> NDArray[Any]:
    """(2, nodes): coordinates along the two principal axes of standardised features."""
    spread = x.std(axis=0)
    scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return (scaled @ np.linalg.svd(scaled.T @ scaled)[0][:, :2]).T


def _in_words(title: str, column: NDArray[Any]) -> list[str]:
    """The bin of each value by its bounds."""
    edges = _bins(column, range(BINS))[1]
    return _bins(column, [f"{title} {a:.3g} to {b:.3g}" for a, b in pairwise(edges)])[0]


def _bins(column: NDArray[Any], marks: Sequence[Any]) -> tuple[list[Any], NDArray[Any]]:
    """The mark of each value's bin, and the bounds of the bins."""
    edges = np.quantile(column, np.linspace(0, 1, BINS + 1))
    place = np.searchsorted(edges[1:-1], column, side="right")
    return [marks[k] for k in place.tolist()], edges
