"""Kept matrices: made once, whoever asks; what is picked from them is what would have been computed."""

import networkx as nx
import numpy as np
import pytest

from wlhn import refine
from wlhn.hierarchy import Hierarchy
from wlhn.kernels import ColourCounts, compare_graphs, kept
from wlhn.kernels.kept import kept_matrix, square_of
from wlhn.kernels.matching import cut


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The depths that somebody had to compute, from nothing kept."""
    monkeypatch.setattr(kept, "_kept", type(kept._kept)())
    monkeypatch.setattr(kept, "_last_square", None)
    return []


def trees(compared: list[int], hierarchy: Hierarchy, depth: int) -> np.ndarray:
    def compare(counts: ColourCounts) -> np.ndarray:
        compared.append(counts.depth)
        return compare_graphs("oa", counts)

    return kept_matrix("oa", hierarchy, depth, compare)


HIERARCHY = refine([nx.gnp_random_graph(8, 0.4, seed=seed) for seed in range(9)], 2)


def test_every_depth_is_computed_once(compared: list[int]) -> None:
    for _ in range(3):
        for depth in range(3):
            trees(compared, HIERARCHY, depth)
    assert compared == [0, 1, 2]


def test_without_memory_the_last_matrix_alone_stays(compared: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "KEPT_NUMBERS", 0)
    for depth in (0, 1, 1, 0):
        wanted = compare_graphs("oa", ColourCounts.of(cut(HIERARCHY, depth)))
        np.testing.assert_array_equal(trees(compared, HIERARCHY, depth), wanted)
    assert compared == [0, 1, 0]
    assert len(kept._kept) == 1


def test_a_square_is_that_of_its_matrix_and_its_graphs(compared: list[int]) -> None:
    matrices = [trees(compared, HIERARCHY, depth) for depth in range(3)]
    for matrix in matrices:
        for graphs in (np.array([0, 3, 5]), np.array([0, 3, 5]), np.array([5, 3, 0]), np.array([1, 2])):
            square = square_of(matrix, graphs)
            np.testing.assert_array_equal(square, matrix[graphs][:, graphs])
            assert square_of(matrix, graphs.copy()) is square
            with pytest.raises(ValueError, match="read-only"):
                square[0, 0] = 2.0
