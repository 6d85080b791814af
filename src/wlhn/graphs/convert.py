"""From and to what people have: PyG, networkx, scipy matrices, edge arrays.

Importing these packages takes a while, so it is left to those who use them: who passes a PyG object has imported PyG.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from wlhn.errors import InputError
from wlhn.graphs.graphs import Graphs

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data


MATRICES = (("scipy.sparse", "sparray"), ("scipy.sparse", "spmatrix"))
SINGLE = (("networkx", "Graph"), *MATRICES, ("torch_geometric.data", "Data"), ("torch", "Tensor"))


def as_graphs(source: Any) -> Graphs:
    """Any supported graph or collection of graphs as `Graphs`.

    Accepts `Graphs`; PyG `Data`, `Batch`, data sets, loaders and lists of them; networkx graphs and lists of them (node
    attributes "label" and "x", edge attributes "label" and "edge_attr" are kept; `wlhn.data.as_dataset` makes columns
    of all others); scipy sparse matrices, whose entries a_ij ≠ 0 are edges i → j; arrays of edges (2, m); and lists,
    1-d object arrays or whatever else gives such graphs one by one. Edges are taken as they are given, self-loops and
    parallel ones too, which `wlhn.data.load` leaves out of files.

    >>> import networkx as nx
    >>> as_graphs([nx.path_graph(3), nx.star_graph(["hub", "a", "b"])])
    Graphs(2 graphs, 6 nodes, 8 directed edges)
    """
    return _join(map(_one, one_by_one(source)))


def one_by_one(source: Any) -> Iterator[Any]:
    """What `as_graphs` takes, part by part: the graphs of a collection, those of its batches too, or the one graph.

    >>> import networkx as nx
    >>> len(list(one_by_one(nx.path_graph(3)))), len(list(one_by_one([nx.path_graph(3), nx.path_graph(4)])))
    (1, 2)
    """
    try:
        parts = iter([source] if _is_one_graph(source) else source)
    except TypeError:
        raise InputError(
            f"expected graphs (PyG, networkx, scipy or an edge array), found {type(source).__name__}"
        ) from None
    for part in parts:
        yield from part.to_data_list() if instance_of(part, "torch_geometric.data", "Batch") else [part]


def to_pyg(graphs: Graphs) -> list[Data]:
    """One PyG `Data` for each graph: x, label, edge_index, edge_attr, edge_label, and node_ids where nodes have names.

    >>> to_pyg(Graphs.from_edges([[0, 1], [1, 0]]))
    [Data(edge_index=[2, 2], num_nodes=2)]
    """
    import torch
    from torch_geometric.data import Data

    edge_ptr = graphs.row_ptr[graphs.node_ptr]
    edges = torch.from_numpy(np.ascontiguousarray(graphs.edge_index, dtype=np.int64))
    columns = {
        "x": (graphs.x, graphs.node_ptr),
        "label": (graphs.node_label, graphs.node_ptr),
        "edge_attr": (graphs.edge_attr, edge_ptr),
        "edge_label": (graphs.edge_label, edge_ptr),
    }
    tensors = {k: (torch.from_numpy(np.array(a)), ptr) for k, (a, ptr) in columns.items() if a is not None}
    return [
        Data(
            edge_index=edges[:, edge_ptr[g] : edge_ptr[g + 1]] - int(graphs.node_ptr[g]),
            num_nodes=int(graphs.node_ptr[g + 1] - graphs.node_ptr[g]),
            **{key: tensor[ptr[g] : ptr[g + 1]] for key, (tensor, ptr) in tensors.items()},
            **({} if graphs.node_ids is None else {"node_ids": graphs.ids(g)}),
        )
        for g in range(len(graphs))
    ]


def to_networkx(graphs: Graphs) -> list[nx.Graph]:
    """One networkx graph for each graph, with the user's node names and the attributes that `as_graphs` reads.

    Undirected where every edge stands in both directions with the same attributes, else directed; with multi-edges
    where an edge stands there more than once.

    >>> to_networkx(Graphs.from_edges([[0, 1], [1, 0]]))[0].edges
    EdgeView([(0, 1)])
    """
    return [_to_networkx(graphs.select([g])) for g in range(len(graphs))]


def _to_networkx(graph: Graphs) -> nx.Graph:
    import networkx as nx

    names = graph.ids(0)
    columns = {"label": graph.edge_label, "edge_attr": graph.edge_attr}
    given = {name: values.tolist() for name, values in columns.items() if values is not None}
    carried = list(zip(*given.values(), strict=True)) if given else [()] * graph.num_edges
    forward = sorted(zip(*graph.edge_index.tolist(), carried, strict=True))
    undirected = forward == sorted((v, u, data) for u, v, data in forward)
    multi = len({(u, v) for u, v, _ in forward}) < len(forward)
    kinds = {(True, False): nx.Graph, (True, True): nx.MultiGraph, (False, False): nx.DiGraph}
    out = kinds.get((undirected, multi), nx.MultiDiGraph)()
    out.add_nodes_from(names)
    for u, v, data in forward:
        if u <= v or not undirected:
            out.add_edge(names[u], names[v], **dict(zip(given, data, strict=True)))
    for key, values in (("label", graph.node_label), ("x", graph.x)):
        if values is not None:
            nx.set_node_attributes(out, dict(zip(names, values.tolist(), strict=True)), key)
    return out


def _one(graph: Any) -> Graphs:
    match graph:
        case Graphs():
            return graph
        case np.ndarray():
            return Graphs.from_edges(graph)
    if instance_of(graph, "networkx", "Graph"):
        return _from_networkx(graph)
    if any(instance_of(graph, *kind) for kind in MATRICES):
        return _from_matrix(graph)
    if instance_of(graph, "torch_geometric.data", "Data"):
        return _from_pyg(graph)
    if instance_of(graph, "torch", "Tensor"):
        return Graphs.from_edges(_array(graph))
    raise InputError(f"expected a graph (PyG, networkx, scipy or an edge array), found {type(graph).__name__}")


def _is_one_graph(source: Any) -> bool:
    """Whether this is one of the values that `as_graphs` takes by themselves, rather than a list of graphs."""
    if isinstance(source, np.ndarray):  # of edges, but for what is left of a list when numpy has indexed it
        return source.dtype != object or source.ndim != 1
    return isinstance(source, Graphs) or any(instance_of(source, *kind) for kind in SINGLE)


def instance_of(value: Any, module: str, name: str) -> bool:
    """Whether a value is an instance of a class whose module may not be imported (then it is not)."""
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name))


def _array(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().numpy() if instance_of(tensor, "torch", "Tensor") else np.asarray(tensor)


def _from_pyg(data: Data) -> Graphs:
    columns = {"x": "x", "label": "node_label", "edge_attr": "edge_attr", "edge_label": "edge_label"}
    given: dict[str, Any] = {
        ours: _array(data[theirs]) for theirs, ours in columns.items() if data.get(theirs) is not None
    }
    if data.edge_index is None:
        raise InputError("PyG Data without edge_index: it must have a (2, m) tensor, empty for a graph without edges")
    return Graphs.from_edges(_array(data.edge_index), num_nodes=data.num_nodes, node_ids=data.get("node_ids"), **given)


def _from_matrix(matrix: Any) -> Graphs:
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"adjacency matrix: must be square, found {matrix.shape[0]} × {matrix.shape[1]}")
    coo = matrix.tocoo()
    there = coo.data != 0
    return Graphs.from_edges(np.stack([coo.row[there], coo.col[there]]), num_nodes=matrix.shape[0])


def _from_networkx(graph: nx.Graph) -> Graphs:
    names: list[Hashable] = list(graph.nodes)
    index = {name: i for i, name in enumerate(names)}
    edges = [(index[u], index[v]) for u, v in graph.edges()]
    carried = [data for _, _, data in graph.edges(data=True)]
    if not graph.is_directed():  # a self-loop stays one edge
        carried += [data for (u, v), data in zip(edges, carried, strict=True) if u != v]
        edges += [(v, u) for u, v in edges if u != v]
    columns: dict[str, Any] = {}
    of_nodes = [data for _, data in graph.nodes(data=True)]
    for name, attribute, rows in (
        ("edge_label", "label", carried),
        ("edge_attr", "edge_attr", carried),
        ("node_label", "label", of_nodes),
        ("x", "x", of_nodes),
    ):
        values = [data[attribute] for data in rows if data.get(attribute) is not None]
        if 0 < len(values) < len(rows):
            raise InputError(f"networkx graph, {name}: given for some nodes or edges and missing for others")
        if values:
            columns[name] = np.asarray(values)
    plain = names == list(range(len(names)))
    return Graphs.from_edges(
        np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        num_nodes=len(names),
        node_ids=None if plain else names,
        **columns,
    )


def _join(parts: Iterable[Graphs]) -> Graphs:
    """Several collections as one."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    offsets = np.concatenate([[0], np.cumsum([p.num_nodes for p in parts])]).astype(np.int64)
    edge_offsets = np.concatenate([[0], np.cumsum([p.num_edges for p in parts])]).astype(np.int64)

    def column(name: str) -> np.ndarray | None:
        values = [getattr(p, name) for p in parts]
        size = "num_edges" if name.startswith("edge") else "num_nodes"
        given = [v for v in values if v is not None]
        if not given:
            return None
        for k, (part, value) in enumerate(zip(parts, values, strict=True)):
            if value is None and getattr(part, size):
                raise InputError(f"graph {k} has no {name}, and others do; give it to all or none")
            if value is not None and value.shape[1:] != given[0].shape[1:]:
                raise InputError(f"graph {k}, {name}: expected {given[0].shape[1]} columns, found {value.shape[1]}")
        return np.concatenate(given)

    named = any(p.node_ids is not None for p in parts)
    return Graphs(
        node_ptr=np.concatenate([[0], *(p.node_ptr[1:] + o for p, o in zip(parts, offsets, strict=False))]),
        row_ptr=np.concatenate([[0], *(p.row_ptr[1:] + o for p, o in zip(parts, edge_offsets, strict=False))]),
        neighbour=np.concatenate(
            [np.empty(0, np.int32), *(p.neighbour + o for p, o in zip(parts, offsets, strict=False))]
        ).astype(np.int32),
        **{name: column(name) for name in ("x", "node_label", "edge_label", "edge_attr")},
        node_ids=[name for p in parts for g in range(len(p)) for name in p.ids(g)] if named else None,
    )
