"""What can be reproduced, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wlhn.experiments.cells import reproduce_table
from wlhn.experiments.request import Done, Request
from wlhn.models.settings import one_of

Run = Callable[[str, Request], Iterator[Done]]

ITEMS: dict[str, Run] = {
    "table-structural": reproduce_table,
    "table-nodes": reproduce_table,
    "table-graphs": reproduce_table,
    "table-molecules": reproduce_table,
}


def reproduce(item: str, request: Request) -> Iterator[Done]:
    """Run a table or figure of the paper, or the part that is asked for; what is done already is not done again."""
    one_of("item", item, *ITEMS)
    return ITEMS[item](item, request)
