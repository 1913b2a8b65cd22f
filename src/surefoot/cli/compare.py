"""``surefoot compare``: what changed between audits of one target."""

from pathlib import Path
from typing import Annotated

import typer

from surefoot._atomic_io import write_text
from surefoot.cli.console import exit_if_broken, fail, failures_in_one_line
from surefoot.cli.outputs import check_outputs, echo_beside
from surefoot.report.comparison.comparison import FIRST
from surefoot.report.comparison.comparison import compare as compare_audits
from surefoot.report.comparison.markdown import comparison_markdown
from surefoot.report.comparison.rules import check_comparison


def compare(
    audits: Annotated[list[Path], typer.Argument(help="Two or more files of surefoot audit --json, in order of time.")],
    against: Annotated[
        str, typer.Option(help="What each audit is compared with: the first one, or the previous one.")
    ] = FIRST,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("comparison.html"),
    markdown: Annotated[Path | None, typer.Option(help="Write what changed to this file, for a pull request.")] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with code 1 if something in the last audit is worse (worse), if a difference passes a limit "
            "('rmse.change>2'), or by a rule of surefoot audit --fail-on about the last audit. Can be repeated."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Compare audits of one target: their answers, and their numbers with intervals for the differences.

    Example: surefoot compare before.json after.json --fail-on worse
    """
    options = {"audits": "the files", "source": "a file", "against": "--against", "fail_on": "--fail-on"}
    with failures_in_one_line(options):
        if len(audits) < 2:
            fail("compare needs two files or more: name the JSON of an earlier audit, and of a later one.")
        inputs = {f"file {place}": path for place, path in enumerate(audits, 1)}
        check_outputs({"--output": output, "--markdown": markdown}, inputs)
        comparison = compare_audits(audits, against=against)
        results = check_comparison(comparison, fail_on or ())
        comparison.to_html(output)
        if markdown is not None:
            write_text(markdown, comparison_markdown(comparison, results))
    if not quiet:
        echo_beside(f"{comparison}\n\nThe page: {output}", output, markdown)
    exit_if_broken(results)
