"""Files are whole or not there; folders have one writer."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wlhn.errors import LONGEST, BusyError, InputError
from wlhn.files import DRAFT, LOCK, check_free, only_writer, read_json, remove_drafts, replacing, under_way, write_json


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


def test_json_that_would_break_the_reader_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="nested too deep"):
        read_json(path)
    monkeypatch.setattr("wlhn.files.LARGEST_JSON", 10)
    with pytest.raises(InputError, match="larger than"):
        read_json(path)


def test_whatever_a_message_quotes_it_stays_a_sentence() -> None:
    assert str(InputError("a field 'x\ny': expected none")) == "a field 'x y': expected none"
    long = str(InputError(f"config.json, '{'[' * 100_000}': expected a name"))
    assert len(long) <= LONGEST
    assert long.startswith("config.json, '[[")
    assert long.endswith("[[': expected a name")


HOLD = """
import sys, pathlib
from wlhn.files import only_writer
with only_writer(pathlib.Path(sys.argv[1]), "held"):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(folder: Path) -> "subprocess.Popen[str]":
    """Another process that writes to a folder until it is told to leave."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    with hold(tmp_path) as process:
        sentence = f"{tmp_path}: process {process.pid} on .* is writing here"
        with pytest.raises(BusyError, match=sentence), only_writer(tmp_path):
            raise AssertionError("two writers")
        assert under_way(tmp_path) == "held"
        process.communicate()  # leaves well
    assert not any(tmp_path.iterdir())
    with only_writer(tmp_path):
        pass


def test_a_lock_dies_with_its_process_and_drafts_with_it(tmp_path: Path) -> None:
    with hold(tmp_path) as process:
        (tmp_path / f"{DRAFT}abc-a.json").write_text("half")
        process.kill()
    assert under_way(tmp_path) == "held"  # interrupted: ours to go on with
    check_free(tmp_path)
    with only_writer(tmp_path, "mine"):
        assert [file.name for file in tmp_path.iterdir()] == [LOCK]
        assert under_way(tmp_path) == "mine"
    assert not any(tmp_path.iterdir())


def test_a_waiting_writer_has_its_turn(tmp_path: Path) -> None:
    with hold(tmp_path) as process:
        assert process.stdin is not None
        process.stdin.close()
        with only_writer(tmp_path, wait=60):
            assert under_way(tmp_path) == ""


def test_work_that_fails_before_it_begins_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path, name: str | None) -> None:
        with only_writer(folder):
            if name:
                (folder / name).touch()
            raise RuntimeError("too early")

    with pytest.raises(RuntimeError):
        fail(tmp_path / "new", None)
    assert not any(tmp_path.iterdir())
    with pytest.raises(RuntimeError):
        fail(tmp_path / "new", "result")
    assert sorted(os.listdir(tmp_path / "new")) == [LOCK, "result"]


def test_a_folder_of_somebody_else_is_not_free(tmp_path: Path) -> None:
    check_free(tmp_path / "nowhere")
    check_free(tmp_path)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match="holds files that are not ours"):
        check_free(tmp_path, "plan.json")
    (tmp_path / "plan.json").touch()
    check_free(tmp_path, "plan.json")


def test_drafts_have_names_of_their_own(tmp_path: Path) -> None:
    with replacing(tmp_path / "a.txt") as draft:
        draft.touch()
        remove_drafts(tmp_path)
        assert not draft.exists()
        draft.touch()
