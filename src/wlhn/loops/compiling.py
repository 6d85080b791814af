"""How loops are compiled, and that it is said: after an install the first use takes seconds before it starts.

What compiles slowly: assigning array slices to each other (2.5 s for numba's message about shapes that differ), sorting
by `np.sort`, a second version of a loop because an array may not be written to, the version for callers in C that numba
makes beside the one for Python (a tenth). Loops here do without the first and the last, and arrays that are mapped into
memory are mapped as private ones that may be written to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys

import wlhn.loops


class _LoadedAlone(FunctionCache):
    """numba's cache of compiled loops; loading one does not first set up the compiler, a fifth of a short command."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._loop = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # what a loaded loop needs of it: arrays that are counted

        def load() -> Any:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)

        found, partner = load(), wlhn.loops.partner
        if found is None and partner is not None:
            found = partner.compiled_loop(self._loop, sig, load)
            if partner.gone:
                wlhn.loops.partner = None
        return found


def looping(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator: compile a function when it is first called, or load it if numba's cache has it; without the GIL."""

    def compiled(function: Callable[..., Any]) -> Any:
        all_options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **options}
        made: Any = numba.njit(**all_options)(function)
        made._cache = _LoadedAlone(function)
        return made

    return compiled


loop = looping()
# Of numbers: sums of a row may be taken in the order that is fastest, and dividing by zero is no error.
arithmetic = looping(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})


class _Announcement(event.Listener):
    """Hears of every compilation, not of what comes from the cache."""

    def on_start(self, event: event.Event) -> None:
        say, wlhn.loops.before_compiling = wlhn.loops.before_compiling, None
        if say is not None:
            say()

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Announcement())
