"""Pictures: right numbers in, whole files out, the same bytes twice, names as text."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import wlhn
from wlhn.errors import InputError
from wlhn.report.drawings import layout, refinement_steps, tinted_graph
from wlhn.report.plots import correlation_by_length, depth_accuracy, distance_heatmap, distance_panels
from wlhn.report.style import shades
from wlhn.report.trees import disc, geodesics, tree, tree_layout

HOSTILE = ["<script>alert(1)</script>", "$\\frac{", "x" * 500, "\"quoted\" & 'more'"]


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_every_plot_writes_the_same_whole_file_twice_whatever_the_names(tmp_path: Path, suffix: str) -> None:
    graph = nx.lollipop_graph(5, 4)
    hierarchy = wlhn.refine(graph, 3)
    edges, colour = list(graph.edges), hierarchy.tree
    points = wlhn.sarkar(colour).points.numpy()
    d = wlhn.wl_distance(hierarchy, np.arange(9)[:, None], np.arange(9)[None])
    group = colour.depth % 4
    name = HOSTILE[0]
    plots = {
        "disc": lambda p: disc(points, colour.parent, p, group=group, names=HOSTILE, title=HOSTILE[1]),
        "tree": lambda p: tree(colour.parent, p, labels=HOSTILE, title=HOSTILE[2]),
        "graph": lambda p: tinted_graph(edges, np.linspace(-1, 1, 9), p, labels=HOSTILE, title=name),
        "steps": lambda p: refinement_steps(edges, hierarchy.colours, p, title=HOSTILE[1]),
        "heat": lambda p: distance_heatmap(d, p, group=[0] * 4 + [1] * 5, title=HOSTILE[3], unit=name),
        "panels": lambda p: distance_panels({n: {0: [0] * 5, 2: [1, 2, 3, 4, 5]} for n in HOSTILE}, p),
        "tau": lambda p: correlation_by_length([1.0, 3.0], {name: [[0.3, 0.4], [0.5, 0.5]]}, {HOSTILE[1]: 0.57}, p),
        "depth": lambda p: depth_accuracy([1, 2], {n: [0.5, 0.6] for n in HOSTILE}, p, metric=HOSTILE[1]),
    }
    for kind, draw in plots.items():
        first, second = tmp_path / f"{kind}.{suffix}", tmp_path / f"{kind}-2.{suffix}"
        draw(first)
        draw(second)
        assert first.read_bytes() == second.read_bytes()
        assert b"<script>" not in first.read_bytes()


def test_geodesics_are_shortest_paths() -> None:
    rng = np.random.default_rng(0)
    a, b = (np.sqrt(rng.random(50)) * 0.99 * np.exp(2j * np.pi * rng.random(50)) for _ in range(2))
    line = geodesics(a, b, steps=9)

    def distance(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return 2 * np.arctanh(np.abs((p - q) / (1 - p.conj() * q)))

    np.testing.assert_allclose(line[:, -1], b, atol=1e-12)
    np.testing.assert_allclose(distance(line[:, :-1], line[:, 1:]).sum(axis=1), distance(a, b), rtol=1e-7)


def test_tree_layout_keeps_leaves_apart_and_parents_between_their_children() -> None:
    parent = wlhn.Tree.from_networkx(nx.full_rary_tree(3, 40)).parent
    across, depth = tree_layout(parent)
    leaves = np.setdiff1d(np.arange(40), parent)
    assert sorted(across[leaves]) == list(range(len(leaves)))
    for v in np.unique(parent[1:]):
        children = across[parent == v]
        assert children.min() <= across[v] <= children.max()
    assert (depth[1:] == depth[parent[1:]] + 1).all()


def test_layout_separates_nodes_and_components() -> None:
    place = layout([[0, 1], [1, 2], [3, 4]], 6)
    gaps = np.linalg.norm(place[:, None] - place[None], axis=-1)[np.triu_indices(6, 1)]
    assert gaps.min() > 0.3
    assert place[[0, 1, 2], 0].max() < place[[3, 4], 0].min() < place[5, 0]


def test_colours_differ() -> None:
    for count in (1, 7, 8, 200):
        assert len(set(shades(count))) == count


def test_bad_input_leaves_no_file(tmp_path: Path) -> None:
    for draw, what in (
        (lambda: tree([-1, 0], tmp_path / "tree.bmp"), "svg or .png"),
        (lambda: distance_heatmap([[0, 1]], tmp_path / "h.png"), "square"),
        (lambda: disc([[0, 0]], [-1, 0], tmp_path / "d.png"), "one of the plane for each node"),
        (lambda: depth_accuracy([1], {"a": [1, 2]}, tmp_path / "a.png"), "2 depths, but there are 1"),
    ):
        with pytest.raises(InputError, match=what):
            draw()
    assert not list(tmp_path.iterdir())
