"""Bins hold what they say: each has a value of the fit, and every value a bin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wlhn.hierarchy.binning import Quantiles


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=40), st.integers(1, 8), st.integers(0, 40))
def test_no_bin_is_empty(values: list[int], bins: int, largest: int) -> None:
    """Neither where the most frequent value is the largest."""
    column = np.array([*values, *[20] * largest], float)[:, None]
    fitted = Quantiles.fit(column, bins)
    codes = fitted.codes(column)[:, 0]
    assert sorted(set(codes.tolist())) == list(range(fitted.sizes[0]))
    assert fitted.sizes[0] <= bins or fitted.sizes[0] == 1
    assert (np.diff(codes[np.argsort(column[:, 0], kind="stable")]) >= 0).all()
