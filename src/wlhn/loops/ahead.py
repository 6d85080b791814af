"""Two processes compile the loops of a training step: `python -m wlhn.loops.ahead FOLDER` is the second of them.

It begins while the first imports torch, reads data and refines colours, and imports no torch itself. Whoever compiles a
loop takes it, by a file in a folder that both know, so that nothing is compiled twice; a process that needs a loop the
other has taken compiles another one meanwhile.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import types

# The loops of a step and the types they are compiled for, those that take longest first. A letter is a number (i and h
# integers of 64 and 32 bits, d and f floats, b yes or no), with 1 or 2 behind it a vector or a matrix of such numbers.
LOOPS = {
    "levels.backward": "i i f2 f1 f2 f2 d2 i1 d2 f1 f2 f2 f2 f1 f2 f2 f1",
    "levels.forward": "i i f2 f1 f2 f2 d2 i1 b f1 f2 f2 d2",
    "collation.enter_rows": "h1 i1 h1 h1 i1 h1 b",
    "gin.fold_back": "f2 d f1 f2 f1 f1 f1 f2",
    "collation.transpose": "i1 h1 f1 i",
    "rows.unit": "i i f2 f2 f1",
    "collation.take_rows": "h1 h1 i1 h1 h1 h1 i",
    "gin.aggregate_relu_sums": "i i d f1 i1 h1 f1 i1 f1 f2 f2 d2",
    "gin.relu_back": "i i f2 f2 f1 f1 f2 d2",
    "sums.sum_radial_back": "i i i1 h1 f1 f1 f2 f2 f1 f2",
    "gin.fold": "d f2 f1 f1 f1 f1 f2 f2",
    "levels.hyperbolic": "f1",
    "gin.relu_moments_back": "i i f2 f1 f1 f1 f2 d2",
    "gin.aggregate_back": "i i d i1 h1 f1 i1 f2 f2",
    "gin.squared_sums": "i i f2 f1 f1 d2",
    "collation.mark_new": "i1 h1 i1 h1",
    "sums.sum_radial": "i i i1 h1 f1 f1 f2 f2",
    "rows.unit_back": "i i f2 f1 f2 f2",
    "gin.mean_of": "d2 d f1",
    "rows.norms": "i i f2 f1",
    "rows.relu_norms": "i i f2 f1",
    "rows.norms_back": "i i f2 f1 f1 f2",
    "adam.moments": "f1 f1 d d d f1 f1",
    "adam.move": "f1 f1 d d d f1",
}
LONGEST_WAIT = 60.0  # seconds for a loop that the other process has taken; it may have been stopped
NUMBERS = {"i": types.int64, "h": types.int32, "d": types.float64, "f": types.float32, "b": types.boolean}


def argument_types(name: str) -> tuple[Any, ...]:
    """The types of a loop's arguments, as numba has them."""
    return tuple(
        types.Array(NUMBERS[word[0]], int(word[1]), "C") if word[1:] else NUMBERS[word] for word in LOOPS[name].split()
    )


def compile_ahead(name: str) -> None:
    """Compile one of the loops into numba's cache, or load it from there."""
    module, function = name.split(".")
    getattr(import_module(f"wlhn.loops.{module}"), function).compile(argument_types(name))


class Partner:
    """The first process's view of the second one."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder, self.process, self.own = folder, process, set[str]()
        self.gone = False  # whether to wait for it is in vain: it has ended, or does not go on

    def compiled_loop(self, name: str, signature: Any, load: Callable[[], Any]) -> Any:
        """A loop as the partner has compiled it; None if that is left to us."""
        if name in self.own or LOOPS.get(name) is None or tuple(signature) != argument_types(name) or self._take(name):
            return None
        limit = time.monotonic() + LONGEST_WAIT
        while not (self.folder / f"{name}.done").exists():
            self.gone = self.gone or self.process.poll() is not None or time.monotonic() > limit
            if self.gone:
                break
            other = next((other for other in LOOPS if self._take(other)), None)
            if other is None:
                time.sleep(0.01)
            else:
                with suppress(Exception):  # should it be needed, it fails again where people can see it
                    compile_ahead(other)
        return load()

    def _take(self, name: str) -> bool:
        if name in self.own or not take(self.folder, name):
            return False
        self.own.add(name)
        return True


def take(folder: Path, name: str) -> bool:
    """Whether a loop is ours to compile: nobody has taken it before."""
    try:
        os.close(os.open(folder / name, os.O_CREAT | os.O_EXCL))
    except OSError:  # taken; or the folder is gone, and with it who needed the loop
        return False
    return True


def main(folder: Path) -> None:
    """Compile what the other process has not taken. What fails here fails there too, where people can see it."""
    for name in LOOPS:
        if take(folder, name):
            with suppress(Exception):
                compile_ahead(name)
            with suppress(OSError):
                (folder / f"{name}.done").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
