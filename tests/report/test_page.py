"""The page of an audit: well-formed, self-contained, safe with any names, and with correct numbers."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from example_audit import GUARANTEE, classification, regression
from example_edges import EXAMPLES, HOSTILE_NAMES, SCRIPT, bare, hostile
from page_outline import PageOutline
from scipy.stats import binomtest

from surefoot.report.page.chart_svg import usable
from surefoot.report.page.document import page_html
from surefoot.report.sections import QUESTIONS
from surefoot.report.sections.section import VerdictLine
from surefoot.report.sections.uncertainty.findings import Rejection
from surefoot.report.sections.uncertainty.page import rejection_steps

MAX_BYTES = 600_000


@pytest.fixture(scope="module")
def pages():
    return {name: page_html(make()) for name, make in EXAMPLES.items()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_is_well_formed(pages, name):
    outline = PageOutline(pages[name])
    assert outline.faults == []
    assert outline.tags[:2] == ["html", "head"]
    assert pages[name].startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ("<p><b>x</p></b>", "</p> closes"),
        ("<p>x", "p is never closed"),
        ('<p id="a"></p><p id="a"></p>', "twice"),
        ('<label for="b">x</label>', "no element has the id 'b'"),
        ('<a href="#c">x</a>', "no element has the id 'c'"),
        ('<svg role="img"><g></g></svg>', "begin with a title"),
        ("<svg><title>x</title></svg>", "neither an image nor hidden"),
        ("<th>x</th>", "scope"),
    ],
)
def test_the_check_of_pages_can_fail(html, fault):
    assert any(fault in result for result in PageOutline(html).faults)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_is_self_contained(pages, name):
    outline = PageOutline(pages[name])
    assert not {"link", "img", "iframe", "object", "embed", "video", "audio", "source", "base"} & set(outline.tags)
    assert not {"src", "srcset", "xlink:href", "background", "poster", "action"} & {
        result for _, result, _ in outline.attributes
    }
    assert all(value.startswith("#") for value in outline.values("href"))
    assert not any(result.startswith("on") for _, result, _ in outline.attributes)
    for text in (*outline.texts["style"], *outline.texts["script"], *outline.values("style")):
        assert "//" not in text.replace("  // ", "")  # comments of the script
        assert "@import" not in text
        assert "url(" not in text
    assert "http:" not in pages[name]
    assert "https:" not in pages[name]
    assert len(pages[name].encode()) < MAX_BYTES


@pytest.mark.parametrize("name", EXAMPLES)
def test_only_the_script_of_the_page_may_run(pages, name):
    policy = next(value for value in PageOutline(pages[name]).values("content") if "default-src" in value)
    script = re.findall(r"<script>(.*?)</script>", pages[name], re.DOTALL)
    assert len(script) == 1
    assert f"script-src 'sha256-{b64encode(sha256(script[0].encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "script-src 'unsafe-inline'" not in policy


def test_hostile_names_are_escaped(pages):
    plain, outline = PageOutline(pages["classification"]), PageOutline(pages["hostile"])
    assert set(outline.tags) <= set(plain.tags)
    assert outline.tags.count("script") == plain.tags.count("script")
    assert "<script>alert" not in pages["hostile"]
    for name in HOSTILE_NAMES[:9]:
        assert " ".join(usable(name).split()) in outline.text
    assert outline.text.count(SCRIPT) > 10
    assert "{{ 7 * 7 }}" in outline.text
    assert "long" * 40 in outline.text  # texts are shown in full
    assert "long" * 500 not in " ".join(outline.texts["bdi"][:3])
    assert "(no name)" in outline.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", pages["hostile"])
    assert "עמודה בעברית" in pages["hostile"]


def test_a_page_with_hostile_names_can_be_written(pages, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(pages["hostile"], encoding="utf-8")
    assert path.read_text(encoding="utf-8") == pages["hostile"]


def test_questions_that_were_left_out_are_listed(pages):
    text = PageOutline(pages["bare"]).text
    assert text.count("This question was left out of the audit") == 3
    for question in QUESTIONS:  # also without a line of the verdict
        assert text.count(question) == 2
    without = page_html(classification().but(uncertainty=None, stability=None, shift=None))
    assert without.count('<a href="#remarks">remarks</a> give the reason') == 3


def test_a_stable_set_of_one_choice(pages):
    assert "It contains 2 choices, between which the rows cannot decide" in PageOutline(pages["classification"]).text
    text = PageOutline(pages["empty_sections"]).text
    assert "It contains 1 choice." in text
    assert "cannot decide" not in text


def test_the_verdict_has_words_and_signs(pages):
    outline = PageOutline(pages["regression"])
    for word in ("Yes", "Partly", "Not known"):
        assert word in outline.texts["span"][0] or any(word in part for part in outline.texts["span"])
    for section in ("accuracy", "uncertainty", "stability", "shift"):
        assert f"#{section}" in outline.values("href")
    odd = classification().but(verdict=(VerdictLine("", "perhaps", "An answer that nobody knows."),))
    text = PageOutline(page_html(odd)).text
    assert "Not known" in text
    assert "Would the conclusion survive dropping a row?" in text


def test_numbers_of_classes(pages):
    text = PageOutline(pages["classification"]).text
    for part in (
        "19.0% to 29.0%",
        "held out once",
        "fingerprint of the table 0123456789abcdef",
        "Before you trust these numbers",
        "0.752 to 0.812",
        GUARANTEE,
        "for 0.4% of them (95% upper limit 1.1%) the set would share no choice with this one",
        "38 of 300",
        "The loss with 375 training rows is 1.8% above the loss with 750 (95% interval \u22121.1% to 4.7%).",
        "0.46 (95% interval 0.35 to 0.56)",
        "Dropping more than one row, without a guarantee",
        "surefoot audit credit.csv --target risk --new new.csv -o report.html",
        "2 min 27 s",
        "audited",
        "yours",
    ):
        assert part in text, part


def test_numbers_of_regression(pages):
    text = PageOutline(pages["regression"]).text
    for part in ("48.1 to 60.5", "50.5%", "Variance explained", "a standard deviation of", "It cannot be known"):
        assert part in text, part
    assert "error rate" not in text
    assert "as much information as 9 rows" in text


def test_without_deployment_data_the_page_asks_for_it():
    plain = classification()
    html = page_html(plain.but(shift=replace(plain.shift, where=None, columns=(), models=())))
    for way in ("--new", "--time", "X_new"):
        assert way in html


def test_the_slider_agrees_with_the_curve(pages):
    audit = classification()
    data = json.loads(re.search(r'id="share-data">(.*?)</script>', pages["classification"]).group(1))
    assert len(data["steps"]) == 100
    for share in (0, 10, 37, 99):
        step = data["steps"][share]
        kept = round((1 - share / 100) * audit.uncertainty.n_rows)
        error = audit.uncertainty.by_total.kept_error[share]
        assert step["x"] == pytest.approx(share / 100)
        assert step["y"] == pytest.approx(audit.uncertainty.by_total.error[share])
        assert step["share"] == f"{share}%"
        assert int(step["kept"].replace(",", "")) == kept == audit.uncertainty.n_rows - int(step["rejected"])
        assert step["error"] == f"{100 * error:.1f}%"
        interval = binomtest(round(error * kept), kept).proportion_ci(method="wilson")
        low, high = re.findall(r"[\d.]+(?=%)", step["interval"])[1:]
        assert float(low) == pytest.approx(100 * min(interval.low, error), abs=0.051)
        assert float(high) == pytest.approx(100 * max(interval.high, error), abs=0.051)
    assert data["steps"][0]["rule"] == ""
    assert "at least 0.615 nats" in data["steps"][10]["rule"]


def test_the_slider_uses_the_nearest_fraction():
    coarse = Rejection((0.0, 0.45, 1.0), (0.4, 0.1, 0.0), (0.4, 0.2, 0.0), (0.9, 0.5, 0.1), (0, 0, 0), (0, 0, 0), None)
    steps = rejection_steps(coarse, "error rate", 40, "nats")
    assert {step["share"] for step in steps} == {"0%", "45%"}
    assert steps[30]["kept"] == "22"
    assert rejection_steps(Rejection((), (), (), (), (), (), None), "RMSE", 40, "nats") == []


def test_the_marker_lies_on_the_curve(pages):
    for name, make in (("classification", classification), ("regression", regression)):
        data = json.loads(re.search(r'id="share-data">(.*?)</script>', pages[name]).group(1))
        frame, rejection = data["frame"], make().uncertainty.by_total
        chart = re.search(r'<svg[^>]*aria-labelledby="chart-rejection.*?</svg>', pages[name], re.DOTALL).group()
        drawn = re.search(r'd="(M[^"]*)" [^>]*style="[^"]*stroke: var\(--chart-0\)', chart).group(1)
        numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", drawn)]
        first, last = numbers[:2], numbers[-2:]
        height = frame["bottom"] - frame["top"]
        assert first[0] == pytest.approx(frame["left"], abs=0.02)
        assert first[1] == pytest.approx(frame["bottom"] - rejection.error[0] / frame["top_value"] * height, abs=0.02)
        assert last == pytest.approx([frame["right"], frame["bottom"]], abs=0.02)


def test_charts_follow_the_colours_of_the_page(pages):
    style = PageOutline(pages["classification"]).texts["style"][0]
    for name in ("classification", "regression", "hostile"):
        charts = re.findall(r'<svg[^>]*role="img".*?</svg>', pages[name], re.DOTALL)
        assert len(charts) == {"classification": 10, "regression": 4, "hostile": 10}[name]
        for chart in charts:
            assert not re.search(r"(fill|stroke): *(#|rgb|black|white)", chart)
            assert set(re.findall(r"var\((--[\w-]+)\)", chart)) <= set(re.findall(r"(--[\w-]+):", style))
            assert 'viewBox="0 0 400 ' in chart
            assert "<text" in chart
            assert "font-family" not in chart
            assert len(re.search(r"<desc[^>]*>(.*?)</desc>", chart).group(1)) > 40


def test_charts_have_descriptions_with_numbers(pages):
    descriptions = PageOutline(pages["classification"]).texts["desc"]
    assert any("gradient boosting: 24.0% (19.0% to 29.0%)" in text for text in descriptions)
    assert any("750 rows: 24.0%" in text for text in descriptions)
    assert any("10% rejected: 18.1% remaining (random order 21.6%, best 14.0%)" in text for text in descriptions)


def test_long_tables_are_cut_and_counted():
    plain = classification()
    columns = tuple(replace(plain.shift.columns[0], name=f"column {place}") for place in range(5000))
    html = page_html(plain.but(shift=replace(plain.shift, columns=columns)))
    assert "4,940 more columns are not shown here" in html
    assert len(html.encode()) < MAX_BYTES


def test_the_same_audit_gives_the_same_page(pages):
    assert page_html(hostile()) == pages["hostile"]
    assert page_html(bare()) == pages["bare"]


def luminance(colour):
    """Relative luminance by WCAG 2."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_contrast_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # a published example


def test_colours_have_enough_contrast_in_light_and_dark(pages):
    style = PageOutline(pages["bare"]).texts["style"][0]
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for paper in (colours["paper"], colours["raised"]):
            for name in ("ink", "muted", "accent", "yes", "partly", "no", "unknown"):
                assert contrast(colours[name], paper) >= 4.5, (name, paper)
            for place in range(6):
                assert contrast(colours[f"chart-{place}"], paper) >= 3, (place, paper)


def test_a_page_needs_no_data_frames(fresh_process):
    missing, here = ("pandas", "polars", "pyarrow", "matplotlib.pyplot"), str(Path(__file__).parent)
    script = (
        f"import sys; sys.modules.update(dict.fromkeys({missing!r})); sys.path.insert(0, {here!r})\n"
        "from example_audit import classification\n"
        "from surefoot.report.page.document import page_html\n"
        "print(len(page_html(classification())))"
    )
    run = fresh_process(script)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 10_000
