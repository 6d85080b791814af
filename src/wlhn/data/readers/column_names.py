"""What columns of tables are called, and what their names say: in any case, with or without `_`, `-` and spaces."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from wlhn.data.columns import Role

ENDS: tuple[Role, Role] = ("from", "to")
END_NAMES = (  # as `plain` has them; the last pair may mean anything but in a table of edges
    *(("source", "target"), ("sourceid", "targetid"), ("sourcenode", "targetnode"), ("src", "dst"), ("src", "dest")),
    *(("from", "to"), ("fromid", "toid"), ("fromnode", "tonode"), ("fromnodeid", "tonodeid"), ("u", "v")),
    *(("head", "tail"), ("start", "end"), ("node1", "node2"), ("nodeid1", "nodeid2"), ("id1", "id2")),
    *(("nodeu", "nodev"), ("nodea", "nodeb"), ("vertex1", "vertex2"), ("a", "b")),
)
NAMES: dict[Role, tuple[str, ...]] = {
    "id": ("id", "node", "nodeid", "name", "molid", "graph", "graphid", "file", "filename"),
    "from": tuple(pair[0] for pair in END_NAMES),
    "to": tuple(pair[1] for pair in END_NAMES),
    "smiles": ("smiles",),
    "split": ("split",),
    "target": ("target", "label", "class", "y"),
}
EDGE_IDS = ("id", "edge", "edgeid", "eid")  # of edges, which need no names, if no two are alike


def plain(name: str) -> str:
    """A column's name as names are compared.

    >>> plain("Node_ID")
    'nodeid'
    """
    return re.sub(r"[\s_-]", "", name).casefold()


def known_ends(names: Collection[str], sides: Sequence[int] = (0, 1)) -> dict[str, Role]:
    """The columns among these whose names say that they are the two ends of edges, or one of them.

    >>> known_ends(["weight", "Node_2", "Node_1"]), known_ends(["source", "to"])
    ({'Node_1': 'from', 'Node_2': 'to'}, {})
    """
    place = {plain(name): name for name in reversed(list(names))}
    for pair in END_NAMES:
        if all(pair[side] in place for side in sides):
            return {place[pair[side]]: ENDS[side] for side in sides}
    return {}
