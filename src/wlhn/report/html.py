"""Pages as HTML: one file that loads nothing, with tables that can be sorted and pictures inside.

Markdown is rendered by markdown-it, with raw HTML switched off: whatever a note or a name says is text. The page's
content policy forbids it to load anything.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from wlhn.report.markdown import Block, Pictures, TableBlock, anchor

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def html_page(title: str, body: str, contents: Mapping[str, str] | None = None, refresh: int | None = None) -> str:
    """A page around a body, with a list of contents {id: name}; a browser reads it anew after `refresh` seconds."""
    here = files("wlhn.report").joinpath("page")
    names = ("template.html", "style.css", "page.js")
    template, style, script = (here.joinpath(name).read_text(encoding="utf-8") for name in names)
    links = "".join(f'<li><a href="#{key}">{html.escape(name)}</a>' for key, name in (contents or {}).items())
    return Template(template).substitute(
        policy=POLICY,
        again="" if refresh is None else f'\n<meta http-equiv="refresh" content="{refresh}">',
        title=html.escape(title),
        style=style,
        contents=f'<nav aria-label="Contents"><ol>{links}</ol></nav>' if links else "",
        body=body,
        script=script,
    )


def html_body(
    blocks: Sequence[Block],
    link: Callable[[str], str] = lambda href: href,
    prefix: str = "",
    least_heading: int = 1,
) -> str:
    """Blocks as HTML.

    Args:
        blocks: what there is to show.
        link: where a link of the Markdown goes on this page.
        prefix: of the ids that headings get.
        least_heading: headings are of this level at least.

    >>> html_body(["A *b* <c>"])
    '<p>A <em>b</em> &lt;c&gt;</p>\\n'
    """
    env = {"link": link, "prefix": prefix, "least": least_heading}
    return "\n".join(_block(block, env) for block in blocks)


def folded(key: str, summary: str, inside: str) -> str:
    """A part that opens on a click, or when a link leads into it."""
    return f'<details id="{key}"><summary>{html.escape(summary)}</summary>\n{inside}\n</details>'


def _block(block: Block, env: dict[str, Any]) -> str:
    match block:
        case TableBlock(header, rows, closing):
            return _table(header, rows, closing, env)
        case Pictures(names, folder, _):
            shown = ((name, folder / f"{name}.svg") for name in names)
            return "".join(
                f'<figure><img alt="{html.escape(name)}" src="data:image/svg+xml;base64,'
                f'{base64.b64encode(path.read_bytes()).decode()}"><figcaption>{html.escape(name)}</figcaption></figure>'
                for name, path in shown
                if path.exists()
            )
    return str(_markdown().render(block, env))


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], closing: Sequence[Sequence[str]], env: dict[str, Any]
) -> str:
    """A table whose wide content scrolls by itself; the first cell of a row is its name."""

    def line(cells: Sequence[str]) -> str:
        first, *others = (_markdown().renderInline(cell, env) for cell in cells)
        return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'

    head = "".join(f'<th scope="col">{_markdown().renderInline(name, env)}</th>' for name in header)
    foot = f"<tfoot>{''.join(map(line, closing))}</tfoot>" if closing else ""
    return (
        '<div class="wide" tabindex="0"><table class="sortable">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(line, rows))}</tbody>{foot}</table></div>"
    )


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.add_render_rule("heading_open", _heading)
    made.add_render_rule("heading_close", _heading)
    made.add_render_rule("link_open", _link)
    return made


def _heading(self: Any, tokens: Sequence[Any], k: int, options: Any, env: dict[str, Any]) -> str:
    token = tokens[k]
    token.tag = f"h{max(int(token.tag[1]), env['least'])}"
    if token.nesting == 1:
        token.attrSet("id", env["prefix"] + anchor(tokens[k + 1].content))
    return str(self.renderToken(tokens, k, options, env))


def _link(self: Any, tokens: Sequence[Any], k: int, options: Any, env: dict[str, Any]) -> str:
    tokens[k].attrSet("href", env["link"](str(tokens[k].attrGet("href"))))
    return str(self.renderToken(tokens, k, options, env))
