"""The explorer page in a real Chromium: it does what it says, quietly, fast, and takes names for text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import chromium, open_page

from wlhn.data import Dataset, load
from wlhn.errors import InputError
from wlhn.graphs import Graphs
from wlhn.inspection.explorer import explorer_document
from wlhn.report.explorer import page, write_page
from wlhn.runs.run_folder import load_run
from wlhn.runs.train import train
from wlhn.training.settings import Settings

HOSTILE = ["<script>window.hacked=1</script>", "\"'><img src=x onerror=window.hacked=1>", "%%SCRIPT%%", "ع" * 300]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as session:
        yield session


@pytest.fixture(scope="module")
def mutag_page(mutag_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "mutag.html"
    write_page(explorer_document(load("MUTAG"), load_run(mutag_run)), path)
    return path


def chains(browser: Any) -> Any:
    from selenium.webdriver.common.action_chains import ActionChains

    return ActionChains(browser)


def place(browser: Any, k: int) -> tuple[int, int]:
    """Where a colour is, from the middle of the canvas."""
    x, y = browser.execute_script(
        "wlhn.draw(); const [x, y] = wlhn.disc.screen(arguments[0]); "
        "return [x - wlhn.disc.width / 2, y - wlhn.disc.height / 2]",
        k,
    )
    return round(x), round(y)


def test_dragging_hovering_clicking_and_keys_do_what_they_say(browser: Any, mutag_page: Path) -> None:
    open_page(browser, mutag_page)
    get = browser.execute_script
    canvas = browser.find_element("id", "canvas")
    # Dragging carries the root along with the pointer, and keeps hyperbolic distances.
    gap = "const d = wlhn.disc, z = (k) => [d.px[k], d.py[k]]; const [a, b] = z(0), [c, e] = z(9); "
    gap += "return Math.hypot(a - c, b - e) ** 2 / ((1 - a * a - b * b) * (1 - c * c - e * e))"
    before = get("wlhn.draw();" + gap)
    chains(browser).move_to_element_with_offset(canvas, *place(browser, 0)).click_and_hold().move_by_offset(
        20, 10
    ).move_by_offset(60, 30).release().perform()
    assert np.abs(np.array(place(browser, 0)) - [80, 40]).max() <= 3
    assert get("wlhn.draw();" + gap) == pytest.approx(before, rel=1e-6)
    # Pointing shows a colour, clicking its details, an example and the graphs that contain it.
    browser.find_element("id", "reset").click()
    first = get("return wlhn.disc.children[0].reduce((a, b) => (wlhn.disc.c.count[a] > wlhn.disc.c.count[b] ? a : b))")
    chains(browser).move_to_element_with_offset(canvas, *place(browser, first)).perform()
    assert "2,395 nodes in 188 graphs" in browser.find_element("id", "tip").text
    chains(browser).click().perform()
    assert browser.find_element("id", "what").text == "C"
    details = browser.find_element("id", "details")
    assert details.find_elements("css selector", "svg.graph circle")
    assert len(details.find_elements("css selector", ".links button")) == 100
    # The depth slider leaves out what is deeper.
    shown = "let n = 0; for (let k = 0; k < wlhn.disc.n; k++) n += wlhn.disc.visible(k); return n"
    assert get(shown) == 787
    get("const s = document.getElementById('depth'); s.value = 1; s.dispatchEvent(new Event('input'))")
    assert get(shown) == 1 + 7 + 33
    # Keys walk the tree and are announced; arrows move, Home returns.
    get("document.getElementById('canvas').focus()")
    chains(browser).send_keys("c").perform()
    assert get("return wlhn.disc.c.parent[wlhn.disc.chosen]") == first
    chains(browser).send_keys("p").perform()
    assert get("return wlhn.disc.chosen") == first
    assert "depth 0" in browser.find_element("id", "live").get_attribute("textContent")
    assert place(browser, first) == (0, 0)
    from selenium.webdriver.common.keys import Keys

    chains(browser).send_keys(Keys.ARROW_RIGHT).perform()
    assert place(browser, first)[0] < -20
    chains(browser).send_keys(Keys.HOME).perform()
    assert place(browser, 0) == (0, 0)
    # Every way to paint works; the second view has nearest neighbours.
    for tab in ("tab-disc", "tab-map"):
        browser.find_element("id", tab).click()
        for option in browser.find_elements("css selector", "#paint option"):
            option.click()
            get("wlhn.draw()")
    get("document.getElementById('canvas').focus()")
    chains(browser).send_keys("n").perform()
    assert "Nearest (learned hyperbolic distance)" in browser.find_element("id", "details").text
    assert browser.get_log("browser") == []


def test_at_first_sight_something_is_chosen_and_the_largest_dots_have_names(browser: Any, mutag_page: Path) -> None:
    open_page(browser, mutag_page)
    get = browser.execute_script
    chosen = get("return wlhn.disc.chosen")
    assert browser.find_element("id", "what").text == get("return wlhn.disc.c.name[wlhn.disc.chosen]")
    details = browser.find_element("id", "details")
    assert "To begin with: the substructure whose classes differ most" in details.text
    assert details.find_elements("css selector", "svg.graph circle")
    named = get("wlhn.draw(); return wlhn.disc.named")
    first = get("return wlhn.disc.children[0]")
    assert 12 <= len(named) == len(set(named)) <= 36
    assert {chosen, 0} <= set(named)
    assert len(set(first) & set(named)) >= 6  # of the seven kinds of atoms
    # The whole circle is used: every twelfth of it has a hundredth of the colours or more.
    angle = np.array(get("const d = wlhn.disc; return Array.from(d.px, (x, k) => Math.atan2(d.py[k], x)).slice(1)"))
    assert np.histogram(angle, 12, (-np.pi, np.pi))[0].min() >= 8
    # With less to show there are other names, none of them hidden.
    get("const s = document.getElementById('depth'); s.value = 0; s.dispatchEvent(new Event('input')); wlhn.draw()")
    assert set(get("return wlhn.disc.named")) == {0, *first}
    assert browser.get_log("browser") == []


def test_ten_thousand_colours_move_smoothly(browser: Any, tmp_path: Path) -> None:
    """A tree of 8,000 nodes has more colours than that; the page keeps the most frequent 10,000."""
    rng = np.random.default_rng(0)
    n = 8000
    parent = (rng.random(n - 1) * np.arange(1, n) ** 0.9).astype(int)
    child = np.arange(1, n)
    edges = np.concatenate([np.stack([parent, child]), np.stack([child, parent])], axis=1)
    big = Dataset("big", Graphs.from_edges(edges, n), np.zeros(n, int), "node", "classification", ("one",))
    document = explorer_document(big, rounds=4)
    assert len(document["colours"]["x"]) == 10_000
    path = tmp_path / "big.html"
    write_page(document, path)
    open_page(browser, path)
    assert browser.get_log("browser") == []
    frames = browser.execute_script(  # reading a pixel back waits until all is painted
        "const g = document.getElementById('canvas').getContext('2d'), out = []; "
        "for (let k = 0; k < 30; k++) { const start = performance.now(); wlhn.disc.drag(400, 300, 408, 303); "
        "wlhn.draw(); g.getImageData(0, 0, 1, 1); out.push(performance.now() - start) } return out"
    )
    assert np.median(frames) < 50, frames
    painted, bare = browser.execute_script(  # a dot is left out only under one that is as large, to a pixel
        "const d = wlhn.disc, on = []; d.reset(); wlhn.draw(); let bare = 0; "
        "d.fills.forEach((_, i) => on.push(...d.painted.slice(d.start[i], d.end[i]))); "
        "const over = (j, k) => { const [x, y] = d.screen(j), [u, v] = d.screen(k); "
        "return Math.abs(x - u) <= 2 && Math.abs(y - v) <= 2 && d.shown(j) > d.shown(k) - 1 }; "
        "for (let k = 0; k < d.n; k++) if (!on.some((j) => over(j, k))) bare++; return [on.length, bare]"
    )
    assert 1000 < painted < 5000
    assert bare == 0
    browser.get_log("browser")  # Chromium's advice about reading pixels back


def test_names_from_data_are_text(browser: Any, tmp_path: Path) -> None:
    graphs = Graphs.from_edges(
        [[0, 1, 2, 3], [1, 0, 3, 2]], node_ptr=[0, 2, 4, 5, 6], node_ids=[*HOSTILE, *HOSTILE[:2]]
    )
    y = np.array([0, 1, 2, 3])
    hostile = Dataset(HOSTILE[0], graphs, y, "graph", "classification", tuple(HOSTILE), graph_ids=HOSTILE)
    path = tmp_path / "<b>&\"' page.html"
    write_page(explorer_document(hostile), path)
    open_page(browser, path)
    for tab in ("tab-map", "tab-disc"):
        browser.find_element("id", tab).click()
        browser.execute_script("document.getElementById('canvas').focus()")
        chains(browser).send_keys("n").send_keys("c").perform()
    assert browser.execute_script("return window.hacked === undefined")
    assert browser.find_element("id", "title").text.startswith("<script>")
    assert browser.execute_script("return document.images.length") == 0
    assert HOSTILE[1] in browser.find_element("id", "legend").text
    assert browser.get_log("browser") == []


@pytest.mark.dataset("IMDB-BINARY")
def test_a_page_of_social_networks(browser: Any, tmp_path: Path) -> None:
    imdb = load("IMDB-BINARY")
    trained = train(imdb, Settings.of(hidden_channels=16, epochs=1), tmp_path / "run").trained
    write_page(explorer_document(imdb, trained), tmp_path / "imdb.html")
    open_page(browser, tmp_path / "imdb.html")
    assert browser.execute_script("return wlhn.disc.n") == 10_000
    assert browser.get_log("browser") == []


def test_a_page_loads_nothing_and_is_written_whole(tmp_path: Path) -> None:
    text = page(explorer_document(load("karate")))
    assert "default-src 'none'" in text
    assert "src=" not in text.replace("default-src", "").replace("script-src", "").replace("style-src", "")
    with pytest.raises(InputError, match="html"):
        write_page({"title": "x"}, tmp_path / "page.txt")
    assert not list(tmp_path.iterdir())
