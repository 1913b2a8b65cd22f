"""What an audit writes, and how it is read again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from surefoot._atomic_io import write_text

# Entries of the JSON besides the fields of an audit.
ADDED = ("format", "own_sections", "not_finite")


class AuditFiles:
    """The page and the other files of an audit."""

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the page: one self-contained file.

        Parameters
        ----------
        path : str or Path, default=None
            File to write the page to. If writing fails, no partial file is left.

        Returns
        -------
        str
            The HTML.
        """
        from surefoot.report.page.document import page_html

        return _written(page_html(self), path)

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

        return _written(json_of(self), path)

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


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_text(Path(path), text)
    return text
