"""A real Chromium for the explorer's tests; where there is none, they are skipped by name."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1200,800 --force-device-scale-factor=1"
)


@contextmanager
def chromium() -> Iterator[Any]:
    """A selenium driver with a profile of its own."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    browser, driver = (shutil.which(name) for name in ("chromium", "chromedriver"))
    if browser is None or driver is None:
        pytest.skip("needs chromium and chromedriver (apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
        session = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            yield session
        finally:
            session.quit()


def open_page(session: Any, path: Path) -> None:
    session.get(path.resolve().as_uri())
    session.execute_script("wlhn.draw()")
