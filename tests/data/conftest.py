"""Tests here read and write a cache of their own, and find real data by name."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["WLHN_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def data_root() -> Path:
    return Path(os.environ["WLHN_DATA"])
