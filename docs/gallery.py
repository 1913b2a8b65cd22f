"""Draws the pictures of gallery.md into docs/images/gallery: ``python docs/gallery.py``."""

import io
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
MAX_BYTES = 25_000
STYLE = {
    "svg.hashsalt": "surefoot",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "path.simplify_threshold": 1.0,
}


def smaller(svg: str) -> str:
    """Coordinates in tenths of a point, more is not visible; and no indentation."""
    tenths = re.sub(r'="[^"]*"', lambda value: re.sub(r"(\d\.\d)\d+", r"\1", value[0]), svg)
    return re.sub(r"\s*\n\s*", "\n", tenths)


def pictures() -> list[str]:
    """Run the snippets of the page; a snippet draws the picture that is named below it."""
    text = (HERE / "gallery.md").read_text(encoding="utf-8")
    parts = re.findall(r"```python\n(.*?)```|!\[.*?\]\(images/gallery/([\w-]+)\.svg\)", text, flags=re.DOTALL)
    names, drawn = {}, []
    for snippet, name in parts:
        if snippet:
            exec(compile(snippet, "gallery.md", "exec"), names)
            continue
        path = HERE / "images" / "gallery" / f"{name}.svg"
        drawing = io.StringIO()
        plt.gcf().savefig(drawing, format="svg", metadata={"Date": None})
        plt.close("all")
        path.write_text(smaller(drawing.getvalue()), encoding="utf-8")
        drawn.append(f"{path.name}: {path.stat().st_size:,} bytes")
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"{drawn[-1]}; at most {MAX_BYTES:,} are allowed.")
    return drawn


if __name__ == "__main__":
    (HERE / "images" / "gallery").mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        print(*pictures(), sep="\n")
