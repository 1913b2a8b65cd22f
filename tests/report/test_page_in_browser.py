"""The page in a real browser: it works, fits the screen, and makes no requests."""

import json

import pytest
from browser import Browser, chromium_path
from example_audit import classification
from example_edges import EXAMPLES
from page_outline import PageOutline

from surefoot.report.page.document import page_html

PHONE, SCREEN = 390, 1400
SHARE = "document.getElementById('share')"
OUTPUT = "document.getElementById('share-result').textContent"
pytestmark = pytest.mark.skipif(chromium_path() is None, reason="needs Chromium; on Debian: apt install chromium")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(chromium_path(), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    result = {}
    for name, make in EXAMPLES.items():
        result[name] = folder / f"{name}.html"
        result[name].write_text(page_html(make()), encoding="utf-8")
    return result


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_has_no_errors_and_makes_no_requests(browser, paths, name):
    for width in (PHONE, SCREEN):
        browser.open(paths[name], width=width)
        assert browser.run("document.documentElement.scrollWidth") <= width
        browser.run("document.querySelectorAll('details').forEach(part => part.open = true)")
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run("document.body.scrollWidth") <= width
        assert browser.problems == []
        assert browser.requests == [paths[name].as_uri()]


@pytest.mark.parametrize("name", EXAMPLES)
def test_chromium_and_python_read_the_same_elements(browser, paths, name):
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(paths[name])
        read = browser.run("[...document.querySelectorAll('*')].map(element => element.localName.toLowerCase())")
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)
    assert read == PageOutline(paths[name].read_text(encoding="utf-8")).tags


@pytest.mark.parametrize(
    "smuggled",
    [
        "<script>document.title = 'taken'</script>",
        "<img src='x' onerror=\"document.title = 'taken'\">",
        "<script src='http://localhost:9/x.js'></script>",
        "<img src='http://localhost:9/x.png'>",
        "<iframe src='http://localhost:9/'></iframe>",
        "<style>body { background: url(http://localhost:9/x.png) }</style>",
    ],
)
def test_the_content_security_policy_stops_injected_code(browser, paths, tmp_path, smuggled):
    path = tmp_path / "page.html"
    path.write_text(paths["bare"].read_text(encoding="utf-8").replace("<main>", f"<main>{smuggled}"), encoding="utf-8")
    browser.open(path)
    browser.run("new Promise(done => setTimeout(done, 50))")
    assert browser.run("document.title") == "Audit of y"
    assert any("Content Security Policy" in problem for problem in browser.problems)


def test_the_slider_moves_the_numbers(browser, paths):
    browser.open(paths["classification"])
    data = json.loads(browser.run("document.getElementById('share-data').textContent"))
    assert browser.run(f"getComputedStyle({SHARE}.parentNode).display") != "none"
    places = []
    browser.run(f"{SHARE}.focus()")
    for key, value in (("ArrowRight", 11), ("ArrowRight", 12), ("ArrowLeft", 11), ("End", 99), ("Home", 0)):
        browser.press(key)
        step = data["steps"][value]
        assert browser.run(f"{SHARE}.valueAsNumber") == value
        text = browser.run(OUTPUT)
        assert f"Reject the {step['share']} most uncertain rows, {step['rejected']} of 1,000" in text
        assert f"the other {step['kept']} have an error rate of {step['error']}{step['interval']}" in text
        assert text.strip().endswith(step["rule"] or ".")
        assert browser.run(f"{SHARE}.getAttribute('aria-valuetext')") == f"{step['share']} of the rows"
        places.append(browser.run("document.querySelector('.marker circle').getAttribute('cx')"))
    assert places[0] == places[2]
    assert len(set(places)) == 4
    assert float(places[4]) == pytest.approx(data["frame"]["left"])
    assert browser.run("getComputedStyle(document.querySelector('.marker')).display") != "none"


def test_subgroups_are_opened_and_sorted_by_keyboard(browser, paths):
    browser.open(paths["classification"], width=PHONE)
    details, head = "#subgroups details", "#subgroups thead th:nth-child(2) button"
    assert browser.run(f"document.querySelector('{details}').open") is False
    browser.run(f"document.querySelector('{details} summary').focus()")
    browser.press("Enter")
    assert browser.run(f"document.querySelector('{details}').open") is True
    assert browser.run("document.querySelector('#subgroups .scroll').getAttribute('tabindex')") == "0"
    browser.run(f"document.querySelector('{head}').focus()")
    browser.press("Enter")
    rows = "[...document.querySelectorAll('#subgroups tbody tr')].map(row => Number(row.cells[1].dataset.value))"
    assert browser.run(rows) == sorted(group.n_rows for group in classification().subgroups.groups)
    assert browser.run("document.documentElement.scrollWidth") <= PHONE
    title = browser.run("document.getElementById('chart-subgroups-title').textContent")
    assert title == "Error rate of subgroups, with corrected intervals"


