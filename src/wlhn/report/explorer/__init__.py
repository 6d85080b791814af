"""The explorer: one self-contained page, assembled from template.html, style.css and the scripts beside it.

Data go into the page as JSON that no name can leave (every <, > and & is written as an escape), and the scripts write
them as text, never as HTML. The page loads nothing; its content policy forbids it to.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from wlhn.errors import InputError
from wlhn.files import write_text

SCRIPTS = ("mobius.js", "drawing.js", "disc.js", "map.js", "page.js")


def page(document: Mapping[str, Any]) -> str:
    """The page of an explorer document as HTML.

    >>> "<script>alert" in page({"title": "<script>alert(1)</script>"})
    False
    """
    here = files(__package__)
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    parts = {
        "TITLE": html.escape(str(document["title"])),
        "STYLE": here.joinpath("style.css").read_text(encoding="utf-8"),
        "SCRIPT": "\n".join(here.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS),
        "DATA": text,
    }
    # One pass over the template, so that nothing in the data is taken for a slot.
    pieces = here.joinpath("template.html").read_text(encoding="utf-8").split("%%")
    return "".join(parts[piece] if k % 2 else piece for k, piece in enumerate(pieces))


def write_page(document: Mapping[str, Any], path: str | Path) -> None:
    """Write the page to an .html file."""
    if Path(path).suffix != ".html":
        raise InputError(f"{path}: the page is HTML; give it a name that ends in .html")
    write_text(path, page(document))
