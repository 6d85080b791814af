"""Learning the WL distance: on colours that nobody has seen, WLHN beats GIN of the same size."""

import runpy
from pathlib import Path

import numpy as np
import torch

from wlhn.data import load

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "learned_distances.py"))


def test_wlhn_learns_the_wl_distance_better_than_gin() -> None:
    wlhn, *others = (SCRIPT["learn_distances"](load("MUTAG"), space, steps=200) for space in SCRIPT["SPACES"])
    for gin in others:
        assert wlhn.error < 0.5 * gin.error
        assert wlhn.correlation > gin.correlation + 0.1
        assert wlhn.retrieved > gin.retrieved + 0.05


def test_pairs_part_at_every_depth() -> None:
    path = torch.tensor([[0, 0, 0], [0, 0, 1], [0, 1, 2], [0, 1, 3], [1, 2, 4], [1, 2, 5], [1, 3, 6], [1, 3, 7]])
    a, b = SCRIPT["_pairs"](path, np.random.default_rng(0))
    assert (a != b).all()
    distance, count = SCRIPT["_tree_distance"](path[a], path[b]).unique(return_counts=True)
    assert distance.tolist() == [2, 4, 6]
    assert count.min() > 0.15 * len(a)
