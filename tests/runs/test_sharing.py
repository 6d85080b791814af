"""Sharing: the hub's layout, a card that says what the run says, and the same answers after a round trip."""

import sys
from pathlib import Path

import numpy as np
import pytest
from tiny import tiny

from wlhn.data import load
from wlhn.errors import InputError
from wlhn.estimators import GraphClassifier
from wlhn.runs.run_folder import check_run, load_run, read_config
from wlhn.runs.sharing import from_pretrained, push_to_hub, save_pretrained, write_card


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
