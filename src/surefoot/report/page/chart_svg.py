"""A figure as inline SVG: text stays text, colours follow the page, and ids are unique to the chart."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from surefoot.plots.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 400  # of a chart, in units of its viewBox: about the width of a phone, so that letters keep their size there
POINTS_PER_INCH = 72
MUTED, FAINT = "#737373", "#e6e6e6"
# The colours of the displays, and their variables in the style sheet, which has a dark and a light form of each.
VARIABLE_OF = {colour.lower(): f"var(--chart-{place})" for place, colour in enumerate(COLOURS[:6])}
VARIABLE_OF |= {"#000000": "var(--ink)", "#ffffff": "var(--paper)", MUTED: "var(--muted)", FAINT: "var(--faint)"}
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "surefoot",
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, and is wider than browser fonts: names do not overlap
    "font.size": 13,
    "axes.edgecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 13,
    "axes.titlelocation": "left",
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
# Control characters, marks that change the text direction, surrogates, and non-characters.
UNUSABLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
MANY_DIGITS = re.compile(r"(\d+\.\d\d)\d+")


@dataclass(frozen=True)
class Frame:
    """The data area of a chart in its viewBox: (0, 0) is at (left, bottom), (1, top_value) at (right, top)."""

    left: float
    right: float
    bottom: float
    top: float
    top_value: float


@contextmanager
def chart_style() -> Iterator[None]:
    """Draw in the page's style; warnings about missing letters are ignored, as the browser has other fonts."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def new_figure(height: float) -> "Figure":
    """An empty figure as wide as a phone's screen; one unit is one unit of the viewBox."""
    from matplotlib.figure import Figure

    size = (WIDTH / POINTS_PER_INCH, height / POINTS_PER_INCH)
    return Figure(figsize=size, dpi=POINTS_PER_INCH, layout="constrained")


def usable(text: str) -> str:
    """Text in which characters that HTML does not allow are replaced."""
    return UNUSABLE.sub("\ufffd", text)


def frame_of(ax: Any) -> Frame:
    """The positions of (0, 0) and (1, the top of the axis) on the chart; the layout is fixed from then on."""
    ax.figure.draw_without_rendering()
    ax.figure.set_layout_engine("none")
    height = ax.figure.get_figheight() * POINTS_PER_INCH
    top_value = float(ax.get_ylim()[1])
    left, bottom = ax.transData.transform((0.0, 0.0))
    right, top = ax.transData.transform((1.0, top_value))
    return Frame(float(left), float(right), float(height - bottom), float(height - top), top_value)


def inline_svg(figure: "Figure", key: str, title: str, description: str, *, marker: bool = False) -> Markup:
    """The figure as an ``<svg>`` element with a title and a description; ``key`` makes its ids unique.

    With ``marker``, a line and a dot are added, which the page's script moves.
    """
    written = StringIO()
    figure.savefig(written, format="svg")
    root = ElementTree.fromstring(written.getvalue())
    view_box = root.get("viewBox")
    _drop(root, {"metadata", "style"})
    known = _references(root)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = _attributes(element.attrib, key, known)
        element.text, element.tail = _unless_blank(element.text), _unless_blank(element.tail)
    labels = {"title": title, "desc": description}
    root.attrib = {
        "viewBox": view_box or "",
        "role": "img",
        "aria-labelledby": " ".join(f"{key}-{part}" for part in labels),
    }
    for place, (part, text) in enumerate(labels.items()):
        label = ElementTree.Element(part, {"id": f"{key}-{part}"})
        label.text = usable(text)
        root.insert(place, label)
    if marker:
        moved = ElementTree.SubElement(root, "g", {"class": "marker"})
        ElementTree.SubElement(moved, "line", {"x1": "0", "x2": "0"})
        ElementTree.SubElement(moved, "circle", {"r": "6"})
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _unless_blank(text: str | None) -> str | None:
    return text if text and text.strip() else None


def _drop(element: ElementTree.Element, tags: set[str]) -> None:
    for child in list(element):
        if _local(child.tag) in tags:
            element.remove(child)
        else:
            _drop(child, tags)


def _references(root: ElementTree.Element) -> set[str]:
    """The ids that other elements refer to."""
    ids = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            if _local(name) == "href":
                ids.add(value.removeprefix("#"))
            ids.update(re.findall(r"url\(#([^)]+)\)", value))
    return ids


def _attributes(attributes: dict[str, str], key: str, known: set[str]) -> dict[str, str]:
    """The attributes that the page needs, with unique ids and colours by name."""
    kept = {}
    for full_name, value in attributes.items():
        name = _local(full_name)
        if name == "id":
            if value in known:
                kept["id"] = f"{key}-{value}"
        elif name == "href":
            kept["href"] = f"#{key}-{value.removeprefix('#')}"
        elif name == "style":
            kept["style"] = _declarations(value)
        elif name in ("d", "x", "y", "transform", "width", "height"):
            kept[name] = MANY_DIGITS.sub(r"\1", " ".join(value.split()))
        else:
            kept[name] = value.replace("url(#", f"url(#{key}-")
    return {name: value for name, value in kept.items() if value}


def _declarations(style: str) -> str:
    """Declarations without the font's name, so that the page's font is used, and with the colours of the page."""
    kept = []
    for declaration in filter(None, (part.strip() for part in style.split(";"))):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font":
            size = re.search(r"[\d.]+px", value)
            kept += [f"font-size: {size.group()}"] if size else []
            kept += ["font-weight: 700"] if re.search(r"\b(bold|[6-9]00)\b", value) else []
        elif name not in ("font-family", "stroke-miterlimit"):
            kept.append(f"{name}: {VARIABLE_OF.get(value.lower(), value)}")
    return "; ".join(kept)
