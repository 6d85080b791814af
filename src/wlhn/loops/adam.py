"""A step of Adam in two compiled loops, before and after its square root, which is torch's own (`wlhn.training.adam`).

Each line has the multiplications and additions of one of torch's operations, fused as torch fuses them.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from wlhn.loops.compiling import looping

Array = NDArray[Any]
fused = looping(error_model="numpy", fastmath={"contract"})  # sums keep their order


@fused
def moments(value: Array, grad: Array, decay: float, beta1: float, beta2: float, mean: Array, square: Array) -> None:
    """The moving averages of the gradient, weight decay included, and of its square, in place."""
    number = value.dtype.type
    a, w1, b2, w2 = number(decay), number(1 - beta1), number(beta2), number(1 - beta2)
    for i in range(len(value)):
        g = grad[i] + a * value[i] if decay else grad[i]
        mean[i] = mean[i] + w1 * (g - mean[i])
        square[i] = square[i] * b2 + w2 * g * g


@fused
def move(mean: Array, root: Array, correction: float, eps: float, step: float, value: Array) -> None:
    """value + step · mean/(root/correction + eps), in place."""
    number = value.dtype.type
    c, e, s = number(correction), number(eps), number(step)
    for i in range(len(value)):
        value[i] = value[i] + s * mean[i] / (root[i] / c + e)
