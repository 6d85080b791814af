"""Tables with gaps: what has no target is read and kept out of splits, what is meant is asked or said, not guessed."""

import re
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from running import wlhn

from wlhn.data import as_dataset, load, statistics
from wlhn.data.display import graph_position
from wlhn.errors import InputError

EDGES = "from,to\n" + "".join(f"{k},{k + 1}\n" for k in range(11))


def nodes(folder: Path, target: list[object], header: str = "y", split: list[str] | None = None) -> Path:
    """A path of twelve nodes with these targets."""
    folder.mkdir(exist_ok=True)
    parts = ["" if split is None else f",{part}" for part in split or range(len(target))]
    lines = [f"{k},{k / 2}{part},{value}\n" for k, (part, value) in enumerate(zip(parts, target, strict=True))]
    (folder / "nodes.csv").write_text(f"id,size{'' if split is None else ',split'},{header}\n" + "".join(lines))
    (folder / "edges.csv").write_text(EDGES)
    return folder


CLASSES = ["a", "", "b", "a", "", "b", "a", "b", "", "a", "b", "a"]


def test_a_class_that_is_unknown_is_no_class(tmp_path: Path) -> None:
    dataset = load(nodes(tmp_path / "g", list(CLASSES)))
    assert dataset.classes == ("a", "b")
    assert dataset.labelled.tolist() == [bool(value) for value in CLASSES]
    assert [dataset.classes[k] for k in dataset.y[dataset.labelled]] == [value for value in CLASSES if value]
    assert [dataset.true_class(k) for k in range(12)] == [value or None for value in CLASSES]
    assert dataset.summary == "12 nodes, 9 with a target: 2 classes"
    numbers = statistics(dataset)
    assert (numbers.labelled, numbers.class_counts) == (9, (5, 4))


def test_whole_numbers_beside_gaps_stay_classes(tmp_path: Path) -> None:
    for zero, one in (("0", "1"), ("0.0", "1.0")):  # pandas writes the latter
        dataset = load(nodes(tmp_path / "g", [zero, "", one] * 4))
        assert (dataset.task, dataset.classes, dataset.y.tolist()) == ("classification", (0, 1), [0, -1, 1] * 4)


def test_numbers_that_are_unknown_are_nan(tmp_path: Path) -> None:
    dataset = load(nodes(tmp_path / "g", [0.5, "", 1.25] * 4))
    assert dataset.task == "regression"
    np.testing.assert_array_equal(dataset.y, np.array([0.5, np.nan, 1.25] * 4, np.float32))
    assert dataset.labelled.sum() == 8


def test_an_empty_target_is_none_and_said(tmp_path: Path) -> None:
    dataset = load(nodes(tmp_path / "g", [""] * 12))
    assert (dataset.task, dataset.labelled.any()) == ("none", False)
    assert "no targets: nothing stands in 'y'" in dataset.notes


def test_several_targets_have_gaps_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "targets.csv").write_text("file,p,q\na,1,\nb,,\nc,0,1\n")
    for name in "abc":
        (tmp_path / f"{name}.edgelist").write_text("x y\n")
    dataset = load(tmp_path)
    assert (dataset.task, dataset.targets) == ("binary", ("p", "q"))
    assert dataset.labelled.tolist() == [True, False, True]
    assert dataset.summary == "3 graphs, 2 with a target: 2 binary targets"


def test_a_split_holds_what_has_a_target_and_a_part(tmp_path: Path) -> None:
    parts = ["train", "train", "valid", "", "test", "test"] * 2
    split = load(nodes(tmp_path / "g", list(CLASSES), split=parts)).splits[0]
    given = {part: [k for k in range(12) if parts[k] == part and CLASSES[k]] for part in ("train", "valid", "test")}
    assert {part: getattr(split, part).tolist() for part in given} == given
    assert split.size < 9
    with pytest.raises(
        InputError, match=r"line 2, column 'split': expected train, valid, test or nothing, found 'dev'"
    ):
        load(nodes(tmp_path / "g", list(CLASSES), split=["dev"] * 12))


