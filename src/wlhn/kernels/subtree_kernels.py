"""The two kernels of the tree as scikit-learn transformers (formulas and references in `gram`)."""

from __future__ import annotations

from wlhn.kernels.base import MatrixTransformer


class WLKernel(MatrixTransformer):
    """The WL subtree kernel: products of counts, summed over all colours of depths 0 … `depth`.

    Args:
        depth: rounds of refinement.
        start: "uniform", "degree", "label", "features", or several of "degree", "label" and numbers of columns of x;
            None: labels, where the graphs have them, else features that are categories (integers, one-hot columns),
            else degrees.
        edge_labels: count neighbours together with the labels of their edges.
        directed: distinguish in-neighbours from out-neighbours.
        weights: one number for each depth; None: all 1.
        normalise: divide by √(k(G, G) k(H, H)), so that a graph's similarity to itself is 1.
        binning: how columns of x that are not integers become categories: "quantiles" of each column, or "k-means"
            of all of them together.
        bins: of each such column; clusters, for k-means.

    >>> import networkx as nx
    >>> kernel = WLKernel(depth=1, normalise=False)
    >>> kernel.fit_transform([nx.path_graph(2), nx.path_graph(3)]).tolist()
    [[8.0, 4.0], [4.0, 10.0]]
    >>> kernel.transform([nx.star_graph(3)]).tolist(), kernel.colour_counts([nx.star_graph(3)]).unseen.tolist()
    ([[6.0, 6.0]], [[1, 2]])
    """

    _kind = "wl"


class OptimalAssignmentKernel(MatrixTransformer):
    """The WL optimal assignment kernel: the lesser of two counts, summed over all colours; parameters as `WLKernel`.

    It is the value of the best matching of two graphs' nodes. Where graphs have many copies of few colours it tells
    more than products of counts do.

    >>> import networkx as nx
    >>> OptimalAssignmentKernel(depth=1, normalise=False).fit_transform([nx.path_graph(2), nx.path_graph(3)]).tolist()
    [[4.0, 2.0], [2.0, 6.0]]
    """

    _kind = "oa"
