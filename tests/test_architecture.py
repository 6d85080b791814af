"""The layout is a law: imports between rooms point one way, no two files import each other, rooms stay small."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import wlhn

# A room knows only itself and the rooms above it in this list.
ROOMS = """
    errors words documents notebook files plugins options hyperbolic loops graphs hierarchy data kernels batching ops
    embeddings nn models training runs evaluation inspection report bench experiments estimators cli __main__
""".split()  # noqa: SIM905
LARGEST_ROOM = 20  # files
SOURCE = Path(wlhn.__file__).parent


def module_name(path: Path) -> str:
    return ".".join(("wlhn", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def imported_modules(path: Path) -> set[str]:
    """The modules of ours that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in MODULES else str(node.module))
    return names & set(MODULES)


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "wlhn"


def test_imports_point_one_way_and_never_in_circles() -> None:
    imports = {module: imported_modules(path) - {module} for module, path in MODULES.items()}
    wrong = [
        f"{module} imports {other}"
        for module, others in imports.items()
        for other in others
        if module != "wlhn" and room(other) not in ROOMS[: ROOMS.index(room(module)) + 1]
    ]
    assert not wrong
    try:
        tuple(TopologicalSorter(imports).static_order())
    except CycleError as error:
        raise AssertionError(f"files import each other: {' → '.join(error.args[1])}") from None


def test_every_room_fits_on_a_screen() -> None:
    folders = {path.parent for path in MODULES.values()}
    sizes = {str(folder): len(list(folder.glob("*.py"))) for folder in folders}
    assert {folder: size for folder, size in sizes.items() if size > LARGEST_ROOM} == {}
