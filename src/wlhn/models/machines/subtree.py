"""Support vector machines on the two kernels that are sums over colours: WL subtree and optimal assignment.

Shervashidze et al., "Weisfeiler-Lehman graph kernels", JMLR 2011; Kriege et al., "On valid optimal assignment kernels",
NeurIPS 2016. Two graphs are as alike as they have colours in common, over `rounds` rounds of refinement from nodes'
rows of features; the kernels (`wlhn.kernels.gram`) are normalised to k(G, G) = 1.

A decision value divides exactly among the colours of a graph G. With n_c = N(G, c) and m_c = N(s, c),

    f(G) = b + Σ_c p_c(G),      p_c(G) = 1/√k(G, G) · Σ_s α_s/√k(s, s) · (n_c m_c, or min(n_c, m_c)),

where k(G, G), in which all colours of G have a share, counts as a constant of G. What no support vector has adds 0.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wlhn.hierarchy import Hierarchy
from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.gram import compare_graphs, self_similarity
from wlhn.kernels.matching import cut, match
from wlhn.models.machines.kernel_machine import KernelMachine

Array = NDArray[Any]


class SubtreeMachine(KernelMachine):
    """What the two have in common."""

    kind: ClassVar[Literal["wl", "oa"]]

    def similarities(self, a: ColourCounts, b: ColourCounts | None = None) -> Array:
        return compare_graphs(self.kind, a, b)

    def colour_parts(self, hierarchy: Hierarchy) -> tuple[Array, list[Array]]:
        """(b, depth by depth p_c (colours, machines)) of a single graph, refined `rounds` deep or deeper."""
        tree, support = self.fitted_tree, self.support.matrix.tocsc()
        hierarchy = cut(hierarchy, tree.depth)
        length = self_similarity(self.kind, ColourCounts.of(hierarchy))
        scale = self.weight / np.sqrt(self_similarity(self.kind, self.support) * length)
        parts = []
        for t, known in enumerate(match(tree, hierarchy)):
            part = np.zeros((len(known), len(self.weight)))
            for c, n in enumerate(hierarchy.count(t).tolist()):
                if known[c] >= 0:
                    column = int(self.support.first[t] + known[c])
                    entries = slice(support.indptr[column], support.indptr[column + 1])
                    m = support.data[entries].astype(float)
                    part[c] = scale[:, support.indices[entries]] @ (n * m if self.kind == "wl" else np.minimum(n, m))
            parts.append(part)
        return self.intercept, parts


class WLSVM(SubtreeMachine):
    """WL subtree kernel with a support vector machine (Shervashidze et al. 2011).

    >>> import torch
    >>> model = WLSVM(in_channels=1, out_channels=2, rounds=2)
    >>> edges, batch = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]]), torch.tensor([0, 0, 1, 1, 1])
    >>> model.fit(torch.ones(5, 1), edges, batch, None, y=torch.tensor([0, 1]), task="classification")
    >>> model(torch.ones(5, 1), edges, batch).argmax(1)
    tensor([0, 1])
    """

    kind = "wl"


class WLOA(SubtreeMachine):
    """WL optimal assignment kernel with a support vector machine (Kriege et al. 2016)."""

    kind = "oa"
