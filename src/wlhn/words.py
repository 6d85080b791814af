"""How sentences name things: one after the other, and not at length."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[object], last: str = "and", most: int | None = None) -> str:
    """Names in a sentence; where there are more than `most`, the first of them.

    >>> listed(["wl", "oa", "wasserstein"], "or"), listed(["wl"]), listed([])
    ('wl, oa or wasserstein', 'wl', 'none')
    >>> listed(range(100), most=3)
    '0, 1, 2, …'
    """
    *before, final = every = list(map(str, names)) or ["none"]
    if most is not None and len(every) > most:
        return f"{', '.join(every[:most])}, …"
    return f"{', '.join(before)} {last} {final}" if before else final


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "graph"), counted(2000, "node")
    ('1 graph', '2,000 nodes')
    """
    return f"{number:,} {what}{'s' * (number != 1)}"


def shortened(text: str, most: int) -> str:
    """A text of so many characters at most.

    >>> shortened("aaaaaa", 4)
    'aaa…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
