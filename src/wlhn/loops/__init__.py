"""Compiled loops over plain arrays, and the threads they run on. Nothing here knows of tensors or gradients."""

from collections.abc import Callable

# Called once, before the first loop is compiled that numba's cache does not have: whoever talks to people sets it.
before_compiling: Callable[[], None] | None = None
