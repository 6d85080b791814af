"""Sorting and grouping: numpy's stable order, whatever the ranges and threads."""

from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wlhn.loops import sorting

KEYS = st.lists(st.sampled_from([0, 1, 5, 2**11, 2**40, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1), max_size=60)


@given(KEYS)
def test_sorting_is_numpys(keys: list[int]) -> None:
    key = np.array(keys, np.uint64)
    order = np.argsort(key, kind="stable")
    for short in (0, sorting.SHORT):
        with mock.patch.object(sorting, "SHORT", short):
            ordered, value = sorting.sort(key, np.arange(len(key), dtype=np.int32))
        assert np.array_equal(ordered, key[order])
        assert np.array_equal(value, order)


@pytest.mark.parametrize("num_keys", [1, 3, 1000])
@pytest.mark.parametrize("size", [0, 1, 20_000])
def test_many_ranges_and_threads_change_nothing(num_keys: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(size)
    key, value = rng.integers(0, num_keys, size), np.arange(size, dtype=np.int32)
    order = np.argsort(key, kind="stable")
    wide = rng.integers(0, 2**64, num_keys, dtype=np.uint64)[key]
    monkeypatch.setattr("wlhn.loops.sorting.RANGE", 3)
    monkeypatch.setattr("wlhn.loops.parallel.SMALL", 1)
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        for few in (0, size):
            monkeypatch.setattr("wlhn.loops.sorting.FEW", few)
            ptr, grouped = sorting.group(key, value, num_keys)
            assert np.array_equal(grouped, order)
            assert (ptr.dtype, grouped.dtype) == (np.int64, value.dtype)
            assert np.array_equal(ptr, np.searchsorted(key[order], np.arange(num_keys + 1)))
        assert np.array_equal(sorting.sort(wide, value)[1], np.argsort(wide, kind="stable"))
    finally:
        torch.set_num_threads(threads)
