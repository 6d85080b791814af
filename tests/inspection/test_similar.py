"""Nearest items: exact against all pairs, fast for a million, WL distances against their definition."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr
from typer.testing import CliRunner

import wlhn
from wlhn.cli.app import app
from wlhn.data import load
from wlhn.errors import InputError
from wlhn.hyperbolic import exp0, poincare_distance
from wlhn.inspection.similar import LearnedSpace, distances_to, graph_wl_distances, nearest
from wlhn.runs.run_folder import load_run


def polar(n: int, d: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    e = torch.randn(n, d, generator=generator)
    return 8 * torch.rand(n, generator=generator), e / e.norm(dim=1, keepdim=True)


def test_nearest_is_what_all_pairs_say() -> None:
    r, e = polar(2000, 5, seed=0)
    ball = (torch.tanh(r.double() / 2)[:, None] * e.double()) / e.double().norm(dim=1, keepdim=True)
    for query in (0, 7, 1999):
        distance = distances_to(r, e, r[query], e[query])
        index = nearest(distance, count=25)
        truth = poincare_distance(ball, ball[query])
        torch.testing.assert_close(distance[index].double(), truth.sort().values[:25], atol=2e-3, rtol=1e-4)
        torch.testing.assert_close(truth[index], truth.sort().values[:25], atol=2e-3, rtol=1e-4)
        assert index[0] == query


def test_a_million_points_take_a_second_or_two() -> None:
    """Of this process, whatever else the machine does."""
    r, e = polar(1_000_000, 32, seed=1)
    taken = []
    for query in range(3):
        start = time.process_time()
        index = nearest(distances_to(r, e, r[query], e[query]), count=10)
        taken.append(time.process_time() - start)
        assert index[0] == query
    assert min(taken) < 2


def test_nodes_of_one_colour_are_at_distance_0_and_neighbours_are_sorted(mutag_run: Path) -> None:
    mutag = load("MUTAG")
    space = LearnedSpace(load_run(mutag_run), mutag.graphs)
    colour = space.hierarchy.colours[-1]
    for node in (0, 100, 3000):
        found = space.similar_nodes(node, 50)
        assert node not in found.index
        assert (np.diff(found.distance) >= 0).all()
        alike = colour[found.index] == colour[node]
        assert alike.sum() == min((colour == colour[node]).sum() - 1, 50)
        assert (found.distance[alike] == 0).all()
        assert (found.wl_distance[alike] == 0).all()
        assert (found.wl_distance == wlhn.wl_distance(space.hierarchy, node, found.index)).all()


def test_graphs_lie_where_the_sum_of_their_nodes_points(mutag_run: Path) -> None:
    """exp_0 of the summed tangent vectors over the usual size of a training graph; no graph changes another's place."""
    trained, graphs = load_run(mutag_run), load("MUTAG").graphs
    tangent = np.concatenate([part.tangent[:, -1] for part in trained.embed(graphs)])
    of_graph = np.add.reduceat(tangent.astype(float), graphs.node_ptr[:-1])
    learned_from = graphs.select(json.loads((mutag_run / "split.json").read_text())["train"])
    ball = exp0(torch.from_numpy(of_graph / (learned_from.num_nodes / len(learned_from))))
    space, some = LearnedSpace(trained, graphs), LearnedSpace(trained, graphs.select(np.arange(50, 100)))
    for graph in (50, 64, 99):
        found = space.similar_graphs(graph, 187)
        assert sorted([graph, *found.index]) == list(range(188))
        assert (np.diff(found.distance) >= 0).all()
        truth = poincare_distance(ball[graph], ball[found.index]).numpy()
        np.testing.assert_allclose(found.distance, truth, rtol=1e-3, atol=1e-3)
        alone = some.similar_graphs(graph - 50, 49)
        inside = (found.index >= 50) & (found.index < 100)
        assert alone.index.tolist() == (found.index[inside] - 50).tolist()
        np.testing.assert_allclose(alone.distance, found.distance[inside], rtol=1e-9, atol=1e-9)
        assert (found.distance[found.wl_distance == 0] == 0).all()
        assert (
            spearmanr(found.distance, found.wl_distance).statistic > 0.5
        )  # without the usual size, small graphs are near to all


def test_the_wl_distance_of_graphs_is_the_cheapest_matching_in_the_tree() -> None:
    mutag = load("MUTAG").graphs.select(np.arange(40))
    hierarchy = wlhn.refine(mutag, 3, "label")
    ptr, found = hierarchy.node_ptr, graph_wl_distances(hierarchy, 0, np.arange(40))
    for other in range(40):
        a, b = np.arange(ptr[0], ptr[1]), np.arange(ptr[other], ptr[other + 1])
        size = max(len(a), len(b))
        cost = np.full((size, size), 4)  # a node that is left over goes to the root
        cost[: len(a), : len(b)] = wlhn.wl_distance(hierarchy, a[:, None], b[None])
        assert found[other] == cost[linear_sum_assignment(cost)].sum()


def test_the_command_lists_nodes_and_graphs(mutag_run: Path) -> None:
    run = CliRunner().invoke
    result = run(app, ["similar", str(mutag_run), "MUTAG", "--graph", "3", "--top", "4", "--json"])
    assert result.exit_code == 0, result.output
    nearest_graphs = json.loads(result.stdout)["nearest"]
    assert len(nearest_graphs) == 4
    assert set(nearest_graphs[0]) == {"id", "class", "distance", "wl_distance"}
    text = run(app, ["similar", str(mutag_run), "MUTAG", "--node", "3/0"])
    assert "nearest to node 3/0" in text.stdout
    for wrong in ([], ["--node", "3/0", "--graph", "3"], ["--node", "7"], ["--graph", "x"]):
        assert isinstance(run(app, ["similar", str(mutag_run), "MUTAG", *wrong]).exception, InputError)


def test_a_model_without_points_is_refused(mutag_run: Path) -> None:
    trained = load_run(mutag_run)
    object.__setattr__(trained, "model", torch.nn.Linear(1, 1))
    with pytest.raises(InputError, match="places nothing in hyperbolic space"):
        LearnedSpace(trained, load("MUTAG").graphs)
