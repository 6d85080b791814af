"""Data-set tests run where WLHN_DATA points at the data, and are skipped, by name, elsewhere."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("wlhn", deadline=None)  # how long an example takes is the machine's business
settings.load_profile("wlhn")


def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("dataset")
    root = os.environ.get("WLHN_DATA")
    if marker and not (root and Path(root).is_dir()):
        pytest.skip(f"needs WLHN_DATA with {', '.join(marker.args)}")
