"""What an audit writes, and how it is read again."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from surefoot.report.files.page_file import HasPage, written

if TYPE_CHECKING:
    from surefoot.report.fail_rules import RuleResult
    from surefoot.report.sections.main_numbers import MainNumber

# Entries of the JSON besides the fields of an audit.
ADDED = ("format", "own_sections", "not_finite")


class AuditFiles(HasPage):
    """The page and the other files of an audit."""

    def _html(self) -> str:
        from surefoot.report.page.document import page_html

        return page_html(self)

    def main_numbers(self) -> "dict[str, MainNumber]":
        """Return the numbers that rules and comparisons know by name.

        Returns
        -------
        dict of str to MainNumber
            Each has a ``label`` and an ``estimate``, which is None if it was not measured.
        """
        from surefoot.report.sections.main_numbers import main_numbers

        return main_numbers(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return all numbers as JSON; numbers that are not finite are null, and listed in ``not_finite``.

        Parameters
        ----------
        path : str or Path, default=None
            File to write the JSON to. If writing fails, no partial file is left.

        Returns
        -------
        str
            The JSON. The findings of your own sections are stored under their names.
        """
        from surefoot.report.files.audit_json import json_of

        return written(json_of(self), path)

    @classmethod
    def from_json(cls, source: str | Path, *, sections: Sequence[Any] = ()) -> Self:
        """Read the audit that `to_json` wrote; a later format, other JSON and a damaged file are refused.

        Parameters
        ----------
        source : str or Path
            The file, or its text.
        sections : sequence of Section, default=()
            Your own sections that the audit was made with, for their parts of the page. Their findings are dicts.
            Without them, the page says where their numbers are.

        Returns
        -------
        Audit
            Its records, answers, page and JSON are those of the audit that was stored.
        """
        from surefoot.report.files.audit_json import audit_of

        return audit_of(cls, source, sections)

    def check_rules(self, fail_on: str | Sequence[str]) -> "tuple[RuleResult, ...]":
        """Check rules about answers and numbers, as ``surefoot audit --fail-on`` does.

        Parameters
        ----------
        fail_on : str or sequence of str
            Rules, separated by commas: "shift", "any=partly", "rmse>60", "coverage.low<0.85", "subject.n_rows<1000".

        Returns
        -------
        tuple of RuleResult
            For each rule ``rule``, ``is_broken`` and ``reason``. A number that was not measured breaks its rule.
        """
        from surefoot.report.fail_rules import apply_rules, read_rules

        return apply_rules(read_rules(fail_on, self.sections), self)  # type: ignore[attr-defined]

    def to_markdown(self, path: str | Path | None = None, *, fail_on: str | Sequence[str] = ()) -> str:
        """Return the verdict, the main numbers and the command as Markdown, for a comment on a pull request.

        Parameters
        ----------
        path : str or Path, default=None
            File to write the Markdown to. If writing fails, no partial file is left.
        fail_on : str or sequence of str, default=()
            Rules as in `check_rules`; those that are broken are listed.

        Returns
        -------
        str
            The Markdown, of at most 60,000 characters. Names in it cannot become links, mentions or HTML.
        """
        from surefoot.report.files.markdown import audit_markdown

        return written(audit_markdown(self, self.check_rules(fail_on)), path)

    def to_junit(self, path: str | Path | None = None, *, fail_on: str | Sequence[str] = ()) -> str:
        """Return a JUnit report: a test case for each question and each rule.

        Parameters
        ----------
        path : str or Path, default=None
            File to write the report to. If writing fails, no partial file is left.
        fail_on : str or sequence of str, default=()
            Rules as in `check_rules`.

        Returns
        -------
        str
            The XML. A question passes with "yes" and fails with "no"; with another answer it is skipped.
        """
        from surefoot.report.files.junit import audit_junit

        return written(audit_junit(self, self.check_rules(fail_on)), path)
