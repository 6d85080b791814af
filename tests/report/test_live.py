"""The page about work under way, in a real Chromium: it counts on by itself and says how it ended."""

import json
import math
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium
from running import wlhn
from tiny import tiny, write_tu

from wlhn.evaluation.progress import PROGRESS, Progress
from wlhn.files import only_writer
from wlhn.report import live
from wlhn.report.live import LivePage, live_page

NASTY = "<img src=x onerror=window.hacked=1> | `x`"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as session:
        yield session


def until(browser: Any, key: str, text: str) -> None:
    """Wait until the page, which reads itself anew, says so."""
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if browser.find_element("id", key).text == text:
                return
        except (NoSuchElementException, StaleElementReferenceException):
            pass
        time.sleep(0.1)
    raise AssertionError(f"{key} never became {text}: {browser.find_element('tag name', 'main').text}")


def test_it_counts_on_by_itself_until_it_says_how_it_ended(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "REST", 0.0)
    monkeypatch.setattr(live, "REFRESH", 1)
    path = tmp_path / PROGRESS
    with live_page(path, "Table <3>", ["MUTAG, gin", "MUTAG, wlhn", "DD, gin"]) as page:
        page.end_part("MUTAG, gin", "done", "84.2 % ± 8.4 %")
        assert not path.exists()  # nothing was done yet
        page.update("MUTAG, wlhn", Progress("selection", total=40, done=10, parallel_jobs=4, after=30))
        browser.get(path.as_uri())
        assert browser.find_element("tag name", "h1").text == "Table <3>"
        until(browser, "jobs-done", "10 of 40")
        until(browser, "running", "4")
        until(browser, "waiting", "56")
        until(browser, "expected-end-of-this-part", "not known yet")
        # The order that somebody chose outlives the next reading.
        browser.find_elements("css selector", "thead button")[1].click()
        page.update("MUTAG, wlhn", Progress("selection", total=40, done=36, failed=2, parallel_jobs=4, after=30))
        until(browser, "jobs-done", "36 of 40")
        until(browser, "running", "2")
        until(browser, "failed", "2")
        assert browser.find_elements("css selector", "thead th")[1].get_attribute("aria-sort") == "ascending"
        assert re.search(r"\d\d:\d\d$", browser.find_element("id", "expected-end-of-this-part").text)
        page.end_part("MUTAG, wlhn", "failed", NASTY)
        page.end_part("DD", "skipped", "DD: lies on the moon")
    until(browser, "running", "0")
    assert browser.find_element("css selector", ".state").text == "Failed 1 of 3 parts"
    text = browser.find_element("tag name", "table").text
    assert NASTY in text
    assert "DD, gin skipped DD: lies on the moon" in text
    assert browser.execute_script("return window.hacked === undefined")
    assert "refresh" not in path.read_text().split("<style>")[0]
    assert [each for each in browser.get_log("browser") if each["level"] == "SEVERE"] == []


def test_a_page_that_nobody_writes_any_more_says_so(browser: Any, tmp_path: Path) -> None:
    page = LivePage(tmp_path / PROGRESS, "killed")
    page.update("selection", Progress("selection", 10))
    browser.get((tmp_path / PROGRESS).as_uri())
    assert not browser.find_element("id", "silent").is_displayed()
    old = re.sub(r'data-written="(\d+)"', lambda m: f'data-written="{int(m[1]) - 7200}"', page.path.read_text())
    (tmp_path / "old.html").write_text(old)
    browser.get((tmp_path / "old.html").as_uri())
    assert browser.find_element("id", "silent").is_displayed()
    assert browser.find_element("css selector", "[data-written]").text == "2.0 h ago"


def test_it_is_written_now_and_then_and_at_every_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[str] = []
    monkeypatch.setattr(live, "REST", math.inf)
    monkeypatch.setattr(LivePage, "_write", lambda self, state, result="": writes.append(state) or _mark(self))
    page = LivePage(tmp_path / PROGRESS, "often")
    for phase in ("selection", "final runs"):
        for done in range(1000):
            page.update(phase, Progress(phase, 1000, done))
    page.close("finished", "")
    assert writes == ["running", "running", "finished"]


def _mark(page: LivePage) -> None:
    page.written = time.monotonic()


def test_an_evaluation_leaves_its_last_word_and_writes_nowhere_else(tmp_path: Path) -> None:
    data, grid = write_tu(tmp_path, tiny(60)), tmp_path / "grid.json"
    settings = {"hidden_channels": 4, "num_layers": 1, "epochs": 1}
    grid.write_text(json.dumps({"settings": settings, "grid": {"learning_rate": [0.1, 0.01]}}))
    command = ["evaluate", data, "--grid", grid, "--splits", 2, "--final-runs", 1, "--out"]
    ran = wlhn(*command, tmp_path / "out")
    assert ran.code == 0, ran.err
    text = (tmp_path / "out" / PROGRESS).read_text()
    assert "<strong>Finished</strong> Test accuracy: " in text
    assert '<dd id="jobs-done">2 of 2</dd>' in text
    assert ">selection</th><td>done</td><td>4 of 4<" in text
    # Whoever goes on there finds a folder of ours, also when nothing else is left.
    (tmp_path / "out" / "evaluation.json").unlink()
    for path in (tmp_path / "out" / "jobs").iterdir():
        path.unlink()
    (tmp_path / "out" / "jobs").rmdir()
    assert [path.name for path in (tmp_path / "out").iterdir()] == [PROGRESS]
    assert wlhn(*command, tmp_path / "out").code == 0
    # A folder of somebody else's, or in use by somebody else, gets no page.
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").touch()
    assert wlhn(*command, tmp_path / "foreign").code == 2
    with only_writer(tmp_path / "busy"):
        assert wlhn(*command, tmp_path / "busy").code == 2
    assert not list(tmp_path.glob("foreign/*.html")) + list(tmp_path.glob("busy/*.html"))
