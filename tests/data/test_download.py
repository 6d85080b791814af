"""Downloads against a server on this machine: whole or not at all, resumed, checked, nothing outside the cache."""

import http.server
import shutil
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from wlhn.data.cache import cache_root
from wlhn.data.download import download, fetch, unpack
from wlhn.data.load import _check
from wlhn.data.readers.geom_gcn import EDGES, NODES
from wlhn.data.registry import KNOWN, Known, Location, locate, mutag_folder
from wlhn.errors import InputError


class Server(http.server.ThreadingHTTPServer):
    """Serves `files` with ranges; breaks off after `breaks_after` bytes as long as `breaks` are left."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.tag = '"one"'
        self.breaks, self.breaks_after = 0, 0
        self.ranges: list[str | None] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if self.headers.get("If-Range") != self.server.tag:
            start = 0
        self.send_response(206 if start else 200)
        self.send_header("ETag", self.server.tag)
        self.send_header("Content-Length", str(len(content) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        body = content[start:]
        if self.server.breaks:
            self.server.breaks -= 1
            body = body[: self.server.breaks_after]
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    monkeypatch.setenv("WLHN_CACHE", str(tmp_path / "cache"))
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def zipped(folder: Path, inside: str) -> bytes:
    path = Path(shutil.make_archive(str(cache_root() / "made"), "zip", folder.parent, folder.name))
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(path.with_suffix(".new"), "w") as new:
        for info in old.infolist():
            new.writestr(info.filename.replace(folder.name, inside, 1), old.read(info))
    return path.with_suffix(".new").read_bytes()


def mutag(server: Server) -> Known:
    return Known("tu", "", "tu/MUTAG.zip", (f"{server.address}/MUTAG.zip",))


def test_resumes_where_it_broke_off(server: Server, tmp_path: Path) -> None:
    content = bytes(range(256)) * 2000
    server.files["/x"] = content
    server.breaks, server.breaks_after = 3, 100_000
    download(f"{server.address}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == content
    assert server.ranges == [None, "bytes=100000-", "bytes=200000-", "bytes=300000-"]
    assert list(tmp_path.glob("x.*")) == []


def test_starts_again_when_the_file_has_changed(server: Server, tmp_path: Path) -> None:
    server.files["/x"], server.breaks, server.breaks_after = b"a" * 9000, 9, 1000
    with pytest.raises(InputError, match="broke off"):
        download(f"{server.address}/x", tmp_path / "x")
    assert not (tmp_path / "x").exists()
    server.files["/x"], server.tag, server.breaks = b"b" * 8000, '"two"', 0
    download(f"{server.address}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"b" * 8000


def test_tu_set_is_checked_then_found_in_the_cache(server: Server) -> None:
    server.files["/MUTAG.zip"] = zipped(mutag_folder(), "MUTAG")
    path = fetch("MUTAG", mutag(server), check=lambda path: _check("MUTAG", path))
    assert locate("MUTAG", None).path == path == cache_root() / "raw" / "tu" / "MUTAG.zip"


def test_node_and_molecule_sets_arrive_whole(server: Server, tmp_path: Path) -> None:
    """Twelve files of a node set; a zip of a molecule set, unpacked. Until the last one, neither counts as there."""
    site = server.address
    for file in (
        f"new_data/texas/{EDGES}",
        f"new_data/texas/{NODES}",
        *(f"splits/texas_split_0.6_0.2_{k}.npz" for k in range(9)),
    ):
        server.files[f"/{file}"] = file.encode()
    texas = Known("geom-gcn", "", "geom-gcn/texas", (f"{site}/new_data/texas",))
    with pytest.raises(InputError, match=r"texas_split_0.6_0.2_9.npz: the server answers 404"):
        fetch("Texas", texas, check=lambda path: None)
    assert locate("Texas", None).found == "download"
    server.files["/splits/texas_split_0.6_0.2_9.npz"] = b"last"
    seen: list[list[str]] = []
    fetch("Texas", texas, check=lambda path: seen.append(sorted(file.name for file in path.iterdir())))
    assert seen == [[EDGES, NODES]]
    assert len(list((cache_root() / "raw" / "geom-gcn" / "splits").iterdir())) == 10
    assert locate("Texas", None).found == "cache"

    (tmp_path / "hiv" / "raw").mkdir(parents=True)
    (tmp_path / "hiv" / "raw" / "edge.csv.gz").write_bytes(b"edges")
    cache_root().mkdir(exist_ok=True)
    server.files["/hiv.zip"] = zipped(tmp_path / "hiv", "hiv")
    place = fetch("ogbg-molhiv", Known("ogb", "", "ogb/ogbg_molhiv", (f"{site}/hiv.zip",)), check=lambda path: None)
    assert (place / "raw" / "edge.csv.gz").read_bytes() == b"edges"
    assert locate("ogbg-molhiv", None).path == place
    assert [p for p in (cache_root() / "incoming").rglob("*") if p.is_file()] == []


@pytest.mark.parametrize("harm", ["other", "shortened", "page"])
def test_what_is_not_the_set_is_refused_and_removed(server: Server, tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "MUTAG"
    shutil.copytree(mutag_folder(), folder)
    labels = (folder / "MUTAG_node_labels.txt").read_text()
    (folder / "MUTAG_node_labels.txt").write_text(labels.replace("6", "0"))
    content = zipped(folder, "MUTAG")
    contents = {"other": content, "shortened": content[: len(content) // 2], "page": b"<html>not here</html>"}
    server.files["/MUTAG.zip"] = contents[harm]
    with pytest.raises(InputError, match="MUTAG, downloaded from"):
        fetch("MUTAG", mutag(server), check=lambda path: _check("MUTAG", path))
    assert locate("MUTAG", None).found == "built in"
    assert not (cache_root() / "incoming" / "tu" / "MUTAG.zip").exists()


def test_without_grakel_mutag_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert locate("MUTAG", None) == Location(None, "download")
    assert KNOWN["MUTAG"].addresses


def test_no_server_and_no_file_are_said_in_one_sentence(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="404"):
        download(f"{server.address}/nothing", tmp_path / "x")
    with pytest.raises(InputError, match="cannot be reached"):
        download("http://127.0.0.1:9/x", tmp_path / "x")


@pytest.mark.parametrize("name", ["../evil.txt", "/evil.txt", "a/../../evil.txt", "..\\evil.txt", "C:/evil.txt"])
def test_unpacking_writes_nothing_outside(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("hiv/good.txt", "good")
        archive.writestr(name, "evil")
    with pytest.raises(InputError, match="points outside"):
        unpack(tmp_path / "x.zip", tmp_path / "cache" / "set")
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["x.zip"]


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WLHN_READ_LIMIT", "16M")
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as files, files.open("a/b", "w") as out:
        for _ in range(3):
            out.write(bytes(1 << 20))
    with pytest.raises(InputError, match="bytes unpack to"):
        unpack(tmp_path / "x.zip", tmp_path / "set")
    assert not (tmp_path / "set").exists()
