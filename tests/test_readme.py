"""What the README shows works: its Python runs, its commands exist with the options it names."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from wlhn.cli.app import app

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL) for line in block.splitlines()]


def test_python_runs() -> None:
    assert len(PYTHON) >= 2
    for block in PYTHON:
        names: dict[str, object] = {}
        for line in block.splitlines():
            if (shown := re.fullmatch(r"(\S.*?)\s+# (\[.*\]|array\(.*\))", line)) is None:
                exec(line, names)
            else:  # an expression with what it gives
                assert repr(eval(shown[1], names)) == shown[2]


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("wlhn ")])
def test_commands_exist(line: str) -> None:
    command = get_command(app)
    words = shlex.split(line, comments=True)[1:]
    while words and (found := getattr(command, "commands", {}).get(words[0])):
        command, words = found, words[1:]
    known = {name for parameter in command.params for name in parameter.opts}
    assert command.name != app.info.name
    assert {word for word in words if word.startswith("--")} <= known
