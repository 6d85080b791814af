"""Groups of nodes to grow a tree from where hardly two of them have the same features, and no tree of colours grows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.data.dataset import Dataset
from wlhn.data.display import node_columns, node_names
from wlhn.hierarchy import Hierarchy
from wlhn.hierarchy.binning import Quantiles

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
        marked = zip(_components(x), ("ABCD", "1234"), strict=True)
        words = [[marks[code] for code in _binned(column)[1]] for column, marks in marked]
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
    bins, codes = _binned(column)
    words = {code: f"{title} {bins.describe([code])[0]}" for code in set(codes)}
    return [words[code] for code in codes]


def _binned(column: NDArray[Any]) -> tuple[Quantiles, list[int]]:
    """The bins of a column, and the bin of each value."""
    bins = Quantiles.fit(column[:, None], BINS)
    return bins, bins.codes(column[:, None])[:, 0].tolist()
