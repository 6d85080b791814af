"""Benchmarks run and compare like with like. How fast anything is, no test says."""

import json

import pytest

from running import wlhn
from wlhn.bench import alternate
from wlhn.bench.construction import construction
from wlhn.bench.refinement import contest, growth


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


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["refine", "--max-edges", "1000", "--repeats", "1"], {"ratio_to_pyg", "ratio_to_networkx", "sizes"}),
        (["construct", "--rows", "100", "--repeats", "1"], {"ratio_to_mlp", "rows", "dimension"}),
    ],
)
def test_commands_print_one_document(arguments: list[str], keys: set[str]) -> None:
    assert keys <= set(json.loads(wlhn("bench", *arguments, "--json").out))
    assert wlhn("bench", *arguments).code == 0