@pytest.mark.parametrize("mark", ["-1", "NA", "?"])
def test_what_looks_unknown_is_asked_about(tmp_path: Path, mark: str) -> None:
    folder = nodes(tmp_path / "g", ["0", "2", mark] * 4 if mark == "-1" else ["a", "b", mark] * 4)
    with pytest.raises(InputError, match=re.escape(f'mean unknown? `--missing={mark}` (missing="{mark}")')):
        load(folder)
    assert load(folder, missing=mark).labelled.sum() == 8
    assert len(load(folder, missing="").classes) == 3


def test_minus_one_and_one_are_two_classes(tmp_path: Path) -> None:
    assert load(nodes(tmp_path / "g", ["-1", "1"] * 6)).classes == (-1, 1)


def test_new_data_know_what_stood_for_unknown(tmp_path: Path) -> None:
    old = load(nodes(tmp_path / "old", ["0", "2", "-1"] * 4), missing="-1")
    new = load(nodes(tmp_path / "new", ["2", "-1", "-1"] * 4), like=old.columns)
    assert (new.classes, new.y.tolist()) == ((0, 2), [1, -1, -1] * 4)


def test_many_whole_numbers_are_numbers_and_it_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "g"
    folder.mkdir()
    (folder / "edges.csv").write_text(EDGES)
    (folder / "nodes.csv").write_text("id,age\n" + "".join(f"{k},{k % 40}\n" for k in range(100)))
    dataset = load(folder)
    assert dataset.task == "regression"
    assert any("40 different whole numbers, taken as numbers (`--task classification`" in n for n in dataset.notes)
    assert len(load(folder, task="classification").classes) == 40
    few = load(nodes(tmp_path / "few", [0, 1, 2] * 4))
    assert any("3 different whole numbers, taken as classes (`--task regression`" in note for note in few.notes)
    assert load(tmp_path / "few", task="regression").y.tolist() == [0, 1, 2] * 4


def test_a_task_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column 'y': holds text, and `--task regression` needs numbers"):
        load(nodes(tmp_path / "g", list(CLASSES)), task="regression")
    with pytest.raises(
        InputError, match="column 'y': has numbers with a fraction, and classes are whole numbers or text"
    ):
        load(nodes(tmp_path / "g", [0.5, 1.5] * 6), task="classification")
    with pytest.raises(InputError, match="task: must be classification or regression, found 'both'"):
        load(tmp_path / "g", task="both")  # type: ignore[arg-type]


def test_a_word_among_numbers_is_said(tmp_path: Path) -> None:
    """It makes categories of a whole column; a column of words is as it is meant."""
    folder = nodes(tmp_path / "g", ["low", "high"] * 6)
    assert "values are numbers" not in str(load(folder).notes)
    text = (folder / "nodes.csv").read_text()
    (folder / "nodes.csv").write_text(text.replace("5,2.5,", "5,tall,").replace("7,3.5,", "7,,"))
    said = "column 'size': 10 of 11 values are numbers, but not 'tall' ("
    (note,) = (each for each in load(folder).notes if "numbers" in each)
    assert note.startswith(said)
    assert "nodes.csv, line 7), so all were taken as text" in note
    graph = nx.path_graph(6)
    nx.set_node_attributes(graph, {k: k if k else "none" for k in graph}, "age")
    assert "5 of 6 values are numbers" in str(as_dataset(graph, ["a", "b"] * 3, level="node").notes)


def test_many_targets_make_a_short_note(tmp_path: Path) -> None:
    names = [f"t{k}" for k in range(200)]
    numbers = ",".join(f"{k}.5" for k in range(200))
    (tmp_path / "targets.csv").write_text(f"file,{','.join(names)}\na,{numbers}\nb,{numbers}\n")
    for name in "ab":
        (tmp_path / f"{name}.edgelist").write_text("x y\n")
    note = next(note for note in load(tmp_path).notes if "200 targets" in note)
    assert note.startswith("'t0', 't1', ")
    assert "'t11', … are taken as 200 targets that are numbers" in note


