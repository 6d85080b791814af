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


@pytest.fixture(scope="session")
def mutag_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a WLHN that was trained on built-in MUTAG for a short while."""
    from wlhn.data import load
    from wlhn.evaluation.settings import Settings
    from wlhn.evaluation.train import train

    folder = tmp_path_factory.mktemp("mutag") / "run"
    train(load("MUTAG"), Settings(hidden_channels=32, epochs=15, learning_rate=0.01), folder)
    return folder
