"""Graph files, one graph each, with a table of targets.

Graph files are GraphML, GML, or edge lists (two names a line, perhaps with a weight; a name alone is a node without
edges; # is a comment). Edge lists are undirected unless told otherwise, GraphML and GML say it themselves. Attributes
of nodes and of edges are columns; a role goes to the column of that name, the nodes' first. Where a node attribute has
the role "target", the items are nodes.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

from wlhn.data.columns import Role
from wlhn.data.dataset import Dataset, TargetLevel
from wlhn.data.readers.attributes import collected, edge_attributes, node_attributes
from wlhn.data.readers.encode import Targets, encode_split, encode_targets
from wlhn.data.readers.limits import check_text
from wlhn.data.readers.table_notes import table_notes
from wlhn.data.readers.tables import DEFAULTS, ReadOptions, Table, read_table
from wlhn.data.readers.text import quoted
from wlhn.data.readers.values import shown
from wlhn.errors import InputError
from wlhn.words import shortened

if TYPE_CHECKING:
    import networkx as nx

MOST_VALUES = 100  # of an edge in an edge list
# What networkx raises, beside its own errors, for text that is not what it reads.
BROKEN = (LookupError, ValueError, TypeError, AttributeError, OverflowError, SyntaxError, AssertionError)
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
    import networkx as nx

    if not path.is_file():
        raise InputError(f"{path}: no such file")
    check_text(str(path), path.stat().st_size, "graph file")
    match path.suffix:
        case ".graphml":
            graph = _parsed(path, "GraphML", nx.read_graphml)
        case ".gml":  # nodes named by label, where all have different ones
            graph = _parsed(path, "GML", nx.read_gml, partial(nx.read_gml, label="id"))
        case ending if ending in EDGE_LISTS:
            graph = _edge_list(path, directed=bool(directed))
        case ending:
            raise InputError(f"{path}: expected a graph file ({', '.join(GRAPH_FILES)}), found '{ending}'")
    if directed is None or directed == graph.is_directed():
        return graph
    return graph.to_directed() if directed else graph.to_undirected()


def _parsed(path: Path, form: str, *readers: Callable[[Path], nx.Graph]) -> nx.Graph:
    """What the first of networkx's readers that can read a file makes of it."""
    import networkx as nx

    for read in readers:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a key without a type is text, which is what we would say too
                return read(path)
        except ParseError as error:
            raise InputError(f"{path}, line {error.position[0]}: is not {form} ({_short(error)})") from None
        except RecursionError:
            raise InputError(f"{path}: is nested too deeply to be {form} of a graph") from None
        except (nx.NetworkXError, *BROKEN) as error:  # an unknown encoding is a LookupError
            failure = error
    raise InputError(f"{path}: is not {form} ({_short(failure)})")


def _short(error: Exception) -> str:
    """One line of what a parser says, which may quote the file at length."""
    return shortened(" ".join(str(error).split()) or type(error).__name__, 120)


def _edge_list(path: Path, *, directed: bool) -> nx.Graph:
    """Two names a line and, where there is more, attributes of the edge: a weight, several values, or a dictionary as
    networkx writes it.
    """
    import networkx as nx

    graph = nx.DiGraph() if directed else nx.Graph()
    for k, line in enumerate(path.read_bytes().split(b"\n")):
        there = f"{path}, line {k + 1}"
        try:
            text = line.split(b"#")[0].decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{there}: expected text in UTF-8, found {quoted(line)}") from None
        names, brace, rest = text.partition("{")
        fields = names.replace(",", " ").split()
        if len(fields) == 1 and not brace:
            graph.add_node(fields[0])
        elif len(fields) > 2 + MOST_VALUES:
            raise InputError(f"{there}: expected two names and at most {MOST_VALUES} values, found {quoted(line)}")
        elif len(fields) > 1:
            graph.add_edge(*fields[:2], **(_dictionary(brace + rest, there) if brace else _values(fields[2:])))
        elif brace:
            raise InputError(f"{there}: expected two names before the attributes, found {quoted(line)}")
    return graph


