"""--portable begins the command again with instruction sets held to a common level, and the run says so."""

import json
import os
import subprocess
from pathlib import Path

from running import COMMAND

from wlhn.options.portable import VARIABLES

GIVEN = ["train", "karate", "--epochs", "2", "--hidden-channels", "8", "--model", "gin", "--out"]


def test_a_portable_run_is_made_and_says_so(tmp_path: Path) -> None:
    """The same as with the variables set beforehand, bit for bit."""
    plain = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    subprocess.run([*COMMAND, *GIVEN, "flag", "--portable"], cwd=tmp_path, env=plain, check=True)
    subprocess.run([*COMMAND, *GIVEN, "given"], cwd=tmp_path, env=plain | VARIABLES, check=True)
    flag, given = tmp_path / "flag", tmp_path / "given"
    for folder in (flag, given):
        assert json.loads((folder / "environment.json").read_text())["instructions"].endswith(", portable")
    assert (flag / "model.safetensors").read_bytes() == (given / "model.safetensors").read_bytes()
