"""Sharing: the hub's layout, a card that says what the run says, and the same answers after a round trip."""

import base64
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partialmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny import tiny, write_tu

from wlhn.data import load
from wlhn.errors import InputError
from wlhn.estimators import GraphClassifier
from wlhn.runs.run_folder import check_run, load_run, read_config
from wlhn.runs.sharing import from_pretrained, push_to_hub, save_pretrained, write_card
from wlhn.runs.train import train
from wlhn.training.settings import Settings


def test_a_run_gets_a_card_and_stays_whole(mutag_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    trained, config = load_run(mutag_run), read_config(mutag_run)
    about = {key: config[key] for key in ("data", "data_hash", "split", "test_scores")}
    save_pretrained(trained, folder, about)
    assert {"model.safetensors", "config.json", "README.md"} <= {path.name for path in folder.iterdir()}
    check_run(folder)
    card = (folder / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: wlhn\n")
    assert f"MUTAG (hash {config['data_hash']})" in card
    assert f"| macro F1 | {config['test_scores']['metrics']['macro-f1']:.4f} |" in card
    assert "## Limits" in card
    assert str(tmp_path) not in card
    graphs = load("MUTAG").graphs
    for here, there in zip(trained.predict(graphs), from_pretrained(folder).predict(graphs), strict=True):
        np.testing.assert_array_equal(here.outputs, there.outputs)
    write_card(folder)
    assert (folder / "README.md").read_text() == card


def test_estimators_share_too(tmp_path: Path) -> None:
    data = tiny(40)
    classifier = GraphClassifier(hidden_channels=8, num_layers=1, epochs=1).fit(data)
    classifier.save_pretrained(tmp_path / "shared")
    again = GraphClassifier.from_pretrained(tmp_path / "shared")
    np.testing.assert_array_equal(again.predict_proba(data), classifier.predict_proba(data))
    assert "Not measured on test items." in (tmp_path / "shared" / "README.md").read_text()


def test_without_the_hub_s_package_pushing_is_refused(mutag_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"pip install 'wlhn\[hub\]'"):
        push_to_hub(mutag_run, "owner/name")


class Hub(BaseHTTPRequestHandler):
    """The little of the hub that an upload needs; what was committed stands in `files`."""

    files: dict[str, bytes]

    def do_POST(self) -> None:
        length, body = int(self.headers.get("Content-Length") or 0), b""
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(length)
        answer: dict[str, Any] = {}
        here = f"http://{self.headers['Host']}/owner/name"
        if self.headers.get("Authorization") != "Bearer hf_mine":
            self._answer({"error": "Invalid username or password."}, 401)
            return
        if self.path == "/api/repos/create":
            answer = {"url": here, "name": "owner/name", "id": "owner/name"}
        elif "/preupload/" in self.path:
            asked = [each["path"] for each in json.loads(body)["files"]]
            answer = {"files": [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in asked]}
        elif "/commit/" in self.path:
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    self.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            answer = {"success": True, "commitOid": "0" * 40, "commitUrl": f"{here}/commit/{'0' * 40}"}
        self._answer(answer)

    def do_GET(self) -> None:
        self._answer({"error": "Repository not found"}, 404)

    def _answer(self, answer: dict[str, Any], code: int = 200) -> None:
        text = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Nothing is said."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """A hub on this machine, and an account there."""
    Hub.files = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    monkeypatch.setattr(hub.HfApi, "__init__", partialmethod(hub.HfApi.__init__, endpoint=address, token="hf_mine"))
    yield Hub.files
    server.shutdown()
    server.server_close()


def test_what_goes_to_the_hub_is_the_run_that_comes_back(
    mutag_run: Path, tmp_path: Path, hub: dict[str, bytes]
) -> None:
    folder, back = tmp_path / "run", tmp_path / "back"
    shutil.copytree(mutag_run, folder)
    (folder / "wandb").mkdir()
    (folder / "wandb" / "debug.log").write_text("paths and names of this machine\n")
    push_to_hub(folder, "owner/name")
    back.mkdir()
    for name, content in hub.items():
        (back / name).write_bytes(content)
    here = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert hub == {name: content for name, content in here.items() if not name.startswith(".")}
    graphs = load("MUTAG").graphs
    ours, theirs = from_pretrained(folder).predict(graphs), from_pretrained(back).predict(graphs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.outputs, other.outputs)


def test_where_its_data_lie_is_nobody_elses_business(tmp_path: Path, hub: dict[str, bytes]) -> None:
    data = load(write_tu(tmp_path, tiny(20)))
    train(data, Settings.of(hidden_channels=4, num_layers=1, epochs=1), tmp_path / "run")
    assert str(tmp_path) in (tmp_path / "run" / "config.json").read_text()
    push_to_hub(tmp_path / "run", "owner/name")
    assert not any(str(tmp_path).encode() in content for content in hub.values())
    for name, content in hub.items():
        (tmp_path / "back").mkdir(exist_ok=True)
        (tmp_path / "back" / name).write_bytes(content)
    check_run(tmp_path / "back")


def test_a_refusal_of_the_hub_is_a_sentence(
    mutag_run: Path, tmp_path: Path, hub: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(mutag_run, tmp_path / "run")
    with pytest.raises(InputError, match=r"push_to_hub: not a name: .*hf auth login"):
        push_to_hub(tmp_path / "run", "not a name")
    from huggingface_hub import HfApi

    monkeypatch.setattr(HfApi, "__init__", partialmethod(HfApi.__init__, token="hf_of_nobody"))
    with pytest.raises(InputError, match=r"push_to_hub: owner/name: .*401.*hf auth login"):
        push_to_hub(tmp_path / "run", "owner/name")
    assert hub == {}
