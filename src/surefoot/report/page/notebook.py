"""A page inside of a notebook: a frame that is as high as the page.

The frame is sandboxed: the page's script runs, but it reaches neither the notebook nor the network. It sends its height
as a message. Where the notebook runs no scripts of its own, the frame keeps its first height and scrolls.
"""

import secrets
import sys
from dataclasses import dataclass
from html import escape
from importlib import import_module

FRAME = """<iframe id="{key}" title="{title}" sandbox="allow-scripts" srcdoc="{page}"
 style="width: 100%; height: {height}px; border: 0" loading="eager"></iframe>
<script>
window.addEventListener("message", function (message) {{
  var frame = document.getElementById("{key}");
  var height = message.data && message.data.surefootHeight;
  if (frame && message.source === frame.contentWindow && height > 0 && height < 100000) {{
    frame.style.height = height + "px";
  }}
}});
</script>"""


@dataclass(frozen=True, repr=False)
class PageFrame:
    """A page that a notebook shows."""

    page: str
    title: str
    height: int  # in pixels, until the page has said how high it is

    def _repr_html_(self) -> str:
        key = f"surefoot-{secrets.token_hex(8)}"  # one page may be shown twice
        return FRAME.format(key=key, title=escape(self.title), page=escape(self.page), height=int(self.height))

    def __repr__(self) -> str:
        return f"{self.title}: shown in a notebook; to_html(path) writes it to a file."


def show_page(page: str, title: str, height: int) -> PageFrame | None:
    """Show a page in the notebook that is running; elsewhere, return the frame."""
    frame = PageFrame(page, title, height)
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        return frame
    import_module("IPython.display").display(frame)
    return None
