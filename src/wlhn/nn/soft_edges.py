"""A WLHN whose messages can be weakened one by one: what explainers need, ours of nodes and those of PyG.

Every node is a colour of its own and every message a row, in plain torch, so the weight of a message has a gradient.
The weights of all messages being 1, outputs are those of the model in evaluation mode.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from wlhn.errors import InputError
from wlhn.nn.capabilities import AnswersDepthByDepth
from wlhn.nn.gin_layer import GINLayer
from wlhn.nn.pooling import graph_of_node


class SoftEdges(nn.Module):
    """A model that answers depth by depth, as WLHN does, with a weight for each message.

    `torch_geometric.explain` takes it as it takes PyG's own networks:

    >>> from torch_geometric.explain import Explainer, GNNExplainer
    >>> from wlhn.models import WLHN
    >>> model = SoftEdges(WLHN(in_channels=3, out_channels=2, hidden_channels=8, num_layers=2))
    >>> config = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}
    >>> explainer = Explainer(
    ...     model, GNNExplainer(epochs=2), explanation_type="model", edge_mask_type="object", model_config=config
    ... )
    >>> explainer(torch.rand(3, 3), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).edge_mask.shape
    torch.Size([4])
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        if not isinstance(model, AnswersDepthByDepth):
            name = type(model).__name__
            raise InputError(f"{name}: does not answer depth by depth, as wlhn does; choose one that does")
        self.model, self.messages = model.eval(), _Messages()

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """Outputs (graphs or nodes, out_channels), as the model's own; `edge_weight` (edges,) multiplies messages."""
        rows = self.rows(x, edge_index, edge_attr, edge_weight)
        if self.model.level == "graph":
            graph = graph_of_node(x, batch)
            rows = rows.new_zeros(int(graph.max()) + 1, rows.shape[1]).index_add(0, graph, rows)
        return self.model.head(rows)

    def rows(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
        told: tuple[Sequence[Tensor], Tensor] | None = None,
    ) -> Tensor:
        """What the head sees of each node, (nodes, width).

        With told = (average, presence) a node tells others average[t] + presence · (h − average[t]) instead of h.
        """
        model, every = self.model, torch.arange(len(x), device=x.device)
        child_ptr = torch.arange(len(x) + 1, device=x.device)
        z, h = model.root(x, None)
        path = [(z.r, z.e, h)]
        for t, layer in enumerate(model.layers, start=1):
            assert isinstance(layer, GINLayer)
            labels = None if layer.edge_encoder is None else layer.edge_encoder(edge_attr)
            says = h if told is None else told[0][t - 1] + told[1][:, None] * (h - told[0][t - 1])
            received = self.messages(says, edge_index, labels, edge_weight)
            h = layer.of_sums((1 + layer.epsilon) * h + received)
            z = model.place(t, h, z, every, child_ptr, None)
            path.append((z.r, z.e, h))
        return model.readout.rows(path if model.readout.every_depth else path[-1:])


class _Messages(MessagePassing):
    """Σ over the edges that enter a node of weight · h, or of weight · relu(h + label), as GIN and GINE have them."""

    def __init__(self) -> None:
        super().__init__(aggr="add")

    def forward(self, h: Tensor, edge_index: Tensor, labels: Tensor | None, weight: Tensor | None) -> Tensor:
        return self.propagate(edge_index, x=h, labels=labels, weight=weight)

    def message(self, x_j: Tensor, labels: Tensor | None, weight: Tensor | None) -> Tensor:
        sent = x_j if labels is None else torch.relu(x_j + labels)
        return sent if weight is None else sent * weight[:, None]
