"""Benchmarks run and compare like with like. How fast anything is, no test says."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from running import wlhn

from wlhn.bench import alternate, baselines, evaluation, kernels, prediction
from wlhn.bench.baselines import PLAIN, Plain
from wlhn.bench.construction import construction
from wlhn.bench.epoch import CHANNELS, LAYERS
from wlhn.bench.kernels import KERNELS, measure_kernel
from wlhn.bench.refinement import contest, growth
from wlhn.data import load
from wlhn.data.vocabulary import Vocabulary
from wlhn.models.registry import build_model
from wlhn.options.training import InputOptions
from wlhn.training.settings import Settings


def test_contestants_take_turns() -> None:
    calls: list[str] = []
    best = alternate({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeats=3)
    assert calls == ["a", "b"] * 3
    assert set(best) == {"a", "b"}
    assert all(seconds >= 0 for seconds in best.values())


def test_all_contestants_find_the_same_number_of_colours() -> None:
    race = contest(2_000, repeats=1)
    assert race.colours == race.colours_pyg == race.colours_networkx > 1
    assert race.ratio_to_pyg == pytest.approx(race.seconds_pyg / race.seconds)


def test_sizes_grow() -> None:
    heard = []
    (row,) = growth(2_000, report=heard.append)
    assert heard == [row]
    assert (row.directed_edges, row.nodes) == (2_000, 200)


def test_construction_times_all_three() -> None:
    result = construction(rows=100, dimension=8, repeats=1)
    assert result.ratio_to_mlp == pytest.approx(result.seconds_compiled / result.seconds_mlp)
    assert result.plain_ratio_to_mlp > 0


@pytest.mark.parametrize("name", PLAIN)
def test_baselines_race_against_models_of_their_size(name: str) -> None:
    """All but biases, which ours leave out where BatchNorm takes them away."""
    mutag = load("MUTAG")
    vocabulary = Vocabulary.fit(mutag, InputOptions(edge_features=name == "ecc"))
    options = Settings.of(name, hidden_channels=CHANNELS, num_layers=LAYERS).options
    ours = build_model(name, options, 7, 2, "graph", vocabulary.edge_channels)
    plain = Plain(name, 7, 2, edge_channels=4 if name == "ecc" else 0)
    sizes = [sum(parameter.numel() for parameter in model.parameters()) for model in (ours, plain)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.02)


@pytest.mark.parametrize("kind", KERNELS)
def test_kernels_race_for_the_same_matrix(kind: str) -> None:
    pytest.importorskip("grakel", reason="needs GraKeL")
    row = measure_kernel(load("MUTAG"), kind, depth=2, budget=2, repeats=1)
    assert row.largest_difference < 1e-6
    assert row.ratio == pytest.approx(row.grakel_seconds / row.seconds)
    assert 0 < row.graphs <= row.of_graphs == 188


@pytest.fixture
def measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The long measurements are made once for the same arguments, however often they are printed."""
    kept: dict[str, Any] = {}

    def remembered(measure: Callable[..., Any], *given: Any, **options: Any) -> Any:
        key = repr((measure, given, options))
        if key not in kept:
            found = measure(*given, **options)
            kept[key] = list(found) if isinstance(found, Iterator) else found
        return kept[key]

    for module, name in (
        (baselines, "measure_baselines"),
        (evaluation, "measure_evaluation"),
        (prediction, "measure_prediction"),
        (kernels, "measure_kernel"),
    ):
        monkeypatch.setattr(module, name, partial(remembered, getattr(module, name)))


@pytest.mark.usefixtures("measured_once")
@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["refine", "--max-edges", "1000", "--repeats", "1"], {"ratio_to_pyg", "ratio_to_networkx", "sizes"}),
        (["construct", "--rows", "100", "--repeats", "1"], {"ratio_to_mlp", "rows", "dimension"}),
        (["scale", "--max-nodes", "200", "--data", "MUTAG", "--max-graphs", "50"], {"rows", "collections"}),
        (["baselines", "--repeats", "1", "--threads", "1"], {"rows"}),
        (["evaluate", "MUTAG", "--splits", "1", "--epochs", "1"], {"rows"}),
        (["predict", "--graphs", "300", "--repeats", "1", "--threads", "1"], {"latency_ratio", "throughput_ratio"}),
        (
            ["kernels", "MUTAG", "--depth", "2", "--budget", "2", "--repeats", "1", "--threads", "1"],
            {"rows", "depth", "threads"},
        ),
    ],
)
def test_commands_print_one_document(arguments: list[str], keys: set[str]) -> None:
    assert keys <= set(json.loads(wlhn("bench", *arguments, "--json").out))
    assert wlhn("bench", *arguments).code == 0
