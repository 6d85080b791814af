"""One level of DiffHypCon, forward and backward, compiled: the same numbers as `level_reference`, one pass each.

Rows are children, sorted by parent; `child_ptr` says which belong to whom, so that a parent's gradient is summed by
whoever holds the parent. Dot products run in the tensors' precision, the few scalars of a row in float64.
Notation as in `wlhn.hyperbolic.polar`, there divided by cosh τ, here by a factor that is 1 for moderate τ: ct, st and
one are cosh τ, sinh τ and 1 divided by it (`hyperbolic`). a = h/‖h‖, q = u − w with w = −σ(1, …, 1), and y = a − k q
with k = 2 q·a / q·q. τ is a number for each child, or the same for all.

Loops that sum a row write nothing: see `wlhn.loops.rows`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wlhn.loops.compiling import arithmetic, looping
from wlhn.loops.rows import DEAD, HUGE, NEAREST, careful_norm, make_unit

Array = NDArray[Any]
inlined = looping(error_model="numpy", inline="always")

NEAR = 0.1  # sinh r′ below which float32 no longer gives the direction of the origin to five digits
FLAT = 1e-12  # ‖u − w‖² below which w → u is taken for no reflection at all
LONG = 100.0  # τ above which cosh τ is divided by e^(τ − LONG), so that its square exists


@inlined
def radial(r: float) -> tuple[float, float, float]:
    """coth r, 1/sinh r, 1 − e⁻²ʳ = 2 sinh r / eʳ."""
    x = math.exp(-max(r, NEAREST))
    t = (1 - x) * (1 + x)
    return (1 + x * x) / t, 2 * x / t, t


@arithmetic
def hyperbolic(tau: Array) -> Array:
    """cosh τ, sinh τ and 1, divided by a common factor e^s that keeps them harmless, and s.

    Directions depend on the ratios of the three alone; s is added to the distance from the root.
    """
    out = np.empty((len(tau), 4))
    for i in range(len(tau)):
        moderate = min(float(tau[i]), LONG)  # beyond, cosh τ = sinh τ = e^τ/2 to rounding
        s = float(tau[i]) - moderate
        out[i, 1] = math.sinh(moderate)
        out[i, 0] = math.sqrt(1 + out[i, 1] * out[i, 1])
        out[i, 2] = math.exp(-s) if s else 1.0
        out[i, 3] = s
    return out


@arithmetic
def forward(
    first: int,
    last: int,
    h: Array,
    r: Array,
    e: Array,
    u: Array,
    lengths: Array,
    child_ptr: Array,
    relu: bool,
    new_r: Array,
    new_e: Array,
    new_u: Array,
    kept: Array,
) -> None:
    """Children of the parents first … last − 1. Without room in `new_u`, u′ is left out (the last level needs none).
    With `relu`, h becomes max(h, 0) first, in its place.

    `lengths` is what `hyperbolic` writes: a row for each child, or one for all.

    `kept` takes 1/‖h‖, k and c of each row for the way back. A dead row (h = 0) goes straight away from its parent,
    a = −w, so that y = −u: written as 1/‖h‖ = 0, k = 1.
    """
    number = h.dtype.type
    zero, d = number(0), h.shape[1]
    sigma = 1 / math.sqrt(d)
    shift = number(sigma)
    per_child = len(lengths) > 1
    for p in range(first, last):
        if child_ptr[p] == child_ptr[p + 1]:
            continue
        qq = eq = eu = number(0)
        for j in range(d):
            q = u[p, j] + shift
            qq += q * q
            eq += e[p, j] * q
            eu += e[p, j] * u[p, j]
        coth, csch, t = radial(r[p])
        for i in range(child_ptr[p], child_ptr[p + 1]):
            for j in range(d if relu else 0):
                h[i, j] = zero if h[i, j] < zero else h[i, j]  # NaN stays
            hh = qh = eh = number(0)
            for j in range(d):
                hh += h[i, j] * h[i, j]
                qh += (u[p, j] + shift) * h[i, j]
                eh += e[p, j] * h[i, j]
            if not hh < DEAD:  # NaN is not dead: it shall be seen
                scale = 1 / math.sqrt(hh) if hh < HUGE else 1 / careful_norm(h, i)
                k = 2 * qh * scale / qq if qq > FLAT else 0.0
                c = eh * scale - k * eq
                k1 = k * sigma
            else:
                scale, k, c, k1 = 0.0, 1.0, -float(eu), 0.0
            kept[i, 0], kept[i, 1], kept[i, 2] = scale, k, c
            row = i if per_child else 0
            ct, st, one = lengths[row, 0], lengths[row, 1], lengths[row, 2]
            m = max(1 - c * c, 0.0)
            A = ct - c * st * coth
            B = st * csch
            D = st * coth - c * ct
            n2 = D * D + one * one * m
            if n2 <= (NEAREST * csch * one) ** 2:  # landed on the origin
                new_r[i] = NEAREST
                for j in range(d):
                    new_e[i, j] = e[p, j]
                for j in range(d if len(new_u) else 0):  # not row by row: numba takes seconds to compile that
                    new_u[i, j] = e[p, j]
                continue
            n = math.sqrt(n2)
            # r′ = arsinh(n sinh r), as one logarithm beside r itself
            gain = math.log(n * t * 0.5 * (1 + math.sqrt(1 + (csch * one / n) ** 2))) + lengths[row, 3]
            new_r[i] = max(r[p], NEAREST) + gain
            near = n < NEAR * csch * one  # much cancels: what is left must be made a unit vector again
            beta, delta = B / n, (D * B - one * A) / n2
            xe, xh, xu, x1 = number((A - B * c) / n), number(beta * scale), number(-beta * k), number(-beta * k1)
            if len(new_u) == 0:
                for j in range(d):
                    new_e[i, j] = xe * e[p, j] + xh * h[i, j] + xu * u[p, j] + x1
                if near:
                    make_unit(new_e, i)
                continue
            ze, zh = number((D * (A - B * c) + one * (B * m + A * c)) / n2), number(delta * scale)
            zu, z1 = number(-delta * k), number(-delta * k1)
            for j in range(d):
                new_e[i, j] = xe * e[p, j] + xh * h[i, j] + xu * u[p, j] + x1
                new_u[i, j] = ze * e[p, j] + zh * h[i, j] + zu * u[p, j] + z1
            if near:
                make_unit(new_e, i)
                make_unit(new_u, i)


@arithmetic
def backward(
    first: int,
    last: int,
    h: Array,
    r: Array,
    e: Array,
    u: Array,
    lengths: Array,
    child_ptr: Array,
    kept: Array,
    grad_new_r: Array,
    grad_new_e: Array,
    grad_new_u: Array,
    grad_h: Array,
    grad_r: Array,
    grad_e: Array,
    grad_u: Array,
    grad_tau: Array,
) -> None:
    """The transpose of `forward`. G and U are the gradients of e′ and u′; without rows for U, u′ was left out."""
    number = h.dtype.type
    d = h.shape[1]
    sigma = 1 / math.sqrt(d)
    shift = number(sigma)
    per_child = len(lengths) > 1
    for p in range(first, last):
        qq = eq = number(0)
        for j in range(d):
            q = u[p, j] + shift
            qq += q * q
            eq += e[p, j] * q
        for j in range(d):
            grad_e[p, j] = grad_u[p, j] = 0
        coth, csch, _ = radial(r[p])
        dr = 0.0
        for i in range(child_ptr[p], child_ptr[p + 1]):
            scale, k, c = kept[i, 0], kept[i, 1], kept[i, 2]
            row = i if per_child else 0
            ct, st, one = lengths[row, 0], lengths[row, 1], lengths[row, 2]
            m = max(1 - c * c, 0.0)
            A = ct - c * st * coth
            B = st * csch
            D = st * coth - c * ct
            n2 = D * D + one * one * m
            if n2 <= (NEAREST * csch * one) ** 2:
                for j in range(d):
                    grad_h[i, j] = 0
                grad_tau[i] = 0
                continue
            n = math.sqrt(n2)
            k1 = k * sigma if scale > 0 else 0.0
            Ge = Gh = Gu = G1 = Ue = Uh = Uu = U1 = number(0)
            for j in range(d):
                Ge += grad_new_e[i, j] * e[p, j]
                Gh += grad_new_e[i, j] * h[i, j]
                Gu += grad_new_e[i, j] * u[p, j]
                G1 += grad_new_e[i, j]
            if len(grad_new_u):
                U = grad_new_u[i]  # a view: by index the compiler adds in another order, with other last bits
                for j in range(d):
                    Ue += U[j] * e[p, j]
                    Uh += U[j] * h[i, j]
                    Uu += U[j] * u[p, j]
                    U1 += U[j]
            R = grad_new_r[i]
            Gy, Uy = scale * Gh - k * Gu - k1 * G1, scale * Uh - k * Uu - k1 * U1

            # r′, α, β, γ, δ as functions of c, r, τ: P = A − Bc, α = P/n, β = B/n, γ = Q/n², δ = S/n².
            P = A - B * c
            alpha, beta = P / n, B / n
            gamma, delta = (D * P + one * (B * m + A * c)) / n2, (D * B - one * A) / n2
            n_c, A_c, D_c = -(D * ct + one * one * c) / n, -st * coth, -ct
            P_c = A_c - B
            dc = (
                -R * st / n
                + Ge * (P_c - alpha * n_c) / n
                - Gy * beta * n_c / n
                + Ue * ((D_c * P + D * P_c + one * (A_c * c + A - 2 * c * B)) / n2 - 2 * gamma * n_c / n)
                + Uy * ((D_c * B - one * A_c) / n2 - 2 * delta * n_c / n)
            )
            D_r, A_r, B_r = -st * csch * csch, c * st * csch * csch, -B * coth
            n_r, P_r = D * D_r / n, A_r - c * B_r
            dr += (
                R * A / n
                + Ge * (P_r - alpha * n_r) / n
                + Gy * (B_r - beta * n_r) / n
                + Ue * ((D_r * P + D * P_r + one * (B_r * m + A_r * c)) / n2 - 2 * gamma * n_r / n)
                + Uy * ((D_r * B + D * B_r - one * A_r) / n2 - 2 * delta * n_r / n)
            )
            D_t, A_t, B_t = ct * coth - c * st, st - c * ct * coth, ct * csch
            n_t, P_t = D * D_t / n, A_t - c * B_t
            grad_tau[i] = (
                R * D / n
                + Ge * (P_t - alpha * n_t) / n
                + Gy * (B_t - beta * n_t) / n
                + Ue * ((D_t * P + D * P_t + one * (B_t * m + A_t * c)) / n2 - 2 * gamma * n_t / n)
                + Uy * ((D_t * B + D * B_t - one * A_t) / n2 - 2 * delta * n_t / n)
            )

            # Y = βG + δU + dc·e is the gradient of y; a reflection is its own transpose; then through h/‖h‖.
            qY = beta * (Gu + sigma * G1) + delta * (Uu + sigma * U1) + dc * eq
            k_y = 2 * qY / qq if scale > 0 and qq > FLAT else 0.0
            a_e = c + k * eq  # a·e
            along = scale * (beta * Gh + delta * Uh) + dc * a_e - k_y * k * qq / 2
            hY, hu, hh, h1 = (
                number(scale),
                number(-k_y * scale),
                number(-along * scale * scale),
                number(-k_y * sigma * scale),
            )
            eh, eu, e1 = number(dc * scale), number(-dc * k), number(-dc * k1)
            uh, uY, uu, u1 = number(-k_y * scale), number(-k), number(k * k_y), number(k * k_y * sigma)
            yG, yU, ye = number(beta), number(delta), number(dc)
            eG, eU = number(alpha), number(gamma)
            if len(grad_new_u):
                U = grad_new_u[i]
                for j in range(d):
                    Y = yG * grad_new_e[i, j] + yU * U[j] + ye * e[p, j]
                    grad_h[i, j] = hY * Y + hu * u[p, j] + hh * h[i, j] + h1
                    grad_e[p, j] += eG * grad_new_e[i, j] + eU * U[j] + eh * h[i, j] + eu * u[p, j] + e1
                    grad_u[p, j] += uY * Y + uh * h[i, j] + uu * u[p, j] + u1
            else:
                for j in range(d):
                    Y = yG * grad_new_e[i, j] + ye * e[p, j]
                    grad_h[i, j] = hY * Y + hu * u[p, j] + hh * h[i, j] + h1
                    grad_e[p, j] += eG * grad_new_e[i, j] + eh * h[i, j] + eu * u[p, j] + e1
                    grad_u[p, j] += uY * Y + uh * h[i, j] + uu * u[p, j] + u1
        grad_r[p] = dr if r[p] > NEAREST else 0.0
