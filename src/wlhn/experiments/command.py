"""The command that makes an item, or a part of it, again."""

from __future__ import annotations

import shlex


def command_for(item: str, **options: object) -> str:
    """The command, in a folder without results: where there are some, nothing is done again.

    >>> command_for("table-graphs", dataset="MUTAG", final_runs=1, grid=None)
    '`wlhn reproduce table-graphs --dataset MUTAG --final-runs 1 --out again`'
    """
    given = [
        f" --{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in options.items() if value is not None
    ]
    return f"`wlhn reproduce {item}{''.join(given)} --out again`"
