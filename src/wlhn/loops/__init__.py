"""Compiled loops over plain arrays, and the threads they run on. Nothing here knows of tensors or gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wlhn.loops.ahead import Partner

# Called once, before the first loop is compiled that numba's cache does not have: whoever talks to people sets it.
before_compiling: Callable[[], None] | None = None
# A process that compiles loops of training while this one does something else: there during a first use alone.
partner: Partner | None = None
