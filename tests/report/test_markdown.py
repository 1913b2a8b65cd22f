"""The Markdown of an audit: short, complete, and no place for names to break out of."""

import re
from html import unescape

import pytest
from example_audit import classification, regression
from example_edges import EXAMPLES, HOSTILE_NAMES, hostile
from markdown_it import MarkdownIt

from surefoot.report.files.markdown import MAX_LENGTH
from surefoot.report.files.markdown_text import block_of, code_of, text_of
from surefoot.report.page.chart_svg import usable
from surefoot.report.sections.section import VerdictLine

JOINER = "\N{WORD JOINER}"
TAG = re.compile(r"<(/?)(\w+)")
# What GitHub or GitLab would make a link or a mention of, outside of code.
LINKS = re.compile(r"@\w|#\d|!\d|&\d|~\w|https?://|www\.|\bGH-\d", re.IGNORECASE)


def without_code(text):
    return re.sub(r"(?s)(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)", "", text)


def shown_in_a_table(text):
    """What another reader of Markdown shows of the only cell of a table; links and pictures are refused."""
    table = f"| head |\n| --- |\n| {text} |\n"
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(table)
    assert not re.search(r"<(?!/?(?:table|thead|tbody|tr|th|td|code)\b)", html), html
    (cell,) = re.findall(r"<td>(?:<code>)?(.*?)(?:</code>)?</td>", html)
    return unescape(cell).strip()


def cells(line):
    return re.split(r"(?<!\\)\|", line)


@pytest.mark.parametrize("name", EXAMPLES)
def test_tables_stay_whole_and_only_details_are_html(name):
    text = EXAMPLES[name]().to_markdown()
    assert len(text) <= MAX_LENGTH
    heads = [line for line in text.splitlines() if line.startswith("| ---")]
    assert heads
    widths = {len(cells(line)) for line in text.splitlines() if line.startswith("|")}
    assert widths <= {5, 6}  # three or four columns
    assert {tag for _, tag in TAG.findall(without_code(text))} <= {"details", "summary"}


def test_it_has_the_answers_the_numbers_the_rules_and_the_command(tmp_path):
    audit = classification()
    text = audit.to_markdown(tmp_path / "audit.md", fail_on="shift, error_rate>0.2, auc>0.99")
    assert (tmp_path / "audit.md").read_text(encoding="utf-8") == text
    assert text.startswith("### Audit of ` risk `\n")
    for line in audit.verdict[1:]:
        assert line.question in text
    assert "| \u274c **No** |" in text
    assert "**2 of 3 rules are broken:**" in text
    assert "- \u274c ` error_rate>0.2 `: error\\_rate&gt;0.2: error\\_rate is 0.24 (95% interval 0.19 to 0.29)" in text
    assert "| ` auc ` | AUC | 0.782 | 0.752 to 0.812 |" in text
    assert "| ` error_rate ` | error rate | 24.0% | 19.0% to 29.0% |" in text
    assert audit.command in text
    assert "surefoot ` 0.1.0 `" in text
    assert "The order of the rows matters" in text
    assert "All rules are kept (1)." in audit.to_markdown(fail_on="uncertainty")
    assert "rules" not in regression().to_markdown()


@pytest.mark.parametrize(
    "name",
    [
        *HOSTILE_NAMES,
        "@everyone",
        "mail a@example.org",
        "see #12, !7 and GH-3",
        "[a link](http://example.org)",
        "![picture](https://example.org/x.png)",
        "www.example.org and http://example.org",
        "a | b \\| c",
        "`code` ``more`",
        "<!-- hidden",
        "</details>",
        "*bold* _thin_ ~~gone~~ $x$",
        "&lt;b&gt; &amp;",
    ],
)
def test_a_name_is_only_text(name):
    for text in (text_of(name, 2000), code_of(name)):
        assert "\n" not in text
        assert len(cells(f"| {text} |")) == 3
    text = text_of(name, 2000)
    assert not re.search(r"[<>]", text)
    assert not LINKS.search(text.replace("&lt;", "").replace("&gt;", "").replace("&amp;", "").replace("\\", ""))
    expected = re.sub(r"\s+", " ", usable(name)).strip()
    if len(name) < 100:
        assert shown_in_a_table(text).replace(JOINER, "") == expected
        assert shown_in_a_table(code_of(name)) == expected


def test_code_cannot_be_closed_from_inside():
    assert code_of("a `b` ``c") == "``` a `b` ``c ```"
    assert block_of("x\n```\n@all\n````", 2000) == "`````\nx\n```\n@all\n````\n`````"
    assert code_of("") == ""


def test_very_many_long_texts_still_fit():
    plain = hostile()
    long = "a <long> | text with @names " * 400
    audit = plain.but(verdict=(plain.verdict[0], *(VerdictLine(long, "no", long) for _ in range(50))), command=long)
    text = audit.to_markdown(fail_on=[f"rmse>{limit}" for limit in range(300)])
    assert len(text) <= MAX_LENGTH
    assert "**300 of 300 rules are broken:**" in text
