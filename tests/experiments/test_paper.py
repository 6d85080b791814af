"""The paper's numbers as we keep them agree with what its text says of them; rows and columns can be run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from wlhn.cli.reproduce import WHAT
from wlhn.data.registry import KNOWN
from wlhn.data.variants import split_name
from wlhn.errors import InputError
from wlhn.evaluation.grids import read_grid
from wlhn.evaluation.protocols import PROTOCOLS
from wlhn.experiments.catalogue import ITEMS, TABLE
from wlhn.experiments.cells import candidates
from wlhn.experiments.sections import _of_any_grid
from wlhn.experiments.table import FOLDER, read_paper, read_table
from wlhn.models.registry import model_class

TABLES = [item for item, entry in ITEMS.items() if entry is TABLE]


def means(item: str) -> dict[str, dict[str, float]]:
    """{column: {row: mean}}."""
    found: dict[str, dict[str, float]] = {}
    for row in (row for row in read_table(item).rows if row.grid is None):
        for column, value in row.paper.items():
            if isinstance(value, list) and column != "Cornell-2021":  # Cornell's, a second time
                found.setdefault(column, {})[row.key] = value[0]
    return found


def best(item: str) -> dict[str, set[str]]:
    return {column: {k for k, v in rows.items() if v == max(rows.values())} for column, rows in means(item).items()}


def test_every_item_has_its_data_and_the_other_way_round() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(ITEMS)
    assert set(re.findall(r"(?:table|figure)-[a-z-]+", WHAT)) == set(ITEMS)  # what `wlhn reproduce --help` names


@pytest.mark.parametrize("item", TABLES)
def test_rows_and_columns_can_be_run(item: str) -> None:
    table = read_table(item)
    assert len({row.key for row in table.rows}) == len(table.rows)
    assert len({column.key for column in table.columns}) == len(table.columns)
    for column in table.columns:
        assert split_name(column.data)[0] in KNOWN
        assert column.protocol in PROTOCOLS
        if column.item != item:  # shared cells: there they are, under the same protocol
            assert (column.key, column.protocol) in {(c.key, c.protocol) for c in read_table(column.item).columns}
    for row in table.rows:
        assert table.level in model_class(row.model).target_levels
        assert set(row.paper) <= {column.key for column in table.columns}
        assert 1 <= len(candidates(row, "lean", table.level)) <= len(read_grid("lean", row.model, table.level))
    wlhn = next(row for row in table.rows if row.key == "wlhn")
    assert all(column.key in wlhn.paper for column in table.columns if not column.key.endswith("-fixed-splits"))
    frozen = {**wlhn.settings, "frozen_encoder": True}  # and in all else the same
    assert [row.settings for row in table.rows if row.key == "wlhn-frozen-encoder"] == [frozen] or "noise" in item


@pytest.mark.parametrize("item", TABLES)
@pytest.mark.parametrize("grid", ["lean", "paper"])
def test_beside_the_papers_numbers_stand_those_of_its_own_form(item: str, grid: str) -> None:
    table = read_table(item)
    for row in (row for row in table.rows if row.model == "wlhn" and row.paper and row.grid is None):
        tried = [settings.to_json() for settings in candidates(row, grid, table.level, featureless=True)]
        assert {(each["lengths"], each["readout"], each["tau"]) for each in tried} == {("fixed", "hyperbolic", 1.0)}
        assert {each["degree"] for each in tried} == {"scalar"}  # as the reference code, for all models


def test_another_grid_stands_beside_the_same_published_numbers(tmp_path: Path) -> None:
    paper = {row.key: row.paper for row in read_table("table-graphs").rows}
    assert paper["wlhn-fair"] == paper["wlhn"]
    assert paper["gin-fair"] == paper["gin"]
    nodes = {row.key: row.paper for row in read_table("table-nodes").rows}
    assert nodes["wlhn-fair"] == nodes["wlhn"]
    variant = {"name": "lengths", "model": "wlhn", "grid": "fair", "settings": {"lengths": "log"}}
    table = read_paper("table-graphs")
    (tmp_path / "more.json").write_text(json.dumps(table | {"rows": [*table["rows"], variant | {"key": "lengths"}]}))
    rows = {row.key: row.paper for row in read_table(str(tmp_path / "more.json")).rows}
    assert rows["wlhn-fair"] == paper["wlhn"]
    assert not rows["lengths"]  # a variant is not what the paper's numbers are about, from whichever grid


def test_a_variant_is_not_the_model_by_another_grid() -> None:
    """A row with the model's settings and no grid of its own has its own line among the details."""
    table = read_table("table-molecules")
    rows = {row.key: row for row in table.rows}
    column, model = table.columns[0], rows["wl-linear"]
    assert rows["wl-linear-coarse"].settings == model.settings
    cells: Any = {(column.key, key): key for key in ("wl-linear", "wl-linear-coarse")}
    assert _of_any_grid(model, column, table, cells) == "wl-linear"
    graphs = read_table("table-graphs")
    cells = {("MUTAG", key): key for key in ("wlhn", "wlhn-fair", "wlhn-lengths")}
    wlhn = next(row for row in graphs.rows if row.key == "wlhn")
    assert _of_any_grid(wlhn, graphs.columns[0], graphs, cells) == "wlhn-fair"