def _values(fields: list[str]) -> dict[str, Any]:
    """What stands behind the names of an edge, by its place."""
    names = ["weight"] if len(fields) == 1 else [f"value {k + 1}" for k in range(len(fields))]
    return {name: _number(field) for name, field in zip(names, fields, strict=True)}


def _number(field: str) -> float | str:
    try:
        return float(field)
    except ValueError:
        return field


def _dictionary(text: str, there: str) -> dict[str, Any]:
    try:
        given = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        given = None
    if not isinstance(given, dict):
        raise InputError(f"{there}: expected attributes as {{'name': value}}, found {quoted(text.encode())}")
    return {str(name): value for name, value in given.items()}


def read_graph_files(
    files: Sequence[str | Path],
    options: ReadOptions = DEFAULTS,
    *,
    targets: str | Path | None = None,
    name: str = "graphs",
) -> Dataset:
    """Graph files, one graph each, with a table of targets: a column of file names (the ending may go) and targets.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "path.edgelist").write_text("a b\\nb c\\n")
    >>> _ = (folder / "triangle.edgelist").write_text("a b\\nb c\\nc a\\n")
    >>> _ = (folder / "targets.csv").write_text("file,y\\ntriangle,cycle\\npath,tree\\n")
    >>> dataset = read_graph_files(sorted(folder.glob("*.edgelist")), targets=folder / "targets.csv")
    >>> dataset.graph_ids, [dataset.classes[k] for k in dataset.y]
    (['path.edgelist', 'triangle.edgelist'], ['tree', 'cycle'])
    """
    paths = [Path(file) for file in files]
    if not paths:
        raise InputError(f"{name}: has no graph file; it needs at least one")
    graphs = [read_graph_file(path, directed=options.directed) for path in paths]
    where, folder = [path.name for path in paths], paths[0].parent
    nodes = node_attributes(graphs, where, folder, options)
    edge = edge_attributes(graphs, where, folder, options.of_edges(nodes.frame.columns))
    tables = [nodes, edge]
    if targets is not None:
        if nodes.names("target"):
            raise InputError(f"{targets}: '{nodes.names('target')[0]}' of nodes is a target too; keep one of them")
        expected: tuple[Role, ...] = ("id", "target")
        told = read_table(Path(targets), options.of_nodes(), expected=expected, named=("split",), rest="target")
        tables.append(told)
    options.check_roles(*(table.frame for table in tables))
    of_items = nodes if nodes.names("target") else None
    if targets is not None:
        told.check_no_features({*nodes.frame.columns, *edge.frame.columns})
        of_items = replace(told, frame=told.frame.iloc[_rows_of(paths, told)])
    known = Targets.none(len(paths)) if of_items is None else encode_targets(of_items, options)
    collection, notes = collected(graphs, nodes, edge, self_loops=options.self_loops)
    level: TargetLevel = "node" if of_items is nodes else "graph"
    columns = tuple(column for table in tables for column in table.columns)
    splits = () if of_items is None else encode_split(of_items, known)
    said = (*table_notes(tables), *notes)
    return known.dataset(name, collection, level, *said, graph_ids=where, columns=columns, splits=splits)


def _rows_of(paths: list[Path], table: Table) -> list[int]:
    """The row of each file."""
    names = [str(value) for value in table.one("id").tolist()]
    row = table.lines_by_name(names, "graph")
    file: dict[int, Path] = {}
    for path in paths:
        found = [row[key] for key in (path.name, path.stem) if key in row]
        if not found:
            raise InputError(f"{table.path}: has no line for the graph {path.name}; add one with its name or stem")
        at = found[0]
        if file.setdefault(at, path) is not path:
            raise InputError(
                f"{table.path}, line {at + 2}: '{shown(names[at])}' is both {file[at].name} and {path.name}; "
                "keep one of the two files, or give each a line with its ending"
            )
    if len(file) < len(names):
        extra = min(set(range(len(names))) - set(file))
        raise InputError(
            f"{table.path}, line {extra + 2}: there is no graph file '{shown(names[extra])}'; each line needs one"
        )
    return list(file)