def test_answers_beside_numbers_are_not_silently_numbers(tmp_path: Path) -> None:
    (tmp_path / "targets.csv").write_text("file,toxic,dose\na,1,0.5\nb,0,1.5\n")
    for name in "ab":
        (tmp_path / f"{name}.edgelist").write_text("x y\n")
    with pytest.raises(InputError, match=r"'toxic' of 0 and 1 beside 'dose' of numbers .*--task regression"):
        load(tmp_path)
    assert load(tmp_path, task="regression").y.tolist() == [[1, 0.5], [0, 1.5]]
    assert load(tmp_path, roles={"dose": "ignored"}).task == "classification"


def test_missing_features_are_nan_or_a_category_of_their_own(tmp_path: Path) -> None:
    table = "id,kind,size,y\n0,a,1.5,u\n1,,,v\n2,b,2.5,u\n"
    (tmp_path / "nodes.csv").write_text(table)
    (tmp_path / "edges.csv").write_text("from,to\n0,1\n1,2\n")
    dataset = load(tmp_path)
    assert dataset.graphs.node_label.tolist() == [0, 2, 1]  # type: ignore[union-attr]
    assert next(c.values for c in dataset.columns if c.name == "kind") == ("a", "b", None)
    np.testing.assert_array_equal(dataset.graphs.x, [[1.5], [np.nan], [2.5]])  # type: ignore[arg-type]
    (note,) = (note for note in dataset.notes if note.startswith("missing"))
    assert "'kind' of 1 of 3 rows (a category of their own), 'size' of 1 of 3 rows (the training mean" in note


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_detected(tmp_path: Path, separator: str) -> None:
    rows = [["id", "size", "y"], ["0", "0,5" if separator != "," else "0.5", "a"], ["1", "2", "b"]]
    (tmp_path / "nodes.csv").write_text("".join(separator.join(row) + "\n" for row in rows))
    (tmp_path / "edges.csv").write_text(f"from{separator}to{separator}weight\n0{separator}1{separator}3\n")
    dataset = load(tmp_path)
    assert dataset.graphs.x.tolist() == [[0.5], [2.0]]  # type: ignore[union-attr]
    assert dataset.graphs.edge_attr.tolist() == [[3.0], [3.0]]  # type: ignore[union-attr]
    assert dataset.classes == ("a", "b")


def test_weights_of_edge_lists_are_attributes(tmp_path: Path) -> None:
    (tmp_path / "plain.edgelist").write_text("a b 0.5\nb c 2\n")
    nx.write_edgelist(nx.Graph([("a", "b", {"weight": 0.5}), ("b", "c", {"weight": 2})]), tmp_path / "written.edgelist")
    (tmp_path / "several.edgelist").write_text("a b 0.5 road\nb c 2 rail\n")
    (tmp_path / "table.csv").write_text("u,v,weight\na,b,0.5\nb,c,2\n")
    for name in ("plain.edgelist", "written.edgelist", "several.edgelist", "table.csv"):
        graphs = load(tmp_path / name).graphs
        weights = {
            frozenset(edge): w for edge, (w,) in zip(graphs.edge_index.T.tolist(), graphs.edge_attr, strict=True)
        }  # type: ignore[arg-type]
        place = {name: k for k, name in enumerate(graphs.ids(0))}
        assert weights == {frozenset((place["a"], place["b"])): 0.5, frozenset((place["b"], place["c"])): 2}, name
    assert load(tmp_path / "several.edgelist").graphs.edge_label.tolist() == [1, 1, 0, 0]  # type: ignore[union-attr]


def test_training_says_which_columns_of_edges_it_does_not_look_at(tmp_path: Path) -> None:
    nodes = "".join(f"{k},{'ab'[k % 2]}\n" for k in range(20))
    (tmp_path / "nodes.csv").write_text("id,kind\n" + nodes)
    (tmp_path / "edges.csv").write_text("source,target,years\n" + "".join(f"{k},{k + 1},{k}\n" for k in range(19)))
    few = ("--epochs", "1", "--hidden-channels", "4", "--num-layers", "1")
    for more, said in ((), True), (("--edge-features",), False):
        ran = wlhn("train", tmp_path, *few, *more, "--out", tmp_path / f"run{said}")
        assert ran.code == 0, ran.err
        assert ("does not see without --edge-features: years" in ran.out) == said