def column(browser, place):
    rows = f"[...document.querySelectorAll('#accuracy tbody tr')].map(row => row.cells[{place}].dataset.value)"
    return browser.run(rows)


def test_tables_sort_by_click_and_by_key(browser, paths):
    head = "#accuracy thead th:nth-child({}) button"
    browser.open(paths["classification"])
    models = classification().accuracy.models
    browser.click(head.format(2))
    assert [float(value) for value in column(browser, 1)] == sorted(model.loss.value for model in models)
    assert browser.run("document.querySelector('#accuracy th:nth-child(2)').getAttribute('aria-sort')") == "ascending"
    browser.click(head.format(2))
    assert [float(value) for value in column(browser, 1)] == sorted((m.loss.value for m in models), reverse=True)
    assert browser.run("document.querySelector('#accuracy th:nth-child(2)').getAttribute('aria-sort')") == "descending"
    browser.run(f"document.querySelector('{head.format(4)}').focus()")
    known = sorted(model.auc.value for model in models if model.auc)
    for wanted in (known, known[::-1]):
        browser.press("Enter")
        assert [float(value) for value in column(browser, 3)[:-1]] == wanted
        assert column(browser, 3)[-1] == ""  # missing values stay last
    browser.run(f"document.querySelector('{head.format(1)}').focus()")
    browser.press("Enter")
    assert column(browser, 0) == sorted((model.name for model in models), key=str.lower)
    assert browser.run("document.querySelectorAll('#accuracy th[aria-sort]:not([aria-sort=none])').length") == 1
    assert browser.problems == []


def colours(browser):
    style = "getComputedStyle(document.{})"
    return (
        browser.run(style.format("body") + ".backgroundColor"),
        browser.run(style.format("body") + ".color"),
        browser.run(style.format("querySelector('.chart text')") + ".fill"),
        browser.run(style.format("querySelector('.marker circle')") + ".fill"),
    )


def test_dark_mode_is_dark_and_print_is_light(browser, paths):
    browser.open(paths["classification"])
    light = colours(browser)
    browser.open(paths["classification"], dark=True)
    dark = colours(browser)
    assert not set(light) & set(dark)
    assert sum(map(int, dark[0][4:-1].split(","))) < 150 < 600 < sum(map(int, light[0][4:-1].split(",")))
    browser.open(paths["classification"], dark=True, media="print")
    assert colours(browser) == light


def test_in_print_all_details_are_open_and_nothing_is_interactive(browser, paths):
    seen = "[...document.querySelectorAll('details')].map(part => part.lastElementChild.checkVisibility())"
    browser.open(paths["classification"])
    assert set(browser.run(seen)) == {True, False}
    folded = browser.run("document.querySelectorAll('details:not([open])').length")
    assert folded > 3
    browser.run("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.run("document.querySelectorAll('details:not([open])').length") == 0
    browser.run("window.dispatchEvent(new Event('afterprint'))")
    assert browser.run("document.querySelectorAll('details:not([open])').length") == folded
    assert browser.pdf().startswith(b"%PDF")
    browser.open(paths["classification"], media="print")
    assert set(browser.run(seen)) == {True}
    assert browser.run(f"getComputedStyle({SHARE}.parentNode).display") == "none"
    assert browser.problems == []


def test_the_page_works_without_javascript(browser, paths):
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(paths["classification"])
        assert browser.run(f"getComputedStyle({SHARE}.parentNode).display") == "none"
        assert browser.run("document.querySelectorAll('thead button').length") == 0
        assert "Reject the 10% most uncertain rows, 100 of 1,000" in browser.run(OUTPUT)
        assert browser.run("document.querySelectorAll('#uncertainty tbody tr').length") > 10
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)


def test_everything_can_be_reached_by_keyboard(browser, paths):
    browser.open(paths["classification"], width=PHONE)
    names = []
    for _ in range(200):
        browser.press("Tab")
        name = browser.run(
            "(e => e === document.body ? '' : e.className || e.id || e.localName)(document.activeElement)"
        )
        if not name or (name == "skip" and names):
            break
        names.append(name)
    assert names[0] == "skip"
    assert names.count("a") >= 4
    for wanted in ("share", "summary", "button", "scroll"):
        assert wanted in names
