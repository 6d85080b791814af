"""The report as a page in a real Chromium: the same numbers, sorted on a click, links that stay, and nothing loaded."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium

from wlhn.experiments.catalogue import write_report
from wlhn.report.html import html_body, html_page
from wlhn.report.markdown import TableBlock, literal, markdown

RESULTS = Path(__file__).parents[2] / "results"
HOSTILE = "<script>window.hacked=1</script> | *a* `b` [c](javascript:alert(1)) &amp;"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as session:
        yield session


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of some of our results."""
    folder = tmp_path_factory.mktemp("report")
    for part in ("table-graphs/MUTAG", "table-graphs/NCI1", "figure-hierarchy"):
        shutil.copytree(RESULTS / part, folder / "results" / part)
    shutil.copy(RESULTS / "table-graphs" / "NOTES.md", folder / "results" / "table-graphs")
    write_report(folder / "results", folder / "RESULTS.md", html=folder / "RESULTS.html")
    return folder / "RESULTS.html"


def open_page(browser: Any, path: Path) -> None:
    browser.get("about:blank")
    browser.get(path.resolve().as_uri())


def column(browser: Any, k: int) -> list[str]:
    return browser.execute_script(  # type: ignore[no-any-return]
        "return [...document.querySelector('#table-graphs table').tBodies[0].rows]"
        ".map((row) => row.cells[arguments[0]].textContent)",
        k,
    )


def test_a_click_sorts_a_column_and_summaries_stay_below(browser: Any, report: Path) -> None:
    open_page(browser, report)
    first = column(browser, 0)
    head = browser.find_elements("css selector", "#table-graphs thead th")[1]
    button = head.find_element("tag name", "button")
    for way, sign in (("descending", -1), ("ascending", 1)):
        button.click()
        numbers = [float(re.match(r"[\d.]+", text)[0]) for text in column(browser, 1)]  # type: ignore[index]
        assert numbers == sorted(numbers, key=lambda x: sign * x)
        assert head.get_attribute("aria-sort") == way
    browser.refresh()  # a page that is read anew keeps its order
    assert column(browser, 0) != first
    button = browser.find_elements("css selector", "#table-graphs thead th button")[1]
    button.click()
    assert column(browser, 0) == first
    # What has no number comes last, whichever way; the verdict never moves.
    button = browser.find_elements("css selector", "#table-graphs thead th button")[2]
    for _ in range(2):
        button.click()
        known = [text[0].isdigit() for text in column(browser, 2)]
        assert known == sorted(known, reverse=True)
        assert any(known)
        assert not all(known)
    foot = browser.find_element("css selector", "#table-graphs tfoot")
    assert foot.text.startswith("WLHN against the paper")
    assert browser.get_log("browser") == []


def test_times_are_sorted_by_their_length_and_not_their_digits(browser: Any, tmp_path: Path) -> None:
    table = TableBlock(["", "time"], [["b", "79 s"], ["a", "4 min"], ["c", "1.5 h"], ["d", "10 min"]])
    path = tmp_path / "times.html"
    path.write_text(html_page("times", f'<div id="table-graphs">{html_body([table])}</div>'), encoding="utf-8")
    open_page(browser, path)
    browser.find_elements("css selector", "thead button")[1].click()
    assert column(browser, 0) == ["c", "d", "a", "b"]


def test_every_link_stays_on_the_page_and_unfolds_what_it_leads_to(browser: Any, report: Path) -> None:
    open_page(browser, report)
    lost = browser.execute_script(
        "return [...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))"
        ".filter((to) => !to.startsWith('#') || !document.getElementById(to.slice(1)))"
    )
    assert lost == []
    details = browser.find_element("id", "table-graphs-details")
    assert details.get_attribute("open") is None
    browser.find_element("css selector", "#table-graphs tbody a").click()
    assert details.get_attribute("open") is not None
    assert browser.find_element("id", "table-graphs-mutag").is_displayed()
    assert "wlhn reproduce table-graphs --dataset MUTAG --model gin" in details.text


def test_figures_are_inside_and_nothing_is_loaded(browser: Any, report: Path) -> None:
    open_page(browser, report)
    sizes = browser.execute_script("return [...document.images].map((image) => image.naturalWidth)")
    assert len(sizes) == 4
    assert min(sizes) > 100
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert "default-src 'none'" in report.read_text()
    assert not re.search(r'(src|href)="(?!#|data:)', report.read_text())


def test_a_narrow_screen_scrolls_tables_and_not_the_page(browser: Any, report: Path) -> None:
    size = browser.get_window_size()
    browser.set_window_size(500, 800)
    try:
        open_page(browser, report)
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(wide) <= 0
    finally:
        browser.set_window_size(size["width"], size["height"])


def test_text_from_elsewhere_is_text(browser: Any, tmp_path: Path) -> None:
    blocks = [f"## {literal(HOSTILE)}", TableBlock(["a", literal(HOSTILE)], [["1", literal(HOSTILE)]])]
    path = tmp_path / "hostile.html"
    path.write_text(html_page(HOSTILE, html_body(blocks)), encoding="utf-8")
    open_page(browser, path)
    assert browser.find_element("css selector", "tbody td").text == HOSTILE
    assert browser.find_element("tag name", "h2").text == HOSTILE
    assert browser.execute_script("return window.hacked === undefined && document.links.length === 0")
    assert markdown(blocks).count("\n| ") == 3  # rows, whatever is in the cells


def test_both_writers_have_the_same_numbers(report: Path) -> None:
    written, page = report.with_suffix(".md").read_text(), report.read_text()
    cells = re.findall(r"\| \[([\d.]+)\]\(results/table-graphs/README.md#mutag\) ± ([\d.]+)", written)
    assert len(cells) >= 10
    for mean, spread in cells:
        assert f'<td><a href="#table-graphs-mutag">{mean}</a> ± {spread}' in page
