"""TU format: what is written comes back, real sets agree with PyG's reader, and bad files are named by line."""

import shutil
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import collections, edge_list

from wlhn.data import read_tu
from wlhn.data.readers.archive import Archive
from wlhn.data.registry import mutag_folder
from wlhn.errors import InputError
from wlhn.graphs import Graphs

SMALL = {
    "A": "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n2\n2\n2\n",
    "graph_labels": "7\n-1\n",
    "node_labels": "3\n3\n1\n2\n3\n",
    "node_attributes": "0.5, 1\n1, 2\n2, 3\n3, 4\n4, 5e-1\n",
}


def folder_of(files: dict[str, str | bytes], path: Path) -> Path:
    path.mkdir(exist_ok=True)
    for kind, text in files.items():
        content = text if isinstance(text, bytes) else text.encode()
        (path / f"S_{kind}.txt").write_bytes(content)
    return path


def lines(values: np.ndarray) -> str:
    rows = values if values.ndim == 2 else values[:, None]
    return "".join(", ".join(str(v) for v in row) + "\n" for row in rows.tolist())


@given(collections(symmetric=False, multi=False), st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_round_trip(tmp_path: Path, graphs: Graphs, shuffled: bool) -> None:
    """Any collection, also with nodes of different graphs mixed in the file."""
    order = np.random.default_rng(graphs.num_edges).permutation(graphs.num_nodes)
    order = order if shuffled else np.arange(graphs.num_nodes)
    rank = np.argsort(order)
    assert graphs.x is not None
    assert graphs.node_label is not None
    assert graphs.edge_label is not None
    assert graphs.edge_attr is not None
    folder = folder_of(
        {
            "A": lines(rank[graphs.edge_index].T + 1),
            "graph_indicator": lines(graphs.graph_of_node[order] + 1),
            "graph_attributes": lines(np.arange(len(graphs)) / 4),
            "node_labels": lines(graphs.node_label[order]),
            "node_attributes": lines(graphs.x[order].astype(float)),
            "edge_labels": lines(graphs.edge_label),
            "edge_attributes": lines(graphs.edge_attr.astype(float)),
        },
        tmp_path / "S",
    )
    dataset = read_tu(folder, self_loops=True)
    back = dataset.graphs
    assert dataset.task == "regression"
    assert dataset.y.tolist() == [k / 4 for k in range(len(graphs))]
    assert back.node_ptr.tolist() == graphs.node_ptr.tolist()
    # nodes stand in the order of the file within each graph
    inside = np.concatenate([order[graphs.graph_of_node[order] == g] for g in range(len(graphs))]).astype(int)
    np.testing.assert_array_equal(back.node_label, graphs.node_label[inside])
    if graphs.num_nodes:
        np.testing.assert_allclose(back.x, graphs.x[inside], rtol=1e-6)
    assert edge_list(back) == edge_list(graphs.permute(inside))


def pyg_reads_the_same(folder: Path, name: str) -> None:
    from torch_geometric.io import read_tu_data

    theirs, slices, _ = read_tu_data(str(folder), name)
    ours = read_tu(folder)
    starts = torch.repeat_interleave(slices["x" if "x" in slices else "y"][:-1], slices["edge_index"].diff())
    shift = torch.from_numpy(np.repeat(ours.graphs.node_ptr[:-1], slices["edge_index"].diff().numpy()))
    assert len(starts) == len(shift)
    edges = (theirs.edge_index + shift).T.tolist()
    assert sorted(map(tuple, edges)) == sorted(map(tuple, ours.graphs.edge_index.T.tolist()))
    assert theirs.y.tolist() == ours.y.tolist()


def test_mutag_as_pyg_reads_it() -> None:
    pyg_reads_the_same(mutag_folder(), "MUTAG")


@pytest.mark.dataset("ENZYMES", "IMDB-BINARY")
@pytest.mark.parametrize("name", ["ENZYMES", "IMDB-BINARY"])
def test_zips_as_pyg_reads_them(name: str, data_root: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(data_root / "tu" / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    pyg_reads_the_same(tmp_path / name, name)


def test_doubled_edges_loops_and_isolated_nodes(tmp_path: Path) -> None:
    files = SMALL | {"A": "1, 2\n1, 2\n2, 2\n4,5\n4 5\n"}
    dataset = read_tu(folder_of(files, tmp_path / "S"))
    assert edge_list(dataset.graphs) == [(0, 1), (3, 4)]
    assert dataset.graphs.num_nodes == 5
    assert dataset.notes == ("2 duplicate edges dropped", "1 self-loop dropped")
    assert dataset.classes == (-1, 7)
    assert dataset.y.tolist() == [1, 0]
    assert edge_list(read_tu(tmp_path / "S", self_loops=True).graphs) == [(0, 1), (1, 1), (3, 4)]


BAD: dict[str, tuple[dict[str, str | bytes], str]] = {
    "label line too few": ({"node_labels": "3\n3\n1\n2\n"}, "labels.txt, line 5: must have 5 lines in all, found 4"),
    "edge across graphs": ({"A": "1, 2\n2, 3\n"}, "A.txt, line 2: edge 2, 3 joins graph 1 and graph 2"),
    "node beyond the end": ({"A": "1, 2\n2, 6\n"}, "A.txt, line 2: expected nodes from 1 to 5"),
    "node zero": ({"A": "0, 2\n"}, "A.txt, line 1: expected nodes from 1 to 5"),
    "missing column": ({"A": "1, 2\n2\n"}, "A.txt, line 2: expected 2 integers, found '2'"),
    "column too many": ({"A": "1, 2\n2, 1, 3\n"}, "A.txt, line 2: expected 2 integers"),
    "not a number": ({"A": "1, 2\nx, 1\n"}, "A.txt, line 2: expected 2 integers, found 'x, 1'"),
    "number too large": ({"A": "1, 99999999999\n"}, "A.txt, line 1: expected 2 integers"),
    "not text": ({"A": b"1, 2\n\xff\xfe, 1\n"}, "A.txt, line 2: expected 2 integers"),
    "empty line inside": ({"A": "1, 2\n\n2, 1\n"}, "A.txt, line 3"),
    "graph beyond the end": ({"graph_indicator": "1\n1\n2\n2\n3\n"}, "indicator.txt, line 5: .* from 1 to 2, found 3"),
    "attribute missing": ({"node_attributes": "1,2\n1\n1,2\n1,2\n1,2\n"}, "attributes.txt, line 2: expected 2 finite"),
    "attribute not finite": ({"node_attributes": "1\nnan\n1\n1\n1\n"}, "attributes.txt, line 2: expected 1 finite"),
    "attribute not text": ({"node_attributes": b"1\n\xff\n1\n1\n1\n"}, "attributes.txt, line 2: expected 1 finite"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_named_by_line(case: str, tmp_path: Path) -> None:
    harm, message = BAD[case]
    with pytest.raises(InputError, match=message):
        read_tu(folder_of(SMALL | harm, tmp_path / "S"))


@pytest.mark.parametrize("missing", ["A", "graph_indicator", "graph_labels"])
def test_missing_file(missing: str, tmp_path: Path) -> None:
    folder = folder_of({kind: text for kind, text in SMALL.items() if kind != missing}, tmp_path / "S")
    with pytest.raises(InputError, match=f"{missing}.txt"):
        read_tu(folder)


@given(st.sampled_from(sorted(SMALL)), st.binary(max_size=40), st.integers(0, 30), st.integers(0, 30))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path: Path, kind: str, noise: bytes, start: int, length: int) -> None:
    text = SMALL[kind].encode()
    folder = folder_of(SMALL | {kind: text[:start] + noise + text[start + length :]}, tmp_path / "S")
    with suppress(InputError):
        graphs = read_tu(folder).graphs
        assert graphs.neighbour.max(initial=0) < max(graphs.num_nodes, 1)


@given(st.integers(0, 100_000), st.binary(min_size=1, max_size=8), st.booleans())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_zip_is_read_or_refused(tmp_path: Path, place: int, noise: bytes, cut: bool) -> None:
    path = tmp_path / "MUTAG.zip"
    if not path.exists():
        shutil.make_archive(str(tmp_path / "MUTAG"), "zip", mutag_folder())
        shutil.copy(path, tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    place %= len(whole)
    path.write_bytes(whole[:place] if cut else whole[:place] + noise + whole[place + len(noise) :])
    with suppress(InputError):
        assert len(read_tu(path)) == 188


@pytest.mark.parametrize("name", ["../S_A.txt", "/S_A.txt", "S/../../S_A.txt", "..\\S_A.txt"])
def test_entries_that_point_outside_are_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        archive.writestr(name, "1, 1\n")
    with pytest.raises(InputError, match="points outside"):
        read_tu(tmp_path / "s.zip")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_every_zip_method_is_read_and_its_bombs_refused(
    tmp_path: Path, method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "s.zip", "w", method) as files:
        for kind, text in SMALL.items():
            files.writestr(f"S//S_{kind}.txt", text)
            files.writestr(f"__MACOSX/S/._S_{kind}.txt", b"\0")
    assert read_tu(tmp_path / "s.zip").graphs.num_nodes == 5
    monkeypatch.setenv("WLHN_READ_LIMIT", "16M")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", method) as files, files.open("S/S_A.txt", "w") as out:
        for _ in range(3):
            out.write(b"\n" * (1 << 20))
    with pytest.raises(InputError, match="bytes unpack to"):
        Archive(tmp_path / "bomb.zip")
