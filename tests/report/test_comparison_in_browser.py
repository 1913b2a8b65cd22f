"""The page of a comparison in a real browser: it fits the screen, sorts by keyboard, and makes no requests."""

import pytest
from browser import Browser, chromium_path
from example_audit import classification
from example_comparison import better_regression, other_classification
from example_edges import hostile

from surefoot import compare

PHONE, SCREEN = 390, 1400
pytestmark = pytest.mark.skipif(chromium_path() is None, reason="needs Chromium; on Debian: apt install chromium")
COMPARISONS = {
    "two": lambda: compare([classification(), other_classification()], names=["April", "May"]),
    "three": lambda: compare([*better_regression(), better_regression()[0]], names=["a" * 90, "b c " * 30, "<c>"]),
    "hostile": lambda: compare([hostile(), hostile()]),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(chromium_path(), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.mark.parametrize("name", COMPARISONS)
def test_it_fits_the_screen_and_makes_no_requests(browser, tmp_path, name):
    path = tmp_path / "page.html"
    COMPARISONS[name]().to_html(path)
    for width in (PHONE, SCREEN):
        browser.open(path, width=width)
        browser.run("document.querySelectorAll('details').forEach(part => part.open = true)")
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run("document.body.scrollWidth") <= width
        assert browser.problems == []
        assert browser.requests == [path.as_uri()]


def test_tables_are_named_and_sorted_by_keyboard(browser, tmp_path):
    path = tmp_path / "page.html"
    COMPARISONS["two"]().to_html(path)
    browser.open(path, width=SCREEN)
    is_unnamed = "table => !document.getElementById(table.getAttribute('aria-labelledby'))"
    assert browser.run(f"[...document.querySelectorAll('table')].filter({is_unnamed}).length") == 0
    browser.run("document.querySelectorAll('#numbers-1 thead button')[2].focus()")
    for _ in range(2):
        browser.press("Enter")
    first = browser.run("document.querySelector('#numbers-1 tbody tr').textContent")
    assert "Error rate" in first
    assert "worse" in first
    assert browser.run("document.querySelectorAll('#numbers-1 thead th')[2].getAttribute('aria-sort')") == "descending"
