"""Why a model said what it said of a graph or of a node: its answer divided among nodes, and summed over colours.

Of a graph by its sum over nodes, of a node by how those it listens to differ from the average
(`wlhn.inspection.attribution`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from wlhn.batching.as_hierarchy import hierarchy_of
from wlhn.batching.collator import run_model
from wlhn.batching.colour_batch import ColourBatch
from wlhn.batching.refined import make_quotient
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.hierarchy import Hierarchy, refine
from wlhn.inspection.attribution import average, contributions, divide, neighbourhood, reached
from wlhn.models.registry import MODELS
from wlhn.nn.capabilities import AnswersDepthByDepth, HasVoices, SumsOverColours, SumsOverNodes
from wlhn.runs.trained import Trained
from wlhn.words import listed


@dataclass(frozen=True, eq=False)
class Explanation:
    """An answer and its parts: output = base + Σ over nodes = base + Σ over colours."""

    output: NDArray[Any]  # (outputs,) logits, or numbers of a regression
    base: NDArray[Any]  # (outputs,) what the model says of nothing, the zero vector; for a node, of nodes on average
    node: NDArray[Any]  # (nodes, outputs) what each node adds
    hierarchy: Hierarchy  # of these nodes alone; colours are those of its last depth
    positions: NDArray[Any]  # (nodes,) of these nodes among all
    own: int | None = None  # which of these nodes is the explained one, if it is a node
    edge_rows: NDArray[Any] | None = None  # what the model sees of an edge, for each edge code of the hierarchy

    @property
    def node_colour(self) -> NDArray[Any]:
        """(nodes,)"""
        return self.hierarchy.colours[-1]

    @property
    def count(self) -> NDArray[Any]:
        """(colours,) nodes of each."""
        return self.hierarchy.count(self.hierarchy.depth)

    @property
    def colour(self) -> NDArray[Any]:
        """(colours, outputs) what each colour adds."""
        total = np.zeros((len(self.count), self.node.shape[1]))
        np.add.at(total, self.node_colour, self.node)
        return total

    def rival(self, wanted: int) -> int | None:
        """The strongest other output."""
        others = np.delete(np.arange(len(self.output)), wanted)
        return int(others[self.output[others].argmax()]) if len(others) else None

    def margin(self, wanted: int, alone: bool = False) -> Margin:
        """The parts of one output's lead over the strongest other one; of the output itself, if it stands alone."""
        rival = None if alone else self.rival(wanted)

        def of(values: NDArray[Any]) -> NDArray[Any]:
            return values[..., wanted] - (0 if rival is None else values[..., rival])

        return Margin(wanted, rival, float(of(self.output)), float(of(self.base)), of(self.colour), of(self.node))


@dataclass(frozen=True, eq=False, kw_only=True)
class MachineExplanation(Explanation):
    """The same of a machine on the tree: `base` and `node` are those of its decision values, not of its outputs.

    Of two classes the lead is the decision value; of more, which vote pair by pair, the one of the pair.
    """

    machine: SumsOverColours
    shift: NDArray[Any]
    scale: NDArray[Any]

    def margin(self, wanted: int, alone: bool = False) -> Margin:
        rival = None if alone else self.rival(wanted)
        share = self.machine.lead_of(wanted, rival) * self.scale
        base = float(self.base @ share + (self.shift[wanted] if self.shift.ndim else self.shift))
        colour = self.colour @ share
        return Margin(wanted, rival, base + float(colour.sum()), base, colour, self.node @ share, "decision value")


@dataclass(frozen=True, eq=False)
class Margin:
    """One number of the answer and its parts: value = base + colour.sum() = base + node.sum()."""

    wanted: int
    rival: int | None
    value: float
    base: float
    colour: NDArray[Any]  # (colours,)
    node: NDArray[Any]  # (nodes,)
    unit: str = "logit"


def explain(trained: Trained, graphs: Graphs, graph: int) -> Explanation:
    """Divide a model's answer for one graph among its nodes, exactly; nodes of one colour add the same.

    The answer for a graph is the head's output for a sum over its nodes (WLHN, graph level), or a machine's decision
    value, a sum over colours; other models cannot be explained this way.
    """
    model = trained.model
    if trained.level != "graph":
        raise InputError("explain: this model answers for nodes; name one of them (--node) instead of a graph")
    quotient = trained.quotient(graphs.select([graph]))
    batch = quotient.batch([0])
    of_graph: dict[str, Any] = {
        "hierarchy": quotient.hierarchy,
        "edge_rows": None if quotient.edge_x is None else quotient.edge_x.numpy(),
        "positions": np.arange(*graphs.node_ptr[graph : graph + 2]),
    }
    scale, shift = trained.scale.double().numpy(), trained.shift.double().numpy()
    model.eval()
    if isinstance(model, SumsOverColours):
        base, node = _machine_parts(model, batch)
        output = run_model(model, batch)[0].double().numpy() * scale + shift
        given: dict[str, Any] = {"machine": model, "shift": shift, "scale": scale}
        return MachineExplanation(output=output, base=base, node=node, **of_graph, **given)
    if isinstance(model, HasVoices):
        output, base, node = _parts_of_voices(model, batch)
    elif isinstance(model, SumsOverNodes):
        output, base, node = _network_parts(model, batch)
    else:
        raise InputError(
            f"explain: the answer of {trained.settings.model} is no sum over nodes or colours; "
            f"{_explainable()} can be explained"
        )
    return Explanation(output=output * scale + shift, base=base * scale + shift, node=node * scale, **of_graph)


