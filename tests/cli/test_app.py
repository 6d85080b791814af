"""The command itself: its version, its help, and one sentence for bad input."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import wlhn

from wlhn.cli.app import COMMANDS, load_command

SLOW = {"numpy", "torch", "numba", "scipy", "pandas", "networkx", "matplotlib", "rich", "wlhn.data", "wlhn.graphs"}


def test_version_in_a_process_of_its_own() -> None:
    """As installed: the console script's entry point, run by a fresh interpreter."""
    command = [sys.executable, "-c", "from wlhn.cli import main; main()", "--version"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == f"wlhn {importlib.metadata.version('wlhn')}\n"
    assert ran.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        ("--version", {}, "wlhn "),
        ("--help", {}, "train"),
        ("", {"_WLHN_COMPLETE": "complete_bash", "COMP_WORDS": "wlhn tr", "COMP_CWORD": "1"}, "train"),
        ("", {"_WLHN_COMPLETE": "source_bash"}, "complete -o default -F _wlhn_completion wlhn"),
    ],
)
def test_version_help_and_completion_import_nothing_slow(
    arguments: str, environment: dict[str, str], expected: str
) -> None:
    """Which is what makes them quick; seconds depend on the machine."""
    code = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    code += "from wlhn.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments.split()], capture_output=True, text=True, env=os.environ | environment
    )
    assert ran.returncode == 0
    assert expected in ran.stdout
    assert SLOW & set(ran.stderr.split()) == set()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("trian", "Did you mean 'train'?"),
        *((f"{command} --help", f"Usage: wlhn {command}") for command in ("train", "score", "similar", "explore")),
    ],
)
def test_what_is_not_computed_needs_no_numbers(arguments: str, expected: str) -> None:
    code = "import atexit, sys; atexit.register(lambda: print('with', *sys.modules)); "
    code += "sys.argv[0] = 'wlhn'; from wlhn.cli import main; main()"
    ran = subprocess.run([sys.executable, "-c", code, *arguments.split()], capture_output=True, text=True)
    assert expected in ran.stdout + ran.stderr
    assert {"numpy", "torch", "numba", "scipy"} & set(ran.stdout.split("\nwith ")[-1].split()) == set()


def test_the_shell_completes_options_of_a_command() -> None:
    words = {"_WLHN_COMPLETE": "complete_bash", "COMP_WORDS": "wlhn train --see", "COMP_CWORD": "2"}
    command = [sys.executable, "-m", "wlhn"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | words)
    assert ran.stdout.split() == ["--seed"]


def test_the_package_is_a_command_too() -> None:
    ran = subprocess.run([sys.executable, "-m", "wlhn", "--help"], capture_output=True, text=True, check=True)
    assert ran.stdout == wlhn("--help").out
    assert ran.stdout.startswith("Usage: wlhn [OPTIONS] COMMAND")


def test_every_name_is_a_command_and_has_its_sentence() -> None:
    shown = " ".join(wlhn("--help").out.split())
    for name, (_, sentence) in COMMANDS.items():
        assert load_command(name).name == name
        assert load_command(name).help
        assert f"{name} {sentence}" in shown


@pytest.mark.parametrize(
    "command",
    [
        "",
        "train",
        "predict",
        "evaluate",
        "hierarchy",
        "embed",
        "bench",
        "bench refine",
        "bench construct",
        "datasets",
        "datasets check",
    ],
)
def test_help_of_every_command(command: str) -> None:
    ran = wlhn(*command.split(), "--help")
    assert ran.code == 0
    assert "Usage:" in ran.out


def test_unknown_commands_and_options_leave_with_2() -> None:
    assert wlhn("nonsense").code == 2
    assert wlhn("hierarchy", "MUTAG", "--nonsense").code == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["hierarchy", "no-such-set"], "no-such-set: neither a known data set nor a path"),
        (["hierarchy", "MUTAG", "--rounds", "-1"], "rounds: must be 0 or more, found -1"),
        (["hierarchy", "MUTAG", "--initial", "colour"], "initial: must be uniform, degree, label, features"),
        (["hierarchy", "karate", "--initial", "label"], "initial: the graphs have no node labels"),
        (["hierarchy", "karate", "--edge-labels"], "edge_labels: the graphs have neither"),
        (["embed", "MUTAG", "--tau", "-1"], "tau: expected a positive length, found -1"),
        (["embed", "MUTAG", "--tau", "nan"], "tau: expected a positive length, found nan"),
        (["embed", "MUTAG", "--method", "magic"], "method: must be sarkar, sala or diffhypcon, found 'magic'"),
        (["embed", "MUTAG", "--method", "sarkar", "--dimension", "3"], "dimension: sarkar embeds in 2 dimensions"),
        (["embed", "MUTAG", "--dimension", "1"], "dimension: must be 2 or more, found 1"),
        (["embed", "karate", "--initial", "uniform", "--rounds", "0"], "tree: it is a root alone"),
        (["bench", "refine", "--max-edges", "3"], "edges: must be 100 or more, found 3"),
        (["bench", "construct", "--rows", "3"], "rows and dimension: expected an even"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments: list[str], sentence: str) -> None:
    ran = wlhn(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert errors[0].startswith(f"error: {sentence}")
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "command", ["kernel", "hierarchy", "embed", "explore", "datasets show", "datasets audit", "similar --by kernel"]
)
def test_what_an_error_of_a_reader_advises_is_an_option_of_the_command(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people").mkdir()
    Path("people/nodes.csv").write_text("who,club\n" + "".join(f"p{k},{'ab?'[k % 3]}\n" for k in range(12)))
    Path("people/edges.csv").write_text("from,to\n" + "".join(f"p{k},p{(k + 1) % 12}\n" for k in range(12)))
    more = ["--graph", "0"] if command.startswith("similar") else []
    asked = wlhn(*command.split(), "people", *more)
    assert asked.code == 2
    for advice in ("--missing=?", "--missing="):
        assert f"`{advice}`" in asked.err
        ran = wlhn(*command.split(), "people", *more, advice)
        assert ran.code == 0, ran.err
    Path("people/nodes.csv").write_text("who,much,yes\n" + "".join(f"p{k},{k / 2},{k % 2}\n" for k in range(12)))
    both = ["--role", "much=target", "--role", "yes=target"]
    asked = wlhn(*command.split(), "people", *more, *both)
    assert asked.code == 2
    assert "`--task regression` takes all as numbers" in asked.err
    ran = wlhn(*command.split(), "people", *more, *both, "--task", "regression")
    assert ran.code == 0, ran.err


def test_help_names_the_default_that_a_command_has() -> None:
    shown = {name: " ".join(wlhn(name, "--help").out.split()) for name in ("hierarchy", "embed")}
    assert "--rounds <int> Rounds of refinement. [default: until none splits]" in shown["hierarchy"]
    assert "--rounds <int> Rounds of refinement. [default: 2]" in shown["embed"]
