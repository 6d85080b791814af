"""Stable sorting of keys with their values, on several threads and in the processor's cache.

A pass through memory first spreads the pairs over ranges of keys, each small enough for the cache; whatever jumps about
then happens range by range. So an edge or a node costs about the same in a small collection and in a large one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wlhn.loops.compiling import loop
from wlhn.loops.parallel import over_rows

Array = NDArray[Any]
RANGE = 13  # ranges of keys hold about 2^13 pairs (when sorting) or different keys (when grouping)…
MOST = 9  # … unless that made more than 2^9 ranges: that many places to write to at a time are still fast
CHUNKS = 16  # of the input; fixed, so that nothing depends on the number of threads
DIGIT = 11  # bits
PER_PAIR = 8  # numbers touched
SHORT = 4096  # so few pairs numpy sorts as fast, with nothing to compile…
FEW = 8192  # … and so few it groups in half a millisecond


def group(key: Array, value: Array, num_keys: int) -> tuple[Array, Array]:
    """(offsets, values): values[offsets[k] : offsets[k + 1]] are those of key k, in their given order.

    >>> [a.tolist() for a in group(np.array([2, 0, 2]), np.array([7, 8, 9]), 3)]
    [[0, 1, 1, 3], [8, 7, 9]]
    """
    if len(key) <= FEW:
        ptr = np.zeros(num_keys + 1, np.int64)
        np.cumsum(np.bincount(key, minlength=num_keys), out=ptr[1:])
        return ptr, value[np.argsort(key, kind="stable")]
    shift = max(RANGE, num_keys.bit_length() - MOST)
    if num_keys > 1 << shift:
        within = np.uint16 if shift <= 16 else np.int32  # of a key, its place in the range is enough
        start, key, value = _spread(key, value, shift, (num_keys - 1 >> shift) + 1, within)
    else:
        start, value = np.array([0, len(key)]), value.copy()
    ptr = np.full(num_keys + 1, len(key), np.int64)
    over_rows(_group_ranges, len(start) - 1, PER_PAIR * len(key), start, key, shift, ptr, value)
    return ptr, value


def sort(key: Array, value: Array) -> tuple[Array, Array]:
    """64-bit keys in ascending order, with their values.

    >>> [a.tolist() for a in sort(np.array([5, 2, 5], np.uint64), np.array([0, 1, 2]))]
    [[2, 5, 5], [1, 0, 2]]
    """
    if len(key) <= SHORT:
        order = np.argsort(key, kind="stable")
        return key[order], value[order]
    bits = min(max(len(key).bit_length() - RANGE, 1), MOST)
    start, key, value = _spread(key, value, 64 - bits, 1 << bits, np.uint64)
    over_rows(_sort_ranges, len(start) - 1, PER_PAIR * len(key), start, key, value, 64 - bits)
    return key, value


def _spread(key: Array, value: Array, shift: int, ranges: int, dtype: DTypeLike) -> tuple[Array, Array, Array]:
    """(offsets of ranges, keys, values), a range being the keys that agree but for the last `shift` bits."""
    count = np.zeros((CHUNKS, ranges), np.int64)
    over_rows(_count, CHUNKS, PER_PAIR * len(key), key, shift, count)
    start = np.concatenate([[0], np.cumsum(count.sum(axis=0))])
    free = np.cumsum(count, axis=0) - count + start[:-1]
    # Arrays of this size come from numpy, not from compiled code: numpy asks the system for large pages.
    new_key: Array = np.empty(len(key), dtype)
    new_value = np.empty(len(value), value.dtype)
    over_rows(_move, CHUNKS, PER_PAIR * len(key), key, value, shift, free, new_key, new_value)
    return start, new_key, new_value


@loop
def _count(first: int, last: int, key: Array, shift: int, count: Array) -> None:
    for chunk in range(first, last):
        row = count[chunk]
        for i in range(len(key) * chunk // CHUNKS, len(key) * (chunk + 1) // CHUNKS):
            row[np.int64(key[i] >> shift)] += 1


@loop
def _move(
    first: int, last: int, key: Array, value: Array, shift: int, free: Array, new_key: Array, new_value: Array
) -> None:
    for chunk in range(first, last):
        row = free[chunk]
        for i in range(len(key) * chunk // CHUNKS, len(key) * (chunk + 1) // CHUNKS):
            r = np.int64(key[i] >> shift)
            slot = row[r]
            row[r] = slot + 1
            new_key[slot], new_value[slot] = key[i], value[i]


@loop
def _group_ranges(first: int, last: int, start: Array, key: Array, shift: int, ptr: Array, value: Array) -> None:
    """Offsets and, in place, values in the order of their keys."""
    most = 0
    for r in range(first, last):
        most = max(most, start[r + 1] - start[r])
    spare, free, mask = np.empty(most, value.dtype), np.empty(1 << shift, np.int64), (1 << shift) - 1
    for r in range(first, last):
        low = r << shift
        width = min(len(ptr) - 1 - low, 1 << shift)
        free[:width] = 0
        for i in range(start[r], start[r + 1]):
            free[key[i] & mask] += 1
        total = start[r]
        for k in range(width):
            ptr[low + k] = total
            total += free[k]
            free[k] = ptr[low + k]
        for i in range(start[r], start[r + 1]):
            slot = free[key[i] & mask]
            free[key[i] & mask] = slot + 1
            spare[slot - start[r]] = value[i]
        for i in range(start[r], start[r + 1]):  # not slice by slice: numba takes seconds to compile that
            value[i] = spare[i - start[r]]


@loop
def _sort_ranges(first: int, last: int, start: Array, key: Array, value: Array, bits: int) -> None:
    """Sort each range by the last `bits` bits, digit by digit; digits in which all keys agree are left out."""
    passes, mask = (bits + DIGIT - 1) // DIGIT, np.uint64((1 << DIGIT) - 1)
    most = 0
    for r in range(first, last):
        most = max(most, start[r + 1] - start[r])
    spare_key, spare_value = np.empty(most, key.dtype), np.empty(most, value.dtype)
    count = np.empty((passes, 1 << DIGIT), np.int32)
    for r in range(first, last):
        size = start[r + 1] - start[r]
        if size < 2:
            continue
        old_key, old_value = key[start[r] : start[r + 1]], value[start[r] : start[r + 1]]
        new_key, new_value = spare_key[:size], spare_value[:size]
        count[:] = 0
        for k in old_key:
            for p in range(passes):
                count[p, np.int64((k >> np.uint64(DIGIT * p)) & mask)] += 1
        moved = False
        for p in range(passes):
            shift, row = np.uint64(DIGIT * p), count[p]
            if row[np.int64((old_key[0] >> shift) & mask)] == size:
                continue
            total = 0
            for i in range(len(row)):
                here = row[i]
                row[i] = total
                total += here
            for i in range(size):
                d = np.int64((old_key[i] >> shift) & mask)
                slot = row[d]
                row[d] = slot + 1
                new_key[slot], new_value[slot] = old_key[i], old_value[i]
            old_key, old_value, new_key, new_value = new_key, new_value, old_key, old_value
            moved = not moved
        for i in range(size if moved else 0):
            new_key[i], new_value[i] = old_key[i], old_value[i]
