"""The cache: the same data set again, memory-mapped; whatever is broken in it is read anew, never trusted."""

import os
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wlhn.data import Dataset, load
from wlhn.data.cache import cached
from wlhn.data.readers.tu import read_tu, source_files
from wlhn.data.registry import mutag_folder


def read(counter: list[int]) -> Dataset:
    def reader() -> Dataset:
        counter.append(1)
        return read_tu(mutag_folder())

    return cached(reader, sources=source_files(mutag_folder()), options="test")


def same(a: Dataset, b: Dataset) -> None:
    assert np.array_equal(a.graphs.edge_index, b.graphs.edge_index)
    assert np.array_equal(a.graphs.node_label, b.graphs.node_label)
    assert np.array_equal(a.graphs.edge_label, b.graphs.edge_label)
    assert np.array_equal(a.y, b.y)
    assert (a.name, a.classes, a.columns, a.inputs, a.notes) == (b.name, b.classes, b.columns, b.inputs, b.notes)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WLHN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_second_reading_is_mapped_not_parsed(cache: Path) -> None:
    counter: list[int] = []
    first, second = read(counter), read(counter)
    assert len(counter) == 1
    assert isinstance(second.graphs.neighbour, np.memmap)
    same(first, second)
    same(read_tu(mutag_folder()), second)


@given(st.integers(0, 99), st.floats(0, 1), st.sampled_from(["flip", "cut", "remove", "empty", "append"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_is_noticed(cache: Path, which: int, where: float, harm: str) -> None:
    counter: list[int] = []
    read(counter)
    files = sorted(p for p in (cache / "parsed").rglob("*") if p.is_file())
    file = files[which % len(files)]
    content = file.read_bytes()
    place = min(int(where * len(content)), len(content) - 1)
    broken = {
        "flip": content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :],
        "cut": content[:place],
        "empty": b"",
        "append": content + b"x",
        "remove": b"",
    }[harm]
    file.write_bytes(broken)
    if harm == "remove":
        file.unlink()
    before = len(counter)
    same(read_tu(mutag_folder()), read(counter))
    assert len(counter) == before + 1
    assert read(counter) is not None
    assert len(counter) == before + 1


def test_a_changed_source_is_another_entry(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "S"
    folder.mkdir()
    for kind, text in {"A": "1, 2\n", "graph_indicator": "1\n1\n", "graph_labels": "3\n"}.items():
        (folder / f"S_{kind}.txt").write_text(text)
    assert load(folder).classes == (3,)
    stamp = (folder / "S_graph_labels.txt").stat()
    (folder / "S_graph_labels.txt").write_text("4\n")
    os.utime(folder / "S_graph_labels.txt", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert load(folder).classes == (4,)


def test_without_a_writable_cache_all_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("WLHN_CACHE", str(tmp_path / "file"))
    assert len(load("MUTAG", data_root=None)) == 188


def test_of_two_that_read_the_same_sources_one_parses(cache: Path) -> None:
    """The second waits for what the first writes; no lock is left."""
    counter: list[int] = []
    both = [Thread(target=read, args=(counter,)) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(counter) == 1
    assert not list(cache.rglob(".*"))
