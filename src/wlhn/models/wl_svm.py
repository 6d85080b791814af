"""The Weisfeiler-Leman subtree kernel with a support vector machine: GraKeL's kernel, scikit-learn's machine.

Shervashidze et al., "Weisfeiler-Lehman graph kernels", JMLR 2011. Two graphs are as alike as they have colours in
common, over `rounds` rounds of refinement from nodes' rows of features; the kernel is normalised to k(G, G) = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC, SVR

from wlhn.nn.encoders import Channels
from wlhn.nn.machine import Inputs, Machine, MachineOptions
from wlhn.options.option import option


@dataclass(frozen=True)
class WLSVMOptions(MachineOptions):
    svm_penalty: float = option(1.0, "C, what a training error costs the support vector machine.", above=0)


class WLSVM(Machine):
    """WL subtree kernel with a support vector machine (Shervashidze et al. 2011).

    >>> import torch
    >>> model = WLSVM(in_channels=1, out_channels=2, rounds=2)
    >>> edges, batch = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]]), torch.tensor([0, 0, 1, 1, 1])
    >>> model.fit(torch.ones(5, 1), edges, batch, None, y=torch.tensor([0, 1]), task="classification")
    >>> model(torch.ones(5, 1), edges, batch).argmax(1)
    tensor([0, 1])
    """

    Options = WLSVMOptions
    target_levels = ("graph",)

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        self.kernel: Any = None

    def features(self, inputs: Inputs, first_time: bool) -> NDArray[Any]:
        """The kernel between these graphs and those of training."""
        from grakel import VertexHistogram, WeisfeilerLehman

        graphs = [_grakel_graph(inputs, nodes, edges) for nodes, edges in inputs.graphs()]
        if first_time:
            self.kernel = WeisfeilerLehman(
                n_iter=self.options.rounds, base_graph_kernel=VertexHistogram, normalize=True
            )
            return np.asarray(self.kernel.fit_transform(graphs))
        return np.asarray(self.kernel.transform(graphs))

    def classifier(self, seed: int) -> Any:
        return SVC(kernel="precomputed", C=self.options.svm_penalty)

    def regressor(self, seed: int) -> Any:
        return SVR(kernel="precomputed", C=self.options.svm_penalty)

    def log_odds(self, learner: Any, features: NDArray[Any]) -> NDArray[Any]:
        scores: NDArray[Any] = learner.decision_function(features)
        return np.stack([-scores / 2, scores / 2], axis=1) if scores.ndim == 1 else scores


def _grakel_graph(inputs: Inputs, nodes: slice, edges: NDArray[Any]) -> list[Any]:
    """[neighbours of each node, label of each node], a label being the node's whole row."""
    neighbours: dict[int, list[int]] = {v: [] for v in range(nodes.start, nodes.stop)}
    for u, v in inputs.edge_index[:, edges].T.tolist():
        neighbours[v].append(u)
    rows = map(tuple, inputs.x[nodes].tolist())
    return [neighbours, dict(zip(neighbours, rows, strict=True))]
