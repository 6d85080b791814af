"""Node sets: the traps of the real files, and bad files named by line."""

import gzip
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wlhn.data import load
from wlhn.data.readers.geom_gcn import EDGES, NODES, read_geom_gcn
from wlhn.errors import InputError

EDGE_TEXT = "node_id\tnode_id\n0\t1\n0\t1\n1\t1\n2\t0\n"
NODE_TEXT = "node_id\tfeature\tlabel\n1\t0,1\t4\n0\t1,1\t2\n2\t0,0\t4\n"


def write(path: Path, edges: str | bytes = EDGE_TEXT, nodes: str | bytes = NODE_TEXT) -> Path:
    path.mkdir(exist_ok=True)
    for file, text in ((EDGES, edges), (NODES, nodes)):
        (path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_small_set(tmp_path: Path) -> None:
    dataset = read_geom_gcn(write(tmp_path / "s"))
    assert dataset.graphs.edge_index.tolist() == [[2, 0], [0, 1]]
    assert dataset.graphs.x is not None
    assert dataset.graphs.x.tolist() == [[1, 1], [0, 1], [0, 0]]
    assert (dataset.y.tolist(), dataset.classes) == ([0, 1, 1], (2, 4))
    both = read_geom_gcn(tmp_path / "s", directed=False, self_loops=True).graphs
    assert sorted(map(tuple, both.edge_index.T.tolist())) == [(0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]
    listed = NODE_TEXT.replace("feature\t", "feature(feature_amount:3)\t").replace("0,0\t", "2\t")
    x = read_geom_gcn(write(tmp_path / "s", nodes=listed)).graphs.x
    assert x is not None
    assert x.tolist() == [[0, 1, 0], [1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (EDGES, "2\t0", "2\t3", "edges.txt, line 5: nodes must be from 0 to 2, found 2 and 3"),
        (EDGES, "2\t0", "2", "edges.txt, line 5: expected 2 integers"),
        (NODES, "2\t0,0\t4", "2\t0,0", "label.txt, line 4: must be node, features and label"),
        (NODES, "2\t0,0\t4", "1\t0,0\t4", "label.txt, line 4: each node from 0 to 2 must be there once"),
        (NODES, "0,0", "0,z", "features must be"),
    ],
)
def test_bad_files_are_named_by_line(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    write(tmp_path / "s")
    (tmp_path / "s" / file).write_text((tmp_path / "s" / file).read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        read_geom_gcn(tmp_path / "s")


def test_a_gzip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WLHN_READ_LIMIT", "16M")
    write(tmp_path / "s")
    (tmp_path / "s" / NODES).unlink()
    (tmp_path / "s" / f"{NODES}.gz").write_bytes(gzip.compress(bytes(3 << 20)))
    with pytest.raises(InputError, match="WLHN_READ_LIMIT=1G raises the limit"):
        read_geom_gcn(tmp_path / "s")


@given(st.booleans(), st.integers(0, 50), st.binary(max_size=10))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path: Path, first: bool, place: int, noise: bytes) -> None:
    edges, nodes = EDGE_TEXT.encode(), NODE_TEXT.encode()
    if first:
        edges = edges[:place] + noise + edges[place + len(noise) :]
    else:
        nodes = nodes[:place] + noise + nodes[place + len(noise) :]
    with suppress(InputError):
        read_geom_gcn(write(tmp_path / "s", edges, nodes))


@pytest.mark.dataset("geom-gcn")
def test_real_sets(data_root: Path) -> None:
    """Split sizes (48/32/20 whatever their file names say), the two Cornells, Squirrel's copies."""
    sizes = {
        "Cornell": (87, 59, 37),
        "Wisconsin": (120, 80, 51),
        "Squirrel": (2496, 1664, 1041),
        "Actor": (3648, 2432, 1520),
    }
    for name, expected in sizes.items():
        dataset = load(name, data_root=data_root)
        assert [(len(s.train), len(s.valid), len(s.test)) for s in dataset.splits] == [expected] * 10
    new, old, texas = (load(name, data_root=data_root) for name in ("Cornell", "Cornell-2021", "Texas"))
    assert np.bincount(new.y).tolist() == [38, 16, 30, 82, 17]
    assert np.array_equal(old.graphs.x, texas.graphs.x)
    assert not np.array_equal(new.graphs.x, texas.graphs.x)
    assert [s.hash for s in new.splits] == [s.hash for s in old.splits]
    whole = load("Squirrel", data_root=data_root, self_loops=True)
    assert whole.graphs.num_edges == 217_073
    assert load("Squirrel", data_root=data_root, directed=False).graphs.num_edges == 2 * 198_353
    part = load("Squirrel", data_root=data_root, drop_duplicates=True)
    assert part.graphs.num_nodes == 2204
    kept = np.array(part.graphs.node_ids)
    assert np.array_equal(part.y, whole.y[kept])
    assert np.array_equal(kept[part.splits[3].test], np.intersect1d(whole.splits[3].test, kept))


@pytest.mark.dataset("squirrel")
def test_plain_and_gzipped_features_are_the_same(data_root: Path, tmp_path: Path) -> None:
    source = data_root / "geom-gcn" / "squirrel"
    shutil.copytree(source, tmp_path / "squirrel")
    packed = tmp_path / "squirrel" / f"{NODES}.gz"
    (tmp_path / "squirrel" / NODES).write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    plain = read_geom_gcn(tmp_path / "squirrel")
    assert np.array_equal(plain.graphs.x, read_geom_gcn(source).graphs.x)
