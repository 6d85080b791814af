"""Molecules: OGB's raw files and SMILES agree; bad lines are named; OGB's Evaluator is reached."""

import gzip
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from wlhn.data import encoding, load
from wlhn.data.columns import Role
from wlhn.data.display import graph_position, names_as_seen
from wlhn.data.readers.molecules import read_smiles, scaffold_split
from wlhn.data.readers.ogb import BOND_CATEGORIES, ogb_score, read_ogb
from wlhn.data.readers.tables import ReadOptions
from wlhn.data.splits import Split
from wlhn.errors import InputError

SMILES = ["CCO", "c1ccccc1", "Cc1ccccc1O", "[Na+].[Cl-]", "C1CC1N", "C[C@H](N)C(=O)O", "C/C=C/C", "O"]
TASKS = 128


def pack(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """A set in molpcba's layout, 128 tasks with gaps, made with ogb's own conversion."""
    from ogb.utils.mol import smiles2graph

    graphs = [smiles2graph(text) for text in SMILES]
    folder = tmp_path / "ogbg_molpcba"
    y = np.random.default_rng(0).integers(0, 3, (len(SMILES), TASKS))
    rows = [",".join({0: "0.0", 1: "1.0", 2: ""}[v] for v in row) for row in y.tolist()]
    names = ",".join(f"PCBA-{k}" for k in range(TASKS))
    once = [g["edge_index"][:, ::2] for g in graphs]
    pack(
        folder / "mapping/mol.csv.gz",
        [f"{names},smiles,mol_id", *(f"{r},{s},CID" for r, s in zip(rows, SMILES, strict=True))],
    )
    pack(folder / "raw/graph-label.csv.gz", rows)
    pack(folder / "raw/num-node-list.csv.gz", [str(g["num_nodes"]) for g in graphs])
    pack(folder / "raw/num-edge-list.csv.gz", [str(e.shape[1]) for e in once])
    pack(folder / "raw/edge.csv.gz", [f"{u},{v}" for e in once for u, v in e.T.tolist()])
    pack(folder / "raw/node-feat.csv.gz", [",".join(map(str, row)) for g in graphs for row in g["node_feat"].tolist()])
    pack(
        folder / "raw/edge-feat.csv.gz",
        [",".join(map(str, row)) for g in graphs for row in g["edge_feat"][::2].tolist()],
    )
    for part, items in {"train": "0123", "valid": "45", "test": "67"}.items():
        pack(folder / f"split/scaffold/{part}.csv.gz", list(items))
    return folder


def test_raw_files_and_smiles_give_the_same_graphs(layout: Path) -> None:
    from ogb.utils.features import get_atom_feature_dims, get_bond_feature_dims

    raw = load(layout)
    again = load(layout)
    smiles = load(layout / "mapping/mol.csv.gz")
    assert raw.y.shape == (len(SMILES), TASKS)
    for other in (again, smiles):
        assert np.array_equal(raw.graphs.node_ptr, other.graphs.node_ptr)
        assert np.array_equal(raw.graphs.edge_index, other.graphs.edge_index)
        assert np.array_equal(raw.graphs.x, other.graphs.x)
        assert np.array_equal(raw.graphs.edge_attr, other.graphs.edge_attr)
        np.testing.assert_array_equal(raw.y, other.y)
        assert raw.task == other.task == "binary"
        assert raw.targets == other.targets
    assert raw.splits[0].test.tolist() == [6, 7]
    assert np.issubdtype(encoding(raw).encode(raw.graphs).dtype, np.integer)
    assert encoding(raw).categories == tuple(get_atom_feature_dims())
    assert tuple(get_bond_feature_dims()) == BOND_CATEGORIES


@pytest.mark.parametrize(
    ("file", "line", "new", "message"),
    [
        ("edge", 0, "0,7", "edge.csv.gz, line 1: atoms must be from 0 to 2 of their molecule, found 0 and 7"),
        ("edge", 1, None, "edge.csv.gz, line 28: must have 28 lines in all, found 27"),
        ("node-feat", 2, "1,2", "node-feat.csv.gz, line 3: expected 9 integers"),
        ("num-node-list", 1, "-6", "num-node-list.csv.gz, line 2: a size must be"),
        ("graph-label", 3, ",".join(["2"] * TASKS), "graph-label.csv.gz, line 4: must be 0, 1 or nothing, found 2"),
        ("graph-label", 3, "1,x", "graph-label.csv.gz"),
        (
            "graph-label",
            3,
            "1e300" + "," * (TASKS - 1),
            "graph-label.csv.gz, line 4: must be 0, 1 or nothing, found inf",
        ),
        ("num-edge-list", 3, None, "num-edge-list.csv.gz, line 8: must have 8 lines"),
    ],
)
def test_bad_files_are_named_by_line(layout: Path, file: str, line: int, new: str | None, message: str) -> None:
    path = layout / "raw" / f"{file}.csv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    lines[line : line + 1] = [] if new is None else [new]
    pack(path, lines)
    with pytest.raises(InputError, match=message):
        read_ogb(layout)


def test_a_published_split_holds_what_has_a_target(layout: Path) -> None:
    path = layout / "raw/graph-label.csv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    lines[1] = "," * (TASKS - 1)
    pack(path, lines)
    dataset = read_ogb(layout)
    assert dataset.splits == (Split([0, 2, 3], [4, 5], [6, 7]),)
    assert dataset.summary.startswith("8 graphs, 7 with a target")


@given(
    st.sampled_from(["edge", "node-feat", "graph-label", "num-node-list"]), st.integers(0, 60), st.binary(max_size=9)
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(layout: Path, file: str, place: int, noise: bytes) -> None:
    path = layout / "raw" / f"{file}.csv.gz"
    whole = path.read_bytes()
    text = gzip.decompress(whole)
    try:
        for broken in (
            gzip.compress(text[:place] + noise + text[place + len(noise) :]),
            whole[:place],
            whole[:place] + noise + whole[place + len(noise) :],
        ):
            path.write_bytes(broken)
            with suppress(InputError):
                read_ogb(layout)
    finally:
        path.write_bytes(whole)


def test_refused_smiles_are_named_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("name,smiles,dose\na,CCO,0.5\nb,C(C,1.5\nc,CC,2.5\n")
    with pytest.raises(InputError, match=r"m.csv, line 3: must be SMILES .* refuses 'C\(C'"):
        read_smiles(path)
    dataset = read_smiles(path, ReadOptions(skip_invalid=True))
    with pytest.raises(InputError, match=rf"graph '{dataset.skipped[0].id}' was skipped: RDKit refuses"):
        graph_position(dataset, str(dataset.skipped[0].id))
    assert dataset.graph_ids == ["a", "c"]
    assert (dataset.y.tolist(), dataset.task) == ([0.5, 2.5], "regression")
    assert dataset.notes[0] == "1 molecule that RDKit refuses was skipped: b (line 3)"
    assert [(skipped.position, skipped.id) for skipped in dataset.skipped] == [(1, "b")]
    assert dataset.summary == "2 graphs, all with a target: 1 regression target; 1 skipped"
    for _ in range(2):  # the second time from the cache
        assert load(path, skip_invalid=True).skipped == dataset.skipped


def test_positions_stay_those_of_the_table_where_lines_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles,dose\nCCO,0.5\nC(C,1.5\n,1.0\nCC,\n")
    dataset = read_smiles(tmp_path / "m.csv", ReadOptions(skip_invalid=True))
    assert dataset.graph_ids == [0, 3]
    assert [skipped.id for skipped in dataset.skipped] == [1, 2]
    assert dataset.labelled.tolist() == [True, False]


@pytest.mark.parametrize(
    ("table", "task", "ids"),
    [
        ("smiles,name\nO,wet\nCCO,wet\nCO,dry\n", "classification", None),
        ("smiles,name\nO,water\nCCO,ethanol\nCO,methanol\n", "none", ["water", "ethanol", "methanol"]),
        ("name,smiles,y\na,O,0.5\na,CCO,1.5\nb,CO,2.5\n", "regression", ["a", "a", "b"]),
    ],
)
def test_a_text_column_is_the_target_where_nothing_else_can_be(
    tmp_path: Path, table: str, task: str, ids: list[str] | None
) -> None:
    (tmp_path / "m.csv").write_text(table)
    dataset = read_smiles(tmp_path / "m.csv")
    assert (dataset.task, dataset.graph_ids) == (task, ids)


def test_two_columns_that_could_be_the_target(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles,compound,kind\nO,water,a\nCCO,ethanol,b\n")
    with pytest.raises(InputError, match=r"'compound' and 'kind'.*--role compound=target.*--role compound=ignored"):
        read_smiles(tmp_path / "m.csv")
    assert read_smiles(tmp_path / "m.csv", ReadOptions(roles={"kind": "target"})).classes == ("a", "b")


@pytest.mark.parametrize("role", ["feature", "category"])
def test_features_of_whole_molecules_are_refused(tmp_path: Path, role: Role) -> None:
    (tmp_path / "m.csv").write_text("smiles,heat,kind\nO,1.5,a\nCCO,2.5,b\n")
    with pytest.raises(InputError, match=rf"m\.csv, column 'heat': a {role} of whole graphs.*--role heat=ignored"):
        read_smiles(tmp_path / "m.csv", ReadOptions(roles={"kind": "target", "heat": role}))


def test_scaffolds_stay_together() -> None:
    rings = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CC1", "C1CCC1", "C1CCCC1"]
    smiles = [("C" * k) + ring for ring in rings for k in range(5)]
    split = scaffold_split(smiles)
    assert split.size == 30
    for part in (split.train, split.valid, split.test):
        assert all(5 * (k // 5) + j in part for k in part for j in range(5))


def test_a_scaffold_that_most_molecules_share_is_nothing_to_split_by(tmp_path: Path) -> None:
    chains = [f"{'C' * (k + 1)}O" for k in range(18)]
    rings = [f"{'C' * k}C1{'C' * size}C1" for size in range(1, 11) for k in range(2)]
    for smiles, ending, splits in ((chains + rings[:2], "molecules without rings share one", 0), (rings, "", 1)):
        (tmp_path / "m.csv").write_text("\n".join(["smiles,dose", *(f"{s},{k / 3}" for k, s in enumerate(smiles))]))
        dataset = read_smiles(tmp_path / "m.csv")
        assert len(dataset.splits) == splits
        assert ending in "".join(dataset.notes)


def test_score_is_ogbs() -> None:
    random = np.random.default_rng(0)
    y, score = random.integers(0, 2, (50, 1)), random.random((50, 1))
    assert ogb_score("ogbg-molhiv", y, score)["rocauc"] == pytest.approx(roc_auc_score(y, score))


@pytest.mark.dataset("ogbg-molhiv")
def test_molhiv(data_root: Path) -> None:
    from ogb.utils.mol import smiles2graph

    dataset = load("molhiv", data_root=data_root)
    split = dataset.splits[0]
    assert [int(dataset.y[part].sum()) for part in (split.train, split.valid, split.test)] == [1232, 81, 130]
    with gzip.open(data_root / "ogb/ogbg_molhiv/mapping/mol.csv.gz", "rt") as lines:
        smiles = [line.split(",")[1] for line in lines][1:]
    for k in range(0, 41_127, 500):
        graph, theirs = dataset.graphs.select([k]), smiles2graph(smiles[k])
        assert np.array_equal(graph.x, theirs["node_feat"])
        edges = {tuple(e) for e in theirs["edge_index"].T.tolist()}
        assert edges == {tuple(e) for e in graph.edge_index.T.tolist()}


def test_atoms_are_told_apart_in_words_by_what_chemists_name(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles,y\nCC[O-],0\nc1ccccc1N,1\nC1CC1[NH3+],1\n[W+6],0\n[Fe+2],0\n[SH2+2],1\n")
    dataset = read_smiles(tmp_path / "m.csv")
    words = names_as_seen(dataset, dataset.inputs).tolist()
    assert words[:3] == ["CH3", "CH2", "O−"]
    assert words[3:10] == ["aromatic CH"] * 5 + ["aromatic C", "NH2"]
    assert words[10:14] == ["ring CH2", "ring CH2", "ring CH", "NH3+"]
    assert words[14:] == ["W?", "Fe2+", "SH2 2+"]
