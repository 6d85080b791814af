"""Attributes of networkx graphs that a trained model asks for.

A value that is missing here and there is filled in, and so is an attribute that some training graphs lacked too. But
one that all of them had and no new graph has is another name, or other graphs, and every answer would be a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wlhn.data.columns import feature_places
from wlhn.data.readers.values import named
from wlhn.errors import InputError
from wlhn.graphs.convert import instance_of
from wlhn.runs.trained import Trained


def check_attributes(graphs: Sequence[Any], trained: Trained) -> None:
    """The graphs have the attributes that were never missing in training."""
    ours = [graph for graph in graphs if instance_of(graph, "networkx", "Graph")]
    for edge, what in ((False, "node"), (True, "edge")):
        rows = [data for g in ours for *_, data in (g.edges(data=True) if edge else g.nodes(data=True))]
        there = dict.fromkeys(str(name) for row in rows for name in row)
        lacking = next((name for name in _never_missing(trained, edge) if name not in there), None)
        if rows and lacking is not None:
            raise InputError(
                f"graphs: no {what} has the attribute '{lacking}', which the training data have; the attributes of "
                f"{what}s here are {named(there)}"
            )


def _never_missing(trained: Trained, edge: bool) -> list[str]:
    """The attributes of nodes (or edges) that the model sees and that were there throughout in training."""
    seen = trained.vocabulary
    if edge and seen.edges is None:
        return []
    columns = [c for c in trained.columns if c.edge == edge and c.is_feature]
    complete = [c.name for c in columns if c.kind == "categories" and None not in c.values]
    filling = seen.edge_filling if edge else seen.nodes.filling
    if filling is not None:
        placed = feature_places(trained.columns, len(filling.means), edge=edge)
        complete += [c.name for c, first, _ in placed if c.kind == "numeric" and first not in filling.gaps]
    return complete
