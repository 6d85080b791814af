"""Numbers that other x86-64 processors give too: instruction sets held to AVX2 with fused multiply-add.

Libraries choose their code by what the processor can do, and sums in wider registers round differently. These variables
hold them to one level; libraries read them as they load, so a process has them from its start.
"""

from __future__ import annotations

import os
import sys

VARIABLES = {
    "ATEN_CPU_CAPABILITY": "avx2",  # torch's own loops
    "MKL_CBWR": "COMPATIBLE",  # torch's BLAS: the one branch that it also offers on processors that are not Intel's
    "ONEDNN_MAX_CPU_ISA": "AVX2",  # torch's other one
    "OPENBLAS_CORETYPE": "Haswell",  # that of NumPy and SciPy
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
    "NUMBA_CPU_NAME": "haswell",  # our compiled loops
    "NUMBA_CPU_FEATURES": "+avx2,+fma",
}


def is_portable() -> bool:
    """Whether this process has them all."""
    return all(os.environ.get(name) == value for name, value in VARIABLES.items())


def restart_portably() -> None:
    """Begin this process again with the variables, unless it has them."""
    if not is_portable():
        sys.stdout.flush()
        os.execve(sys.executable, sys.orig_argv, os.environ | VARIABLES)
