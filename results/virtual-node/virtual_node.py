"""ogbg-molhiv with one node more in each molecule, joined to all its atoms both ways (Gilmer et al. 2017).

The new node has a category of its own in every feature; it stands last.
"""

from dataclasses import replace

import numpy as np

from wlhn.data import Dataset, load, register_dataset
from wlhn.graphs import Graphs


@register_dataset("molhiv-virtual-node")
def molhiv_virtual_node(seed: int) -> Dataset:
    molhiv = load("ogbg-molhiv")
    graphs = molhiv.graphs
    assert graphs.x is not None  # of atoms it has features alone
    ends = graphs.node_ptr[1:]  # each virtual node stands behind the atoms of its molecule
    atom = np.arange(graphs.num_nodes) + graphs.graph_of_node
    hub = (ends + np.arange(len(graphs)))[graphs.graph_of_node]
    return replace(
        molhiv,
        name="molhiv-virtual-node",
        categories=tuple(count + 1 for count in molhiv.categories),
        columns=(),
        graphs=Graphs.from_edges(
            np.concatenate([atom[graphs.edge_index], [atom, hub], [hub, atom]], axis=1),
            node_ptr=graphs.node_ptr + np.arange(len(graphs) + 1),
            x=np.insert(graphs.x, ends, molhiv.categories, axis=0),
        ),
    )
