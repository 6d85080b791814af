"""Splits: disjoint, complete, stratified, reproducible, and read as published."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wlhn.data import Split, load, random_splits, read_json_splits, read_mask_split, splits_hash, stratified_folds
from wlhn.errors import InputError


@given(st.lists(st.integers(0, 4), min_size=4, max_size=150), st.integers(2, 10), st.integers(0, 9))
@settings(max_examples=80, deadline=None)
def test_folds_partition_and_stratify(y: list[int], folds: int, seed: int) -> None:
    folds = min(folds, len(y))
    splits = stratified_folds(y, folds=folds, seed=seed)
    assert sorted(np.concatenate([s.test for s in splits]).tolist()) == list(range(len(y)))
    counts = np.array([np.bincount(np.array(y)[s.test], minlength=5) for s in splits])
    assert (np.ptp(counts, axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1
    for s in splits:
        assert sorted(np.concatenate([s.train, s.valid, s.test]).tolist()) == list(range(len(y)))
        share = len(y) - len(s.test)
        assert abs(len(s.valid) - share / 10) < 1
    assert splits_hash(splits) == splits_hash(stratified_folds(y, folds=folds, seed=seed))


def test_seeds_and_order_matter() -> None:
    y = np.arange(200) % 3
    assert splits_hash(stratified_folds(y, seed=0)) != splits_hash(stratified_folds(y, seed=1))
    assert Split([3, 1], [0], [2]) == Split([1, 3], [0], [2])
    assert Split([1], [3], [2]) != Split([3], [1], [2])
    assert len({split.hash for split in random_splits(50)}) == 10
    assert [len(p) for p in (random_splits(183)[0].train, random_splits(183)[0].test)] == [110, 37]


@pytest.mark.parametrize("parts", [([0], [0], [1]), ([0, 0], [1], [2]), ([-1], [0], [1]), ([0.5], [1], [2])])
def test_bad_splits_are_refused(parts: tuple[list[int], ...]) -> None:
    with pytest.raises(InputError):
        Split(*parts)


def test_a_test_item_in_two_folds_is_refused(tmp_path: Path) -> None:
    fold = {"test": [0], "model_selection": [{"train": [1], "validation": [2]}]}
    (tmp_path / "s.json").write_text(json.dumps([fold, fold]))
    with pytest.raises(InputError, match=r"s.json: item 0 is tested in two folds"):
        read_json_splits(tmp_path / "s.json")


@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s").write_bytes(content)
    with suppress(InputError):
        read_json_splits(tmp_path / "s")
    with pytest.raises(InputError):
        read_mask_split(tmp_path / "s")


@pytest.mark.dataset("splits")
def test_published_folds_fit_their_sets(data_root: Path) -> None:
    """Every published file partitions its set in stratified folds with a 90/10 holdout (as Errica et al. made them)."""
    for name in ("MUTAG", "ENZYMES", "PROTEINS", "NCI1", "IMDB-BINARY", "IMDB-MULTI"):
        dataset = load(name, data_root=data_root)
        assert len(dataset.splits) == 10
        assert sorted(np.concatenate([s.test for s in dataset.splits]).tolist()) == list(range(len(dataset)))
        counts = np.array([np.bincount(dataset.y[s.test]) for s in dataset.splits])
        assert (np.ptp(counts, axis=0) <= 1).all()
        assert all(s.size == len(dataset) for s in dataset.splits)
        assert all(abs(len(s.valid) / (s.size - len(s.test)) - 0.1) < 0.01 for s in dataset.splits)