def test_an_attribute_of_nodes_can_be_the_target(tmp_path: Path) -> None:
    nx.write_graphml(nx.karate_club_graph(), tmp_path / "club.graphml")
    club = load(tmp_path / "club.graphml", roles={"club": "target"})
    assert (club.level, club.classes) == ("node", ("Mr. Hi", "Officer"))
    memory = as_dataset(nx.karate_club_graph(), level="node", roles={"club": "target"})
    assert memory.y.tolist() == club.y.tolist()
    np.testing.assert_array_equal(memory.graphs.edge_attr, club.graphs.edge_attr)  # type: ignore[arg-type]


def test_missing_roles_are_named_with_what_would_help(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("structure,dose\nCCO,0.5\nc1ccccc1,1.5\n")
    with pytest.raises(InputError, match=r"'structure' looks like it \(`--role structure=smiles`\)"):
        load(tmp_path / "t.csv")
    assert len(load(tmp_path / "t.csv", roles={"structure": "smiles"})) == 2
    (tmp_path / "e.csv").write_text("who,whom\nann,bob\nbob,eve\n")
    with pytest.raises(InputError, match=r"among who and whom \(`--role NAME=smiles` .*NAME=from --role NAME=to`"):
        load(tmp_path / "e.csv")
    assert load(tmp_path / "e.csv", roles={"who": "from", "whom": "to"}).graphs.num_edges == 4


def test_a_graph_is_found_without_its_ending(tmp_path: Path) -> None:
    for name in ("g3.edgelist", "g4.edgelist", "g4.graphml", "v1.0.edgelist"):
        if name.endswith("graphml"):
            nx.write_graphml(nx.path_graph(2), tmp_path / name)
        else:
            (tmp_path / name).write_text("a b\n")
    dataset = load(tmp_path)
    assert graph_position(dataset, "g3") == graph_position(dataset, "g3.edgelist") == 0
    assert graph_position(dataset, "v1.0") == 3
    with pytest.raises(InputError, match=r"graph 'g4' may be g4.edgelist or g4.graphml"):
        graph_position(dataset, "g4")
    with pytest.raises(InputError, match="no graph 'v1'"):
        graph_position(dataset, "v1")


@pytest.mark.parametrize("huge", ["1e300", "9" * 400, "1e999"])
def test_numbers_too_large_are_an_error_without_a_warning(tmp_path: Path, huge: str) -> None:
    folder = nodes(tmp_path / "g", ["a", "b"] * 6)
    (folder / "nodes.csv").write_text((folder / "nodes.csv").read_text().replace("\n3,1.5", f"\n3,{huge}"))
    tu = tmp_path / "S"
    tu.mkdir()
    for kind, text in {"A": "1, 2\n", "graph_indicator": "1\n1\n", "graph_labels": "3\n"}.items():
        (tu / f"S_{kind}.txt").write_text(text)
    (tu / "S_node_attributes.txt").write_text(f"1\n{huge}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=r"nodes.csv, line 5, column 'size': expected a finite number"):
            load(folder)
        with pytest.raises(InputError, match=r"node_attributes.txt, line 2: expected 1 finite number"):
            load(tu)


@pytest.mark.parametrize("nothing", ["", "n/a", "N/A", "NA", "nan", "NULL"])
def test_what_people_write_for_nothing_is_a_gap_among_numbers(nothing: str, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(f"id,age,class\na,1.5,x\nb,{nothing},y\nc,2,x\n")
    (tmp_path / "edges.csv").write_text("from,to\na,b\nb,c\n")
    dataset = load(tmp_path)
    assert dataset.graphs.x is not None
    assert np.isnan(dataset.graphs.x[:, 0]).tolist() == [False, True, False]
    assert "missing values are filled: 'age' of 1 of 3 rows (the training mean and an indicator)" in dataset.notes


def test_a_target_that_is_only_the_last_column_is_noted(tmp_path: Path) -> None:
    columns = {"person": "abc", "y1": "010", "y2": "110", "y3": "011"}
    lines = [",".join(cells) for cells in zip(*columns.values(), strict=True)]
    (tmp_path / "nodes.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    (tmp_path / "edges.csv").write_text("from,to\na,b\nb,c\n")
    assert any("taken by position: 'person' as id and 'y3' as target" in note for note in load(tmp_path).notes)
    one = load(tmp_path, roles={"person": "id", "y1": "target"})
    assert (one.y.tolist(), any("by position" in note for note in one.notes)) == ([0, 1, 0], False)
    several = load(tmp_path, roles={"y1": "target", "y2": "target", "y3": "target"})
    assert (several.task, several.y.tolist()) == ("binary", [[0, 1, 0], [1, 1, 1], [0, 0, 1]])
    assert any("taken by position: 'person' as id" in note for note in several.notes)
    assert not any("by position" in note for note in load(tmp_path, like=several.columns).notes)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("form", ["nodes", "targets", "molecules"])
def test_an_index_that_pandas_wrote_changes_nothing(tmp_path: Path, form: str, first: int) -> None:
    index = pd.RangeIndex(first, first + 3)
    tables = {
        "nodes": {
            "nodes.csv": pd.DataFrame({"id": ["a", "b", "c"], "age": [3, 5, 4], "y": ["k", "l", "k"]}, index),
            "edges.csv": pd.DataFrame({"x": ["a", "b", "c"], "z": ["b", "c", "a"]}, index),
        },
        "targets": {"targets.csv": pd.DataFrame({"file": ["a", "b", "c"], "q": [1, 0, 1], "r": [0, 0, 1]}, index)},
        "molecules": {"m.csv": pd.DataFrame({"smiles": ["C", "CC", "CO"], "q": [1, 0, 1], "r": [0, 0, 1]}, index)},
    }[form]
    read = []
    for folder, kept in ((tmp_path / "with", True), (tmp_path / "without", False)):
        folder.mkdir()
        if form == "targets":
            for name in "abc":
                (folder / f"{name}.edgelist").write_text("1 2\n")
        for name, table in tables.items():
            table.to_csv(folder / name, index=kept)
        read.append(load(folder / "m.csv" if form == "molecules" else folder))
    indexed, plain = read
    np.testing.assert_array_equal(indexed.y, plain.y)
    np.testing.assert_array_equal(np.asarray(indexed.graphs.x), np.asarray(plain.graphs.x))
    assert (indexed.targets, indexed.graphs.edge_attr is None) == (plain.targets, plain.graphs.edge_attr is None)
    for name in tables:
        assert f"{name}: 'Unnamed: 0' counts the rows, so it is ignored" in indexed.notes


def test_an_index_that_pandas_wrote_is_the_id_where_there_is_no_other(tmp_path: Path) -> None:
    pd.DataFrame({"age": [3, 5, 4], "y": ["k", "l", "k"]}).to_csv(tmp_path / "nodes.csv")
    (tmp_path / "edges.csv").write_text("from,to\n2,0\n")
    read = load(tmp_path, directed=True)
    assert (read.graphs.edge_index.tolist(), read.graphs.x.tolist()) == ([[2], [0]], [[3], [5], [4]])  # type: ignore[union-attr]
    (tmp_path / "nodes.csv").write_text("id,,y\n0,0,k\n1,2,l\n2,1,k\n")
    assert load(tmp_path).graphs.x.tolist() == [[0], [2], [1]]  # type: ignore[union-attr]  # no name, but no count


def test_a_gap_does_not_change_what_the_other_targets_are(tmp_path: Path) -> None:
    whole = load(nodes(tmp_path / "a", ["0.0", "2.0", "7.0"] * 4))
    gap = load(nodes(tmp_path / "b", ["0.0", "2.0", "7.0"] * 3 + ["", "2.0", "7.0"]))
    plain = load(nodes(tmp_path / "c", [0, 2, 7] * 4))
    assert whole.task == gap.task == "classification"
    assert whole.classes == gap.classes == plain.classes == (0, 2, 7)
    assert whole.notes == gap.notes == plain.notes
    assert any("3 different whole numbers, taken as classes" in note for note in whole.notes)
