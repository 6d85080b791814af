"""What is said about the reading of data is obeyed or refused, whatever the format."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from wlhn.data import load, register_dataset
from wlhn.data.dataset import Dataset
from wlhn.data.generated import karate_club
from wlhn.errors import InputError

FORMATS = {
    "tu": {"S_A.txt": "1, 2\n2, 1\n", "S_graph_indicator.txt": "1\n1\n", "S_graph_labels.txt": "1\n"},
    "geom-gcn": {
        "out1_graph_edges.txt": "node_id\tnode_id\n0\t1\n",
        "out1_node_feature_label.txt": "node_id\tfeature\tlabel\n0\t0,1\t0\n1\t1,1\t1\n",
    },
    "ogb": {"raw/edge.csv.gz": ""},
}


def places(folder: Path) -> list[str]:
    """A set of each format that has no columns, by path, by name and from a plug-in."""
    for form, files in FORMATS.items():
        for name, text in files.items():
            path = folder / form / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(b"") if path.suffix == ".gz" else text.encode())

    @register_dataset("club-from-outside")
    def club(seed: int) -> Dataset:
        return karate_club()

    return [*(str(folder / form) for form in FORMATS), "karate", "BA-density-5", "club-from-outside"]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"roles": {"age": "target"}}, "has no columns to give roles to; leave out `--role`"),
        ({"missing": "-1"}, "leave out `--missing`"),
    ],
)
def test_sets_without_columns_refuse_what_is_said_of_columns(
    tmp_path: Path, said: dict[str, Any], sentence: str
) -> None:
    for place in places(tmp_path):
        with pytest.raises(InputError, match=f"{place}: .*{sentence}"):
            load(place, **said)


def test_sets_that_are_made_have_the_task_they_have() -> None:
    for name, task, other in (
        ("karate", "classification", "regression"),
        ("BA-density-5", "regression", "classification"),
    ):
        assert load(name, task=task).task == task  # type: ignore[arg-type]
        with pytest.raises(InputError, match=f"{name}: its targets are .*; leave out `--task {other}`"):
            load(name, task=other)  # type: ignore[arg-type]


@pytest.mark.parametrize("said", [{"task": "regression"}, {"missing": "?"}])
def test_edges_alone_refuse_what_is_said_of_targets(tmp_path: Path, said: dict[str, Any]) -> None:
    (tmp_path / "roads.csv").write_text("source,target\na,b\n")
    ((flag, value),) = said.items()
    with pytest.raises(InputError, match=rf"roads.csv: .* no targets; leave out `--{flag} {re.escape(value)}`"):
        load(tmp_path / "roads.csv", **said)
