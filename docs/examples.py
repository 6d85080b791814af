"""Examples in docstrings stand there as they are run, without a heading: on the page they become code."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^>>>.*\n?(?:^(?!\s*$).*\n?)*)", re.MULTILINE)


class Examples(griffe.Extension):
    """Fences around every paragraph that starts with >>>."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and "```" not in obj.docstring.value:
            obj.docstring.value = EXAMPLE.sub(lambda m: f"```pycon\n{m[0].rstrip()}\n```\n", obj.docstring.value)
