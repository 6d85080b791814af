"""mkdocs asks this file for the page of commands: it is written from the commands themselves."""

from typing import Any

import typer.main

from wlhn.cli.app import app


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    return markdown.replace("<!-- commands -->", commands()) if page.file.src_path == "commands.md" else markdown


def commands() -> str:
    """Every command with its help and its options."""
    return "\n\n".join(_described(command, f"wlhn {name}") for name, command in _of(typer.main.get_command(app)))


def _of(group: Any) -> list[tuple[str, Any]]:
    return sorted(group.commands.items())


def _described(command: Any, name: str) -> str:
    inner = [_described(part, f"{name} {key}") for key, part in _of(command)] if "commands" in vars(command) else []
    rows = [
        f"| `{' / '.join(p.opts) if p.param_type_name == 'option' else (p.metavar or p.name.upper())}` | {_text(p)} |"
        for p in command.params
        if p.name != "help"
    ]
    table = "\n".join(["| option | |", "| --- | --- |", *rows]) if rows else ""
    return "\n\n".join(part for part in (f"## {name}", command.help or "", table, *inner) if part)


def _text(parameter: Any) -> str:
    return str(getattr(parameter, "help", None) or "").replace("|", "\\|")
