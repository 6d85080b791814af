"""Small tables for notebooks (`_repr_html_`): whatever comes from data is written as text, never as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from wlhn.words import shortened

LONGEST = 200  # characters of a cell
ROWS = 12  # shown; the last of more are left out, and said to be


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A title and a table; whole numbers with thousands separators, long texts and long tables cut.

    >>> html_table("<b>", ["nodes"], [[3371]])
    '<div><strong>&lt;b&gt;</strong><table><thead>...<th>nodes</th>...<td>3,371</td>...</table></div>'
    """
    body = [list(row) for row in rows]
    more = f"<div>… and {len(body) - ROWS:,} more</div>" if len(body) > ROWS else ""
    head = "".join(f"<th>{_cell(name)}</th>" for name in columns)
    lines = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in body[:ROWS])
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<div><strong>{_cell(title)}</strong>{table}{more}</div>"


def _cell(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return html.escape(shortened(text, LONGEST))
