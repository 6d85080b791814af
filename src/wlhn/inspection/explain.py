"""Why a model said what it said of a graph: its answer divided among the graph's colours, hence among its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wlhn.batching.refined import make_quotient
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy import Hierarchy
from wlhn.inspection.attribution import contributions
from wlhn.nn.capabilities import SumsOverNodes
from wlhn.runs.trained import Trained


@dataclass(frozen=True, eq=False)
class Explanation:
    """An answer and its parts: output = base + Σ over colours; a colour's part is shared evenly among its nodes."""

    output: NDArray[Any]  # (outputs,) logits, or numbers of a regression
    base: NDArray[Any]  # (outputs,) what the model says of an empty sum
    colour: NDArray[Any]  # (colours, outputs) what each colour adds
    count: NDArray[Any]  # (colours,) nodes of each
    node_colour: NDArray[Any]  # (nodes,)
    hierarchy: Hierarchy  # of this graph alone; colours are those of its last depth

    @property
    def node(self) -> NDArray[Any]:
        """What each node adds, (nodes, outputs)."""
        return (self.colour / self.count[:, None])[self.node_colour]

    def margin(self, wanted: int, alone: bool = False) -> Margin:
        """The parts of one output's lead over the strongest other one; of the output itself, if it stands alone."""
        rival = None
        if len(self.output) > 1 and not alone:
            others = np.delete(np.arange(len(self.output)), wanted)
            rival = int(others[self.output[others].argmax()])

        def of(values: NDArray[Any]) -> NDArray[Any]:
            return values[..., wanted] - (0 if rival is None else values[..., rival])

        return Margin(wanted, rival, float(of(self.output)), float(of(self.base)), of(self.colour), of(self.node))


@dataclass(frozen=True, eq=False)
class Margin:
    """One number of the answer and its parts: value = base + colour.sum() = base + node.sum()."""

    wanted: int
    rival: int | None
    value: float
    base: float
    colour: NDArray[Any]  # (colours,)
    node: NDArray[Any]  # (nodes,)


def explain(trained: Trained, graphs: Graphs, graph: int) -> Explanation:
    """Divide a model's answer for one graph among its colours, exactly.

    The answer for a graph is the head's output for a sum over its nodes, so only models that sum nodes (WLHN, graph
    level) can be explained this way.
    """
    model = trained.model
    if not isinstance(model, SumsOverNodes) or trained.level != "graph":
        what = f"{trained.settings.model}, {trained.level} level"
        raise InputError(f"explain: expected a wlhn run on graphs, whose answer is a sum over nodes, found {what}")
    encoded = trained.vocabulary.encode(graphs.select([graph]))
    edges = encoded.graphs.edge_attr is not None
    quotient = make_quotient(encoded.graphs, encoded.x, trained.colours.depth, edges)
    batch = quotient.batch([0])
    model.eval()
    with torch.no_grad():
        rows, h = model.rows(batch), model.graph_representation(batch)[0]
    count = torch.from_numpy(quotient.hierarchy.count(quotient.hierarchy.depth))
    each, there, base = contributions(model.head, rows, count, h)
    scale, shift = trained.scale.double(), trained.shift.double()
    return Explanation(
        output=(there * scale + shift).numpy(),
        base=(base * scale + shift).numpy(),
        colour=(each * scale).numpy(),
        count=count.numpy(),
        node_colour=quotient.hierarchy.colours[-1],
        hierarchy=quotient.hierarchy,
    )
