"""Pictures written by hand: well-formed XML whatever the names, numbers where they belong, no matplotlib."""

import math
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from wlhn.errors import InputError
from wlhn.report.svg import confusion_matrix, learning_curve, ticks

HOSTILE = ["<script>alert(1)</script>", "a\x00\x1bb", "x" * 500, "\"quoted\" & 'more'"]
SPACE = "{http://www.w3.org/2000/svg}"


def test_a_confusion_matrix_shows_every_count_and_names_as_text(tmp_path: Path) -> None:
    counts = np.arange(16).reshape(4, 4) * 1000
    for name in ("a.svg", "b.svg"):
        confusion_matrix(counts, HOSTILE, tmp_path / name, title=HOSTILE[0])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert not list(root.iter("script"))
    words = [str(each.text) for each in root.iter(f"{SPACE}text")]
    assert [word for word in words if word.replace(",", "").isdigit()] == [f"{n:,}" for n in counts.ravel()]
    assert max(map(len, words)) <= 80
    for names, turned in ((["a", "b"], 1), (["chess club", "go"], 3)):  # long names are turned, as "true" always is
        confusion_matrix([[1, 2], [3, 4]], names, tmp_path / "c.svg", title="a title that is wider than the matrix")
        root = ElementTree.parse(tmp_path / "c.svg").getroot()
        placed = list(root.iter(f"{SPACE}text"))
        assert sum("rotate" in each.get("transform", "") for each in placed) == turned
        assert all(0 < float(each.get("x", -1)) < float(root.get("width", 0)) for each in placed)
        assert float(root.get("height", 0)) < 300
    with pytest.raises(InputError, match="rows and columns"):
        confusion_matrix([[1, 2]], ["a"], tmp_path / "c.svg")
    with pytest.raises(InputError, match=r"must end in \.svg"):
        confusion_matrix([[1]], ["a"], tmp_path / "c.png")


@pytest.mark.parametrize("epochs", [1, 2, 25, 400])
def test_curves_go_down_where_numbers_do_and_leave_gaps_out(tmp_path: Path, epochs: int) -> None:
    loss = [1 / (t + 1) for t in range(epochs)]
    broken = [*loss[:-1], math.nan]
    learning_curve(loss, broken, [0.5] * epochs, "accuracy", best_epoch=epochs, path=tmp_path / "curve.svg")
    root = ElementTree.parse(tmp_path / "curve.svg").getroot()
    lines = [each for each in root.iter(f"{SPACE}polyline") if each.get("stroke-width")]
    drawn = [[tuple(map(float, p.split(","))) for p in str(each.get("points")).split()] for each in lines]
    assert [len(points) for points in drawn] == [epochs, epochs - 1, epochs]
    heights = [y for _, y in drawn[0]]
    assert heights == sorted(heights)  # downwards, as y grows downwards in SVG
    assert all(0 < x < 380 and 0 < y < 300 for points in drawn for x, y in points)


def test_ticks_are_few_round_and_inside() -> None:
    for low, high in [(0.0, 1.0), (-3.2, 17.9), (1e-9, 2e-9), (1, 10_000), (0.5, 0.5)]:
        found = ticks(low, high)
        assert 1 <= len(found) <= 7
        assert low - 1e-12 <= found[0] <= found[-1] <= high + 1e-12
        assert found == sorted(set(found))
        steps = {f"{b - a:.6g}" for a, b in pairwise(found)}
        assert {step.replace(".", "").strip("0").split("e")[0] for step in steps} <= {"1", "2", "5"}
