"""How sentences name things: one after the other, and not at length."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[object], last: str = "and") -> str:
    """Names in a sentence.

    >>> listed(["wl", "oa", "wasserstein"], "or"), listed(["wl"]), listed([])
    ('wl, oa or wasserstein', 'wl', 'none')
    """
    *most, final = list(map(str, names)) or ["none"]
    return f"{', '.join(most)} {last} {final}" if most else final


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
