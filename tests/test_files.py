"""Files are whole or not there."""

import json
from pathlib import Path

import pytest

from wlhn.files import replacing, write_json


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail() -> None:
        with replacing(target) as draft:
            draft.write_text("half")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_what_ends_well_takes_its_place(tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.txt"
    with replacing(target) as draft:
        assert draft.suffix == ".txt"
        draft.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert list(target.parent.iterdir()) == [target]


def test_json_without_nan(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"a": 1})
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": 1}
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "b.json", {"a": float("nan")})
    assert not (tmp_path / "b.json").exists()
