"""Tables and numbers as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its first column to the left, the others to the right.

    >>> print(markdown_table(["a", "b"], [["x", "1"]]))
    | a | b |
    | --- | ---: |
    | x | 1 |
    """
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def anchor(heading: str) -> str:
    """What links to a heading end in, where Markdown is shown on the web.

    >>> anchor("Cornell+feature-noise-0.1")
    'cornellfeature-noise-01'
    """
    kept = (c for c in heading.lower() if c.isalnum() or c in " -_")
    return "".join(kept).replace(" ", "-")


def plus_minus(mean: float, deviation: float | None, digits: int) -> str:
    """A mean with its standard deviation, where there is one.

    >>> plus_minus(86.04, 7.4, 1), plus_minus(34.59, None, 2)
    ('86.0 ± 7.4', '34.59')
    """
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def signed(value: float, digits: int) -> str:
    """A difference, with its sign; none is +0.

    >>> signed(-1.84, 1), signed(-0.04, 1)
    ('-1.8', '+0.0')
    """
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(42.4), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def listed(names: Sequence[str], none: str = "none") -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(names) < 2:
        return names[0] if names else none
    return f"{', '.join(names[:-1])} and {names[-1]}"
