"""The page in a notebook: a frame with a working script, as high as the page."""

import re
import sys
from html import unescape
from types import ModuleType

import pytest
from browser import Browser, chromium_path
from example_audit import classification
from example_edges import bare

from surefoot import compare
from surefoot.report.page.notebook import PageFrame

HEIGHT = "document.querySelector('iframe').getBoundingClientRect().height"
# Resolves once the height is as expected, or after ten seconds.
WAIT = """new Promise(done => {{
  var begun = Date.now();
  (function look() {{ {height} {sign} || Date.now() > begun + 10000 ? done() : setTimeout(look, 20) }})()
}})"""
needs_chromium = pytest.mark.skipif(chromium_path() is None, reason="needs Chromium; on Debian: apt install chromium")


def page_in(html):
    return unescape(re.search(r'srcdoc="([^"]*)"', html)[1])


def test_the_frame_has_the_whole_page_and_nothing_of_it_breaks_out():
    audit, hostile = bare(), PageFrame("\"></iframe><script>'{}'</script>", 'a "title"', 500)
    for page, frame in ((audit.to_html(), audit.show()), (hostile.page, hostile)):
        html = frame._repr_html_()
        assert page_in(html) == page
        assert re.findall(r"<(/?\w+)", html) == ["iframe", "/iframe", "script", "/script"]
        assert 'sandbox="allow-scripts"' in html
    comparison = compare([audit, audit])
    assert page_in(comparison.show(height=300)._repr_html_()) == comparison.to_html()
    assert "height: 300px" in comparison.show(height=300)._repr_html_()


def test_in_a_running_notebook_it_is_displayed(monkeypatch):
    shown = []
    ipython, displays = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython, displays.display = lambda: "a shell", shown.append
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    assert bare().show() is None
    assert page_in(shown[0]._repr_html_()) == bare().to_html()
    ipython.get_ipython = lambda: None
    assert "to_html" in repr(bare().show())


@needs_chromium
def test_the_frame_becomes_as_high_as_the_page(tmp_path):
    path = tmp_path / "notebook.html"
    head = '<!DOCTYPE html><meta name="viewport" content="width=device-width">'
    path.write_text(f"{head}<body>{classification().show()._repr_html_()}</body>", encoding="utf-8")
    browser = Browser(chromium_path(), tmp_path / "profile")
    try:
        heights = []
        for width in (1400, 390):
            browser.open(path, width=width)
            browser.run(WAIT.format(height=HEIGHT, sign="> 2000"))
            heights.append(browser.run(HEIGHT))
            assert browser.problems == []
            assert {each for each in browser.requests if "srcdoc" not in each} == {path.as_uri()}
        assert 2000 < heights[0] < heights[1]
        browser.resize(1400, 900)
        browser.run(WAIT.format(height=HEIGHT, sign=f"< {heights[1]}"))
        assert browser.run(HEIGHT) < heights[1]  # it shrinks again
    finally:
        browser.close()