def explain_node(trained: Trained, graphs: Graphs, node: int) -> Explanation:
    """Divide a model's answer for one node (its position among all) among the nodes it depends on, exactly.

    The node's own part is how it would differ from the average answer with its neighbours all average; another's, what
    it adds by being other than average. Colours are those of the neighbourhood with the explained node marked.
    """
    model = trained.model
    if trained.level != "node":
        raise InputError("explain: this model answers for graphs; name one of them (--graph) instead of a node")
    if not isinstance(model, AnswersDepthByDepth):
        raise InputError(
            "explain: nodes need a model that answers depth by depth, as wlhn does, and this is "
            f"{trained.settings.model}"
        )
    graph = int(graphs.graph_of_node[node])
    first = int(graphs.node_ptr[graph])
    encoded = trained.vocabulary.encode(graphs.select([graph]))
    near, hop = reached(encoded.graphs, node - first, len(model.layers))
    part, x = neighbourhood(encoded.graphs, encoded.x, near)
    edges = torch.from_numpy(part.edge_index.astype(np.int64))
    attr = None if part.edge_attr is None else torch.from_numpy(np.asarray(part.edge_attr))
    trained.model.eval()
    mean = average(model, make_quotient(encoded.graphs, encoded.x, len(model.layers), attr is not None))
    each, there = divide(model, torch.from_numpy(x), edges, attr, torch.from_numpy(hop), mean)
    scale, shift = trained.scale.double(), trained.shift.double()
    start = np.unique(x, axis=0, return_inverse=True)[1].reshape(-1) + 1
    start[0] = 0  # the node itself
    hierarchy = refine(part, len(model.layers), start, part.edge_attr is not None)
    return Explanation(
        output=(there * scale + shift).numpy(),
        base=(mean.output * scale + shift).numpy(),
        node=(each * scale).numpy(),
        hierarchy=hierarchy,
        positions=near + first,
        own=0,
        edge_rows=hierarchy.edge_values,
    )


def _explainable() -> str:
    """The names of all models that divide an answer among nodes or colours."""
    models = ((name, MODELS[name]) for name in MODELS.names())
    can = ("rows", "colour_parts", "voices")
    return listed([name for name, model in models if any(hasattr(model, each) for each in can)])


Parts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # outputs (outputs,), their base, what nodes add


def _network_parts(model: SumsOverNodes, batch: ColourBatch) -> Parts:
    """What a network says of a single graph, divided among its nodes."""
    hierarchy = _hierarchy(batch)
    with torch.no_grad():
        rows, h = model.rows(batch), model.graph_representation(batch)[0]
    count = torch.from_numpy(hierarchy.count(hierarchy.depth))
    each, there, base = contributions(model.head, rows, count, h)
    return there.numpy(), base.numpy(), (each / count[:, None]).numpy()[hierarchy.colours[-1]]


def _machine_parts(model: SumsOverColours, batch: ColourBatch) -> tuple[NDArray[Any], NDArray[Any]]:
    """(base, what nodes add (nodes, machines)) of a machine's decision values for a single graph."""
    hierarchy = hierarchy_of(batch)  # which has the features that colours of depth 0 stand for
    base, parts = model.colour_parts(hierarchy)
    each = at_last_depth(hierarchy, parts) / hierarchy.count(hierarchy.depth)[:, None]
    return base, each[_hierarchy(batch).colours[-1]]


def _parts_of_voices(model: HasVoices, batch: ColourBatch) -> Parts:
    """What two voices say of a single graph, divided among its nodes: each voice's parts, in its share."""
    decisions = _machine_parts(model.machine, model.seen_by_machine(batch))
    constant, slope = model.outputs_of_decisions()
    machine = decisions[0] @ slope + constant, decisions[1] @ slope
    each = [_network_parts(cast(SumsOverNodes, network), batch) for network in model.networks]
    _, *network = (np.mean(parts, axis=0) for parts in zip(*each, strict=True))
    share, machine_share = model.shares()
    base, node = (
        share * of_network + machine_share * of_machine for of_network, of_machine in zip(network, machine, strict=True)
    )
    return base + node.sum(axis=0), base, node


def _hierarchy(batch: ColourBatch) -> Hierarchy:
    assert batch.taken_from is not None
    return batch.taken_from[0]


def at_last_depth(hierarchy: Hierarchy, parts: list[NDArray[Any]]) -> NDArray[Any]:
    """What the colours of the last depth have of parts of all colours: a decision value is a sum over the colours of
    all depths, a node has one colour at each depth, and what a colour adds is shared evenly by its nodes.

    Args:
        hierarchy: the hierarchy of a single graph.
        parts: depth by depth, as deep as the hierarchy or less, (colours, machines).

    Returns:
        (colours of the last depth, machines), with the same sum.

    >>> import networkx as nx, wlhn
    >>> star = wlhn.refine(nx.star_graph(3), 1)  # the centre is colour 0
    >>> at_last_depth(star, [np.array([[4.0]]), np.array([[10.0], [0.0]])]).tolist()
    [[11.0], [3.0]]
    """
    each = np.zeros((1, parts[0].shape[1]))  # of a node
    for t in range(hierarchy.depth + 1):
        each = each[hierarchy.parents[t]]
        if t < len(parts):
            each = each + parts[t] / hierarchy.count(t)[:, None]
    return each * hierarchy.count(hierarchy.depth)[:, None]
