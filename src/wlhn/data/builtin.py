"""Data that come with the installation or are generated: no network, no data root needed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from wlhn.data.dataset import Column, Dataset, class_indices
from wlhn.graphs import as_graphs


def mutag_folder() -> Path | None:
    """The folder of MUTAG in TU format inside the grakel package (found, not imported); None where that is not
    installed, as on Python 3.13, for which it has no release.

    >>> mutag_folder().name
    'MUTAG'
    """
    spec = importlib.util.find_spec("grakel")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "tests" / "data" / "MUTAG"


def karate_club() -> Dataset:
    """Zachary's karate club: the two clubs its members joined.

    >>> karate_club().classes
    ('Mr. Hi', 'Officer')
    """
    import networkx as nx

    graph = nx.karate_club_graph()
    y, classes = class_indices([club for _, club in graph.nodes(data="club")])
    target = Column("club", "target", "categories", "2 classes")
    return Dataset("karate", as_graphs(graph), y, "node", "classification", classes, columns=(target,))


def graph_atlas() -> Dataset:
    """All 1,252 graphs of one to seven nodes; the class is whether they are connected, which WL cannot always tell.

    >>> len(graph_atlas()), graph_atlas().classes
    (1252, (False, True))
    """
    import networkx as nx

    graphs = nx.graph_atlas_g()[1:]  # the first has no nodes
    y, classes = class_indices([nx.is_connected(graph) for graph in graphs])
    target = Column("connected", "target", "categories", "2 classes")
    ids = [graph.name for graph in graphs]
    return Dataset("atlas", as_graphs(graphs), y, "graph", "classification", classes, graph_ids=ids, columns=(target,))
