"""A support vector machine on transport between graphs in the tree of colours.

Togninalli et al., "Wasserstein Weisfeiler-Lehman graph kernels", NeurIPS 2019, for categories: graphs weigh 1 each, d
is the cost of moving one graph's nodes to the other's along the tree, and the kernel is exp(−γ d), positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.kernels.colour_counts import ColourCounts
from wlhn.kernels.gram import compare_graphs
from wlhn.models.machines.kernel_machine import KernelMachine, KernelMachineOptions
from wlhn.options.option import option


@dataclass(frozen=True)
class WLWassersteinOptions(KernelMachineOptions):
    gamma: float = option(1.0, "γ in the kernel exp(−γ d) of the distance d, 2 (rounds + 1) at most.", above=0)


class WLWasserstein(KernelMachine):
    """Tree Wasserstein kernel with a support vector machine (Togninalli et al. 2019)."""

    Options = WLWassersteinOptions

    def similarities(self, a: ColourCounts, b: ColourCounts | None = None) -> NDArray[Any]:
        distance = compare_graphs("wasserstein", a, b)
        distance *= -self.options.gamma
        return np.exp(distance, out=distance)
