"""One graph from one file: GraphML, GML, or an edge list."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import ParseError

import networkx as nx

from wlhn.data.readers.text import quoted
from wlhn.errors import InputError

EDGE_LISTS = (".edgelist", ".edges", ".txt")
GRAPH_FILES = (".graphml", ".gml", *EDGE_LISTS)


def read_graph_file(path: Path, *, directed: bool | None = None) -> nx.Graph:
    """The graph of a file by its ending; `directed` in place of what the file says.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "triangle.edgelist"
    >>> _ = file.write_text("a b\\nb c\\nc a\\nalone\\n")
    >>> read_graph_file(file).nodes
    NodeView(('a', 'b', 'c', 'alone'))
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a graph there")
    match path.suffix:
        case ".graphml":
            graph = _graphml(path)
        case ".gml":
            graph = _gml(path)
        case ending if ending in EDGE_LISTS:
            graph = _edge_list(path, directed=bool(directed))
        case ending:
            raise InputError(f"{path}: expected a graph file ({', '.join(GRAPH_FILES)}), found '{ending}'")
    if directed is None or directed == graph.is_directed():
        return graph
    return graph.to_directed() if directed else graph.to_undirected()


def _graphml(path: Path) -> nx.Graph:
    try:
        return nx.read_graphml(path)
    except ParseError as error:
        raise InputError(f"{path}, line {error.position[0]}: expected GraphML ({error})") from None
    except (nx.NetworkXError, LookupError, ValueError, TypeError) as error:  # an unknown encoding is a LookupError
        raise InputError(f"{path}: expected GraphML ({error})") from None


def _gml(path: Path) -> nx.Graph:
    failures = []
    for label in ("label", "id"):  # nodes named by label, where all have different ones
        try:
            return nx.read_gml(path, label=label)
        except (nx.NetworkXError, KeyError, ValueError, TypeError, UnicodeError, AttributeError) as error:
            failures.append(error)
    raise InputError(f"{path}: expected GML ({failures[-1]})")


def _edge_list(path: Path, *, directed: bool) -> nx.Graph:
    graph = nx.DiGraph() if directed else nx.Graph()
    for k, line in enumerate(path.read_bytes().split(b"\n")):
        try:
            fields = line.split(b"#")[0].decode("utf-8").replace(",", " ").split()
        except UnicodeDecodeError:
            raise InputError(f"{path}, line {k + 1}: expected text in UTF-8, found {quoted(line)}") from None
        if len(fields) == 1:
            graph.add_node(fields[0])
        elif fields:
            graph.add_edge(fields[0], fields[1])
    return graph