def test_what_the_text_says_of_graph_classification() -> None:
    """'outperforms the baselines on 6 out of the 10 datasets'."""
    winners = best("table-graphs")
    assert len(winners) == 10
    assert sum(who == {"wlhn"} for who in winners.values()) == 6
    errica = ("dgcnn", "diffpool", "ecc", "graphsage", "gin")
    models = {row.key for row in read_table("table-graphs").rows if row.paper and row.grid is None}
    assert models == {*errica, "gcn", "hgcn-poincare", "hgcn-hyperboloid", "wlhn"}


def test_what_the_text_says_of_node_classification() -> None:
    """'3 out of the 5 datasets'; 'improvements of 2.97%, 2.33% and 1.83% over the best competitor'."""
    found = means("table-nodes")
    assert sum(who == {"wlhn"} for who in best("table-nodes").values()) == 3
    for column, gain in (("Cornell", 2.97), ("Squirrel", 2.33), ("Actor", 1.83)):
        others = [value for row, value in found[column].items() if row != "wlhn"]
        assert len(others) == 8
        assert found[column]["wlhn"] - max(others) == pytest.approx(gain)


@pytest.mark.parametrize("item", ["table-molecules", "table-feature-noise", "table-structure-noise"])
def test_where_wlhn_is_best_everywhere(item: str) -> None:
    assert all(who == {"wlhn"} for who in best(item).values())


def test_what_the_text_says_of_structural_properties() -> None:
    """'outperforms the two baselines under all settings': its errors are the smallest."""
    for rows in means("table-structural").values():
        assert set(rows) == {"gcn", "gin", "wlhn"}
        assert min(rows, key=lambda row: rows[row]) == "wlhn"


def test_times_are_those_of_three_models_on_ten_sets() -> None:
    rows: dict[str, Any] = read_paper("table-time")["rows"]
    columns = [column.key for column in read_table("table-graphs").columns]
    assert {name: list(times) for name, times in rows.items()} == dict.fromkeys(("GIN", "HGCN", "WLHN"), columns)
    assert all(rows["WLHN"][name] > rows["GIN"][name] for name in columns)


@pytest.mark.parametrize("kind", ["rows", "columns"])
def test_settings_for_a_row_or_column_that_is_not_there_are_refused(tmp_path: Path, kind: str) -> None:
    at = {"rows": ["gin"], "columns": ["MUTAG"], "settings": {"num_layers": 2}}
    table = {"columns": [{"key": "MUTAG"}], "rows": [{"model": "gin"}], "settings_at": [at]}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(table))
    assert read_table(str(path)).cells()[0][1].settings == {"num_layers": 2}
    at[kind] = ["ginn"]
    path.write_text(json.dumps(table))
    with pytest.raises(InputError, match=rf"settings_at 0: 'ginn' is not the key of one of the table's {kind}; .*form"):
        read_table(str(path))
