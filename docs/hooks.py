"""mkdocs asks this file for the page of commands: it is written from the commands themselves."""

from typing import Any

from wlhn.cli.app import COMMANDS, load_command


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    return markdown.replace("<!-- commands -->", commands()) if page.file.src_path == "commands.md" else markdown


def commands() -> str:
    """Every command with its help and its options."""
    return "\n\n".join(_described(load_command(name), f"wlhn {name}") for name in sorted(COMMANDS))


def _described(command: Any, name: str) -> str:
    parts = sorted(getattr(command, "commands", {}).items())
    inner = [_described(part, f"{name} {key}") for key, part in parts]
    rows = [
        f"| `{' / '.join(p.opts) if p.param_type_name == 'option' else (p.metavar or p.name.upper())}` | {_text(p)} |"
        for p in command.params
        if p.name != "help"
    ]
    table = "\n".join(["| option | |", "| --- | --- |", *rows]) if rows else ""
    return "\n\n".join(part for part in (f"## {name}", command.help or "", table, *inner) if part)


def _text(parameter: Any) -> str:
    return str(getattr(parameter, "help", None) or "").replace("|", "\\|")
