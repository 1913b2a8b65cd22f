"""What has a page: it is written to a file, or shown in a notebook."""

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot._atomic_io import write_text

if TYPE_CHECKING:
    from surefoot.report.page.notebook import PageFrame


class HasPage:
    """Something with a page of its own."""

    @abstractmethod
    def _html(self) -> str:
        """The page."""

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
        return written(self._html(), path)

    def show(self, height: int = 800) -> "PageFrame | None":
        """Show the whole page in a notebook.

        Parameters
        ----------
        height : int, default=800
            Height in pixels, until the page has been drawn; then the frame is as high as the page.

        Returns
        -------
        PageFrame or None
            None if the page is shown. Where no notebook is running, an object that a notebook can show.
        """
        from surefoot.report.page.notebook import show_page

        return show_page(self._html(), "surefoot", height)


def written(text: str, path: str | Path | None) -> str:
    """The text, after writing it to the path, if there is one."""
    if path is not None:
        write_text(Path(path), text)
    return text
