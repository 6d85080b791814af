"""What notebooks show of our values: well-formed tables that hold what they say, and names as text."""

from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pytest

import wlhn
from wlhn.data import Dataset, load
from wlhn.graphs import Graphs
from wlhn.notebook import html_table

HOSTILE = "<script>alert('x')</script>&"


class Cells(HTMLParser):
    """The text of every cell and the tags around; tags must close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        self.cells += [""] * (tag in ("td", "th"))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_a_hierarchy_shows_its_depths() -> None:
    hierarchy = wlhn.refine(load("MUTAG").graphs, 3, "label")
    cells = Cells(hierarchy._repr_html_()).cells[4:]
    assert cells[1::4] == ["7", "33", "174", "572"]
    assert cells[2::4] == [f"{int(hierarchy.count(t).max()):,}" for t in range(4)]
    assert "188 graphs" in hierarchy._repr_html_()
    assert "1 graph," in wlhn.refine(nx.empty_graph(0), 1)._repr_html_()


def test_a_data_set_shows_what_it_holds_and_names_stay_text() -> None:
    cells = Cells(load("MUTAG")._repr_html_()).cells
    assert cells[cells.index("nodes") + 1] == "3,371"
    assert "-1: 63, 1: 125" in cells
    graphs = Graphs.from_edges([[0], [1]], 2)
    hostile = Dataset(
        HOSTILE, graphs, np.array([0, 1]), "node", "classification", (HOSTILE, "b"), notes=(HOSTILE, "x" * 9999)
    )
    shown = Cells(hostile._repr_html_())
    assert shown.tags <= {"div", "strong", "table", "thead", "tbody", "tr", "td", "th"}
    assert HOSTILE in shown.cells
    assert max(map(len, shown.cells)) == 200
    assert "target" in Dataset("t", graphs, np.zeros((1, 2)), "graph", "regression", (), ("a", "b"))._repr_html_()


@pytest.mark.parametrize("rows", [0, 12, 13, 500])
def test_long_tables_are_cut_and_say_so(rows: int) -> None:
    text = html_table("t", ["a"], [[k] for k in range(rows)])
    assert text.count("<td>") == min(rows, 12)
    assert (f"and {rows - 12:,} more" in text) == (rows > 12)
