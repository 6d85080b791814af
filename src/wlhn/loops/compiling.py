"""How loops are compiled, and that it is said: after an install the first use takes seconds before it starts.

What compiles slowly: assigning array slices to each other (2.5 s for numba's message about shapes that differ), sorting
by `np.sort`, a second version of a loop because an array may not be written to. Loops here do without the first, and
arrays that are mapped into memory are mapped as private ones that may be written to.
"""

from __future__ import annotations

import numba
from numba.core import event

import wlhn.loops

loop = numba.njit(cache=True, nogil=True)
# Of numbers: sums of a row may be taken in the order that is fastest, and dividing by zero is no error.
arithmetic = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})


class _Announcement(event.Listener):
    """Hears of every compilation, not of what comes from the cache."""

    def on_start(self, event: event.Event) -> None:
        say, wlhn.loops.before_compiling = wlhn.loops.before_compiling, None
        if say is not None:
            say()

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Announcement())
