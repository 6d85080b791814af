"""How to read: what the user says about files, for whichever reader it concerns."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wlhn.data.dataset import Column, Role, TaskChoice


@dataclass(frozen=True)
class ReadOptions:
    """Each format takes what concerns it; `wlhn.data.load` says what the fields mean."""

    self_loops: bool = False
    directed: bool | None = None
    drop_duplicates: bool = False
    task: TaskChoice | None = None
    missing: str | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)
    like: Sequence[Column] = ()
    skip_invalid: bool = False
    progress: bool = False

    def of_nodes(self) -> ReadOptions:
        """The part about columns of nodes or graphs."""
        return replace(self, like=[column for column in self.like if not column.edge])

    def of_edges(self, node_columns: Container[str] = ()) -> ReadOptions:
        """The part about columns of edges: a role goes to the column of that name, the nodes' first."""
        roles = {name: role for name, role in self.roles.items() if name not in node_columns}
        return replace(self, roles=roles, like=[column for column in self.like if column.edge], task=None)

    def of_columns(self, names: Container[str]) -> ReadOptions:
        """The part about the columns of these names."""
        roles = {name: role for name, role in self.roles.items() if name in names}
        return replace(self, roles=roles, like=[column for column in self.like if column.name in names])


DEFAULTS = ReadOptions()
