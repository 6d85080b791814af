"""What training loads: nothing that it does not need, as heavy packages take as long to import as an epoch."""

import subprocess
import sys
from pathlib import Path

RUN = """
import sys
from wlhn.cli import main
sys.argv = ["wlhn", "train", "--epochs", "1", "--out", {out!r}]
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
heavy = {{"matplotlib", "sklearn", "pandas", "networkx", "scipy.sparse", "torch_geometric", "geoopt", "torch._dynamo"}}
heavy |= {{"scipy.linalg", "cffi", "numba.cpython.mathimpl"}}  # what sets up numba's compiler
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""


def test_training_loads_what_computes_and_draws_its_curve_by_hand(tmp_path: Path) -> None:
    for folder in (tmp_path / "first", tmp_path / "run"):
        code = RUN.format(out=str(folder))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        if "Compiling the loops" not in done.stderr:  # as they are once
            break
    assert done.returncode == 0, done.stderr
    assert "epoch" in (folder / "learning-curve.svg").read_text()
