"""A grid so small that a cell of MUTAG takes seconds."""

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grid") / "tiny.json"
    settings = {"hidden_channels": 8, "num_layers": 2, "epochs": 4, "learning_rate": 0.01}
    path.write_text(json.dumps({"settings": settings, "grid": {"dropout": [0.0, 0.5]}}))
    return path
