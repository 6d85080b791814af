"""Imports between rooms point one way: a room knows only the rooms above it in this list."""

import ast
from pathlib import Path

import pytest

import wlhn

ROOMS = [
    "errors",
    "files",
    "parallel",
    "graphs",
    "hyperbolic",
    "hierarchy",
    "embeddings",
    "data",
    "models",
    "evaluation",
    "report",
    "bench",
    "experiments",
    "estimators",
    "cli",
]
SOURCE = Path(wlhn.__file__).parent


def rooms_imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "wlhn" else {node.module}
    return {name.split(".")[1] for name in names if name.startswith("wlhn.")}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    above = ROOMS[: ROOMS.index(room) + 1]
    assert rooms_imported(path) <= set(above)
