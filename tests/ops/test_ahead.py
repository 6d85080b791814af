"""Loops compiled ahead of need are those that training needs, for the types that it has."""

import subprocess
import sys

NEEDED = """
import tempfile
from wlhn.loops import collation, gin, levels, rows, sums
from wlhn.ops.ahead import compile_ahead

def versions():
    found = {}
    for module in (collation, gin, levels, rows, sums):
        for name, loop in vars(module).items():
            if hasattr(loop, "signatures"):
                found[f"{module.__name__}.{name}"] = set(map(str, loop.signatures))
    return found

compile_ahead()
ahead = versions()
from wlhn.cli.app import app
try:
    app(["train", "MUTAG", "--epochs", "1", "--json", "--out", tempfile.mkdtemp() + "/run"])
except SystemExit as left:
    assert not left.code
for name, those in versions().items():
    assert those <= ahead[name], (name, those - ahead[name])
assert sum(map(len, ahead.values())) >= 15
"""


def test_training_needs_no_other_versions_of_its_loops() -> None:
    ran = subprocess.run([sys.executable, "-c", NEEDED], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
