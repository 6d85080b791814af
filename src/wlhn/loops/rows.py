"""Compiled loops that take a matrix row by row: lengths, unit vectors, and combinations with one vector for all.

Loops that sum a row write nothing: with a write beside it, the order of the sum, and so its last bits, would depend on
where the arrays happen to lie in memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import arithmetic

Array = NDArray[Any]

DEAD = 1e-36  # ‖h‖² below which a row has no direction: float32 knows no smaller squares
HUGE = 1e36  # ‖h‖² above which it is computed with care: float32 knows no larger ones
SHORT = 1e-18  # ‖h‖ below which its inverse is taken with care
LEAST = 1e-300  # ‖h‖ below which it has none
NEAREST = 1e-6  # to the root, as in `wlhn.hyperbolic.polar`, which would import torch
LARGEST = 1e300  # ‖v‖² in float64 from which on it is computed with care


@arithmetic
def careful_norm(h: Array, i: int) -> float:
    """‖h‖ of row i where ‖h‖² would overflow or underflow."""
    top = LEAST
    for j in range(h.shape[1]):
        top = max(top, abs(float(h[i, j])))
    total = 0.0
    for j in range(h.shape[1]):
        total += (h[i, j] / top) * (h[i, j] / top)
    return top * math.sqrt(total)


@arithmetic
def make_unit(rows: Array, i: int) -> None:
    """Row i divided by its length, in place."""
    total = 0.0
    for j in range(rows.shape[1]):
        total += rows[i, j] * rows[i, j]
    if total > 0:
        length = math.sqrt(total)
        for j in range(rows.shape[1]):
            rows[i, j] /= length


@arithmetic
def unit(first: int, last: int, h: Array, e: Array, scale: Array) -> None:
    """e = h/‖h‖ and scale = 1/‖h‖; for h = 0, −w and 0."""
    d = h.shape[1]
    away = h.dtype.type(1 / math.sqrt(d))
    for i in range(first, last):
        hi, ei = h[i], e[i]
        hh = h.dtype.type(0)
        for j in range(d):
            hh += hi[j] * hi[j]
        dead = hh < DEAD
        s = h.dtype.type(0.0 if dead else 1 / math.sqrt(hh) if hh < HUGE else 1 / careful_norm(h, i))
        scale[i] = s
        for j in range(d):
            ei[j] = away if dead else s * hi[j]


@arithmetic
def unit_back(first: int, last: int, e: Array, scale: Array, grad: Array, out: Array) -> None:
    """out = (grad − (grad·e) e)/‖h‖."""
    for i in range(first, last):
        ei, g, o = e[i], grad[i], out[i]
        along = e.dtype.type(0)
        for j in range(e.shape[1]):
            along += g[j] * ei[j]
        for j in range(e.shape[1]):
            o[j] = scale[i] * (g[j] - along * ei[j])


@arithmetic
def norms(first: int, last: int, h: Array, out: Array) -> None:
    """‖h‖ of each row."""
    for i in range(first, last):
        hh = h.dtype.type(0)
        for j in range(h.shape[1]):
            hh += h[i, j] * h[i, j]
        out[i] = careful_norm(h, i) if hh < DEAD or hh > HUGE else math.sqrt(hh)


@arithmetic
def relu_norms(first: int, last: int, h: Array, out: Array) -> None:
    """h becomes max(h, 0), in its place, and out ‖h‖ of each row after that."""
    zero = h.dtype.type(0)
    for i in range(first, last):
        row = h[i]
        for j in range(len(row)):
            row[j] = zero if row[j] < zero else row[j]  # NaN stays
    norms(first, last, h, out)


@arithmetic
def norms_back(first: int, last: int, h: Array, norm: Array, grad: Array, out: Array) -> None:
    """out = grad · h/‖h‖, and 0 for h = 0."""
    for i in range(first, last):
        n = np.float64(norm[i])  # `float` would leave a float32 what it is
        if n < SHORT:  # 1/n might overflow there
            for j in range(h.shape[1]):
                out[i, j] = grad[i] * (h[i, j] / n if n > LEAST else 0.0)
            continue
        s = h.dtype.type(grad[i] / n)
        for j in range(h.shape[1]):
            out[i, j] = s * h[i, j]


@arithmetic
def length_and_angle(first: int, last: int, v: Array, e: Array, n: Array, q: Array, least: float) -> None:
    """n = max(‖v‖, least) and q = ‖v/n + e‖²/2 of each row."""
    for i in range(first, last):
        row = v[i]
        total = 0.0
        for j in range(len(e)):
            total += float(row[j]) * float(row[j])
        n[i, 0] = max(math.sqrt(total) if total < LARGEST else careful_norm(v, i), least)
        inverse, squares = v.dtype.type(1 / n[i, 0]), v.dtype.type(0)
        for j in range(len(e)):
            w = row[j] * inverse + e[j]
            squares += w * w
        q[i, 0] = squares / 2


@arithmetic
def length_and_angle_back(
    first: int, last: int, v: Array, e: Array, n: Array, grad_n: Array, grad_q: Array, out: Array, least: float
) -> None:
    """The gradient of v; where n is not ‖v‖ but `least`, n passes none on."""
    for i in range(first, last):
        unit, inverse = out[i], v.dtype.type(1 / n[i, 0])
        for j in range(len(e)):  # kept, lest the compiler multiply by 1/n², which underflows
            unit[j] = v[i, j] * inverse
        along = v.dtype.type(0)  # (v/n + e)·v/n, −n times the derivative of q by n
        for j in range(len(e)):
            along += (unit[j] + e[j]) * unit[j]
        of_e = grad_q[i, 0] * inverse
        of_unit = of_e + grad_n[i, 0] - along * of_e if n[i, 0] > least else of_e
        for j in range(len(e)):
            unit[j] = of_unit * unit[j] + of_e * e[j]


@arithmetic
def combination(first: int, last: int, a: Array, v: Array, c: Array, b: Array, out: Array) -> None:
    """out = a v + c b of each row."""
    for i in range(first, last):
        for j in range(len(b)):
            out[i, j] = a[i, 0] * v[i, j] + c[i, 0] * b[j]


@arithmetic
def combination_back(
    first: int, last: int, a: Array, v: Array, b: Array, grad: Array, grad_a: Array, grad_v: Array, grad_c: Array
) -> None:
    """The gradients of a, v and c."""
    for i in range(first, last):
        of_a, of_c = v.dtype.type(0), v.dtype.type(0)
        for j in range(len(b)):  # sums and writes apart: see above
            of_a += grad[i, j] * v[i, j]
            of_c += grad[i, j] * b[j]
        grad_a[i, 0], grad_c[i, 0] = of_a, of_c
        for j in range(len(b)):
            grad_v[i, j] = a[i, 0] * grad[i, j]
