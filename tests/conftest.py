"""Every test session has a cache of its own. Data-set tests run where WLHN_DATA points at the data, and are skipped,
by name, elsewhere.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run (`make fuzz` looks for new ones); how long one takes is the machine's business.
settings.register_profile("wlhn", derandomize=True, deadline=None)
settings.load_profile("wlhn")


def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("dataset")
    root = os.environ.get("WLHN_DATA")
    if marker and not (root and Path(root).is_dir()):
        pytest.skip(f"needs WLHN_DATA with {', '.join(marker.args)}")


@pytest.fixture(autouse=True, scope="session")
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WLHN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def data_root() -> Path:
    return Path(os.environ["WLHN_DATA"])


@pytest.fixture(scope="session")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid so small that an evaluation of MUTAG takes seconds."""
    path = tmp_path_factory.mktemp("grid") / "tiny.json"
    settings = {"hidden_channels": 8, "num_layers": 2, "epochs": 4, "learning_rate": 0.01}
    path.write_text(json.dumps({"settings": settings, "grid": {"dropout": [0.0, 0.5]}}))
    return path


@pytest.fixture(scope="session")
def mutag_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a WLHN that was trained on built-in MUTAG for a short while."""
    from wlhn.data import load
    from wlhn.runs.train import train
    from wlhn.training.settings import Settings

    folder = tmp_path_factory.mktemp("mutag") / "run"
    train(load("MUTAG"), Settings.of(hidden_channels=32, epochs=15, learning_rate=0.01), folder)
    return folder
