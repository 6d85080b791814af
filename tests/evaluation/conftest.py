"""Tests here read and write a cache of their own."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("WLHN_CACHE")
    os.environ["WLHN_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["WLHN_CACHE"]
    else:
        os.environ["WLHN_CACHE"] = before
